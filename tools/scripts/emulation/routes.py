"""Forwarding tables: the routes of the simulator, hop by hop."""

from .refusal import Refusal


def forwarding(fabric):
    """Vertex -> {destination: link}, so that every packet goes the way that the simulator's route names.

    Raises Refusal where two routes to one destination part at a vertex: a namespace forwards by destination only.
    """
    tables = {vertex: {} for vertex in range(len(fabric.vertices))}
    for (source, destination), route in fabric.routes.items():
        if not route:
            raise Refusal(f"there is no route from {fabric.name(source)} to {fabric.name(destination)}")
        for number in route:
            link = fabric.links[number]
            known = tables[link.source].setdefault(destination, link)
            if known != link:
                raise Refusal(f"at {fabric.name(link.source)} routes to {fabric.name(destination)} part, towards "
                              f"{fabric.name(known.target)} and {fabric.name(link.target)}: a namespace forwards by "
                              "destination only")
    return tables


def walk(tables, source, destination):
    """The links that a packet takes by these tables."""
    links, vertex = [], source
    while vertex != destination and len(links) <= len(tables):
        link = tables[vertex][destination]
        links.append(link)
        vertex = link.target
    return links
