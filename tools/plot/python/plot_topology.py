#!/usr/bin/env python3
"""Draws a fabric, as `athanor describe --fabric` writes it.

    plot_topology.py FABRIC.json --output PICTURE.svg|.png|.pdf

A square for each switch, a circle for each host or node, a line for each cable. Where FABRIC says how busy each link was
("use"), links have colours that say so. Prints the picture's path. Exit
status: 0, 2 for a wrong command line, 4 for a file that cannot be read, drawn or written.
"""

import collections
import math
import sys
import textwrap

import interpreter

interpreter.require_module("matplotlib")

import matplotlib  # noqa: E402  (only now is it known to be there)

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.patches import FancyArrowPatch  # noqa: E402

import axes  # noqa: E402
import node_inside  # noqa: E402
import pictures  # noqa: E402
import topology  # noqa: E402
import topology_use  # noqa: E402

TO_HOST = "#AAAAAA"
GLOBAL = axes.PALETTE[1]
BOXES = ("grid", "box")
MOST_LABELS = 130


class Cable:
    """One line of the picture."""

    def __init__(self, ends, colour, count, bend=0.0, faint=False):
        self.ends, self.colour, self.count, self.bend, self.faint = ends, colour, count, bend, faint

    def width(self):
        return min(0.9 + 0.8 * (self.count - 1), 3.5)


def group_of(drawing, number):
    """Of a switch among groups of one tier or of two."""
    if len(drawing.sizes) == 2:
        return number // drawing.sizes[1]
    groups, leaves, spines = drawing.sizes
    return number // leaves if number < groups * leaves else (number - groups * leaves) // spines


def box_cable(drawing, ends, numbers, count):
    along, near = topology.dimension_of(drawing, *ends, numbers)
    colour = axes.PALETTE[along % len(axes.PALETTE)]
    if near or topology.is_ring(drawing):
        return Cable(ends, colour, count)
    return Cable(ends, colour, count, bend=0.28, faint=drawing.layout == "grid")


def switch_cable(drawing, ends, numbers, count):
    """The look of a cable between switches (or positions)."""
    if drawing.layout in BOXES:
        return box_cable(drawing, ends, numbers, count)
    one, other = (numbers[device] for device in ends)
    if drawing.layout == "groups":
        crosses = group_of(drawing, one) != group_of(drawing, other)
        return Cable(ends, GLOBAL if crosses else axes.PALETTE[0], count)
    if drawing.layout == "sheets":
        *_, columns, rows = drawing.sizes
        if one // (columns * rows) != other // (columns * rows):
            return Cable(ends, axes.PALETTE[one // rows % columns % len(axes.PALETTE)], count, faint=True)
        beside = math.dist(*(drawing.places[end] for end in ends)) < 1.5
        return Cable(ends, "#333333", count, bend=0.0 if beside else 0.35)
    return Cable(ends, axes.PALETTE[0], count)


def line_colour(drawing, switch):
    """Of cables to a switch at the end of a row, or of a column."""
    rightmost = max(drawing.places[device][0] for device in topology.laid_out(drawing))
    return axes.PALETTE[0 if drawing.places[switch][0] > rightmost else 1]


def cables_of(drawing):
    if drawing.layout == "layers":
        endpoints = set(drawing.endpoints)
        return [Cable(ends, TO_HOST if endpoints.intersection(ends) else axes.PALETTE[0], count)
                for ends, count in drawing.cables.items()]
    numbers = {device: number for number, device in enumerate(topology.laid_out(drawing))}
    beside = set(drawing.switches).difference(numbers)
    found = []
    for ends, count in drawing.cables.items():
        if all(end in numbers for end in ends):
            found.append(switch_cable(drawing, ends, numbers, count))
        elif beside.intersection(ends):
            found.append(Cable(ends, line_colour(drawing, beside.intersection(ends).pop()), count, faint=True))
        else:
            found.append(Cable(ends, TO_HOST, count))
    return found


def draw_cables(panel, drawing, cables):
    straight = [cable for cable in cables if not cable.bend]
    for faint in (True, False):
        chosen = [cable for cable in straight if cable.faint == faint]
        panel.add_collection(LineCollection([[drawing.places[end] for end in cable.ends] for cable in chosen],
                                            colors=[cable.colour for cable in chosen], zorder=1,
                                            linewidths=[cable.width() for cable in chosen],
                                            alpha=0.45 if faint else 0.9))
    for cable in cables:
        if cable.bend:
            panel.add_patch(FancyArrowPatch(*(drawing.places[end] for end in cable.ends), arrowstyle="-",
                                            connectionstyle=f"arc3,rad={cable.bend}", color=cable.colour,
                                            linewidth=cable.width(), alpha=0.55 if cable.faint else 0.9, zorder=1))


def draw_devices(panel, drawing, inside=None):
    """`inside`: colours of devices whose inside is not drawn."""
    if within_node(drawing):
        node_inside.draw_devices(panel, drawing)
        return
    switches, endpoints = drawing.switches, drawing.endpoints
    forward = not switches  # endpoints that pass traffic on are as large as switches
    for devices, marker, size in ((switches, "s", 150), (endpoints, "o", 150 if forward else 34)):
        if devices:
            edge = "#222222" if devices is switches or forward else "#777777"
            faces = [(inside or {}).get(device, "white") for device in devices]
            panel.scatter(*zip(*(drawing.places[device] for device in devices)), s=size, marker=marker, facecolors=faces,
                          edgecolors=edge, linewidths=1.0, zorder=3)
    labelled = switches if switches else endpoints
    if len(labelled) > MOST_LABELS:
        return
    for number, device in enumerate(labelled):
        x, y = drawing.places[device]
        panel.text(x, y, label(drawing, device, number), fontsize=6.5, ha="center", va="center_baseline", zorder=4)


def within_node(drawing):
    return any("/" in device for device in drawing.devices)


def label(drawing, device, number):
    """The device's own number."""
    digits = "".join(character for character in device if character.isdigit())
    if not digits:
        return device
    return digits if drawing.switches or drawing.layout == "layers" else str(number)


def counted(number, thing):
    many = f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def explanation(drawing):
    if within_node(drawing):
        return f"{node_inside.counted(drawing.devices)}."
    hosts = collections.Counter("node" if device.startswith("node") else drawing.kinds[device]
                                for device in drawing.endpoints)
    words = [counted(count, kind) for kind, count in hosts.items()]
    # Endpoints that a layout has places for forward, and cables between them count as those between switches do.
    hosts_apart = drawing.switches and (drawing.layout == "layers" or topology.laid_out(drawing)[0] in drawing.switches)
    numbers = set(drawing.switches if hosts_apart else drawing.devices)
    inner = sum(count for ends, count in drawing.cables.items() if all(end in numbers for end in ends))
    if drawing.switches:
        words.append(counted(len(drawing.switches), "switch"))
    words.append(counted(inner, "cable") + (" between switches" if hosts_apart else ""))
    text = ", ".join(words) + "."
    if any(count > 1 for count in drawing.cables.values()):
        text += " Thick lines: several cables side by side."
    return text


def legend(panel, drawing):
    lines = []
    if drawing.layout in BOXES and len(drawing.sizes) > 1:
        lines = [(axes.PALETTE[d % len(axes.PALETTE)], f"dimension {d}") for d in range(len(drawing.sizes))]
    elif drawing.layout == "groups":
        lines = [(axes.PALETTE[0], "within a group"), (GLOBAL, "between groups")]
    elif drawing.layout == "sheets" and set(drawing.switches).difference(topology.laid_out(drawing)):
        lines = [("#333333", "within a sheet"), (axes.PALETTE[0], "along a row"), (axes.PALETTE[1], "along a column")]
    elif drawing.layout == "sheets":
        lines = [("#333333", "within a column"), (axes.PALETTE[0], "between the sheets, by column")]
    if lines:
        panel.legend([Line2D([], [], color=colour, linewidth=1.6) for colour, _ in lines], [text for _, text in lines],
                     loc="upper center", bbox_to_anchor=(0.5, -0.01), ncol=len(lines), frameon=False, fontsize=8.5)


def capital(text):
    return text[:1].upper() + text[1:]


def write_title(figure, description, explained):
    width, height = figure.get_size_inches()
    title = textwrap.wrap(capital(description), int(9.5 * width))
    figure.text(0.1 / width, 1 - 0.08 / height, "\n".join(title), ha="left", va="top", fontsize=12, fontweight="bold")
    figure.text(0.1 / width, 1 - (0.14 + 0.22 * len(title)) / height,
                "\n".join(textwrap.wrap(explained, int(15 * width))), ha="left", va="top", fontsize=8.5, color="#444444")


def highest_point(drawing, cable):
    """Of a bent cable, where it is farthest from the straight line between its ends."""
    (x0, y0), (x1, y1) = (drawing.places[end] for end in cable.ends)
    return (x0 + x1) / 2 + cable.bend * (y1 - y0) / 2, (y0 + y1) / 2 - cable.bend * (x1 - x0) / 2


def figure_for(drawing, cables, room_below):
    """(figure, panel, inches for each unit of the places), as large as its content needs."""
    drawn = list(drawing.places.values()) + [highest_point(drawing, cable) for cable in cables if cable.bend]
    xs, ys = zip(*drawn)
    span_x, span_y = max(max(xs) - min(xs), 1.0), max(max(ys) - min(ys), 0.6)
    scale = min(0.82, 11 / span_x, 9 / span_y)
    width, height = max(5.2, span_x * scale + 1.2), span_y * scale + 1.65 + room_below
    figure, panel = pyplot.subplots(figsize=(width, height))
    figure.subplots_adjust(left=0.02, right=0.98, top=1 - 0.85 / height, bottom=room_below / height)
    margin = 0.5
    panel.set_xlim(min(xs) - margin, max(xs) + margin)
    panel.set_ylim(min(ys) - margin, max(ys) + margin)
    panel.set_aspect("equal")
    panel.axis("off")
    return figure, panel, scale


def figure_of_use(document, drawing):
    cables = cables_of(drawing)
    use = topology_use.Use(document, drawing)
    figure, panel, scale = figure_for(drawing, cables, 0.75)
    topology_use.draw_cables(panel, drawing, cables, use, scale)
    draw_devices(panel, drawing, {device: use.colour(share) for device, share in use.inside.items() if share > 0})
    topology_use.colour_bar(figure, use)
    write_title(figure, use.what, f"{capital(document['description'])}. {topology_use.explanation(use, cables, drawing)}")
    return figure


def figure_of(document, drawing):
    if "use" in document:
        return figure_of_use(document, drawing)
    cables = cables_of(drawing)
    figure, panel, _ = figure_for(drawing, cables, 0.45)
    draw_cables(panel, drawing, cables)
    draw_devices(panel, drawing)
    legend(panel, drawing)
    write_title(figure, document["description"], explanation(drawing))
    return figure


if __name__ == "__main__":
    sys.exit(pictures.draw_file("Draws a fabric.", "fabric", "the JSON of `athanor describe --fabric`",
                                lambda path: figure_of(*topology.load(path))))
