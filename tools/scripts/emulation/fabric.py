"""The fabric that `athanor describe --fabric` writes, and what of it this machine can be made to look like."""

import dataclasses

from .refusal import Refusal

HOSTS = {"host"}
SWITCHES = {"leaf", "spine", "core", "router", "custom"}
# What a packet of a namespace needs for a hop is of this order; a longer link would need a delay of its own.
LONGEST_LATENCY_US = 200
# Forwarding costs processor time by the frame, and the ranks poll on the same processors. Eight hosts of 50 Mb/s on two
# processors keep within some per cent of their rate, at 100 Mb/s they lose a tenth.
BITS_PER_PROCESSOR = 0.25e9
MOST_HOSTS = 64


@dataclasses.dataclass(frozen=True)
class Link:
    """One direction of a cable; `number` is its place in the fabric's list. Rates are line rates in bit/s."""
    number: int
    source: int
    target: int
    rate: int
    latency_us: float


@dataclasses.dataclass(frozen=True)
class Fabric:
    """Vertices are (name, kind). `endpoints` are vertices in the order of ranks. Routes: (from, to) -> link numbers."""
    description: str
    vertices: tuple
    links: tuple
    endpoints: tuple
    routes: dict

    def name(self, vertex):
        return self.vertices[vertex][0]

    def host_rate(self):
        """Bits a second that the fastest link of a host carries."""
        return max(link.rate for link in self.links if link.source in self.endpoints)


def read_fabric(document):
    """From the JSON that athanor writes. Raises Refusal where namespaces cannot stand for it."""
    vertices = tuple((each["name"], each["kind"]) for each in document["vertices"])
    _check_kinds(vertices, document["links"])
    links = tuple(Link(number, each["from"], each["to"], 8 * each["rate_bytes_per_s"], each["latency_ps"] / 1e6)
                  for number, each in enumerate(document["links"]))
    _check_size(len(document["endpoints"]))
    _check_latencies(vertices, links)
    routes = {}
    for route in document["routes"]:
        if route["by_flow"]:
            raise Refusal(f"routing sends flows from {vertices[route['from']][0]} to {vertices[route['to']][0]} over "
                          "different ways, and a namespace forwards by destination only; choose the routing d_mod_k, or "
                          "a fabric with one shortest way")
        routes[route["from"], route["to"]] = tuple(route["links"])
    return Fabric(document["description"], vertices, links, tuple(document["endpoints"]), routes)


def _check_kinds(vertices, links):
    for name, kind in vertices:
        if kind not in HOSTS | SWITCHES:
            raise Refusal(f"{name} is a {kind}: a namespace stands for a host or a switch, not for what is inside a "
                          "node; take hosts on the fabric, that is a cluster without \"node\"")
    for link in links:
        if link["kind"] != "network":
            ends = " -> ".join(vertices[link[end]][0] for end in ("from", "to"))
            raise Refusal(f"{ends} is a link of kind {link['kind']}: only network links can be built")


def _check_size(hosts):
    if hosts < 2:
        raise Refusal("one host alone has nothing to send to: a testbed needs at least 2 hosts")
    if hosts > MOST_HOSTS:
        raise Refusal(f"{hosts} hosts: at most {MOST_HOSTS} fit on one machine")


def _check_latencies(vertices, links):
    for link in links:
        if link.latency_us > LONGEST_LATENCY_US:
            raise Refusal(f"{vertices[link.source][0]} -> {vertices[link.target][0]} has a latency of "
                          f"{link.latency_us:g} us: the testbed adds no delay to what namespaces need by themselves, "
                          f"so a link may have at most {LONGEST_LATENCY_US} us")


def check_load(fabric, processors):
    """Raises Refusal where this machine would measure itself rather than the fabric."""
    rate, hosts = fabric.host_rate(), len(fabric.endpoints)
    most = processors * BITS_PER_PROCESSOR
    if rate * hosts > most:
        raise Refusal(f"{hosts} hosts x {rate / 1e6:g} Mb/s are {rate * hosts / 1e9:.3g} Gb/s, and {processors} "
                      f"processors forward {most / 1e9:.3g} Gb/s at most; lower the links to "
                      f"{most / hosts / 1e6:.3g} Mb/s or take fewer hosts")


def cables(fabric):
    """(link, its opposite) for each cable. Raises Refusal for a link without a way back."""
    waiting, found = {}, []
    for link in fabric.links:
        opposite = waiting.get((link.target, link.source))
        if opposite:
            found.append((opposite.pop(0), link))
        else:
            waiting.setdefault((link.source, link.target), []).append(link)
    for (source, target), links in waiting.items():
        if links:
            raise Refusal(f"{fabric.name(source)} -> {fabric.name(target)} has no way back: a cable carries both "
                          "directions")
    return found
