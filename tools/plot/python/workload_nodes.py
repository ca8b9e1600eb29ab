"""Which job was on which nodes when: bars where they are few, else a picture in which small ones blend into each other."""

import numpy
from matplotlib.collections import PolyCollection

import workload_colours as colouring

MOST_BARS = 1500
ROWS, COLUMNS = 256, 900  # of a picture, at most
MOST_LINES = 48  # between domains


def draw(area, run, classes):
    length, _ = run.unit()
    if bars_of(run) <= MOST_BARS:
        draw_bars(area, run, classes, length)
    else:
        image = blended(run, classes)
        area.imshow(image, extent=(0, run.ended / length, len(run.node_gpus), 0), aspect="auto", interpolation="nearest")
    area.set(ylim=(max(1, len(run.node_gpus)), 0), xlim=(0, run.ended / length), ylabel="Node")
    area.yaxis.get_major_locator().set_params(integer=True)
    area.grid(visible=False)
    draw_domains(area, run)


def draw_domains(area, run):
    """Lines between nodes that are not below one switch."""
    edges = [node for node in range(1, len(run.domains)) if run.domains[node] != run.domains[node - 1]]
    if edges and len(edges) < MOST_LINES:
        area.hlines(edges, *area.get_xlim(), color="#444444", linewidth=0.5, zorder=3)
        area.set_ylabel(f"Node (lines: {run.tier})")


def bars_of(run):
    """Nodes that are taken whole by one job, beside each other, are one bar."""
    return len(run.outages) + sum(1 if gpus >= run.node_gpus[first] else last - first + 1
                                  for stint in run.stints for first, last, gpus in stint.places)


def draw_bars(area, run, classes, length):
    by_class, filled = {}, {}
    for stint in sorted(run.stints, key=lambda stint: (stint.since, stint.job)):
        into = by_class.setdefault(classes.of_job[stint.job] if classes.word else stint.job % colouring.MOST, [])
        for first, last, gpus in stint.places:
            if gpus >= run.node_gpus[first]:
                into.append(corners(stint.since / length, stint.until / length, first, last + 0.94))
                continue
            for node in range(first, last + 1):
                height = (gpus or 0.5) / max(run.node_gpus[node], 1)  # what has cores alone is seen, too
                bottom = lowest(filled, node, stint, height)
                into.append(corners(stint.since / length, stint.until / length, node + 0.94 * bottom, node + 0.94 * (bottom + height)))
    for number, bars in by_class.items():
        area.add_collection(PolyCollection(bars, facecolors=classes.colour(number), edgecolors="white", linewidths=0.3))
    down = [corners(since / length, until / length, node, node + 0.94) for node, since, until, _ in run.outages]
    if down:
        area.add_collection(PolyCollection(down, facecolors=colouring.DOWN, edgecolors=colouring.DOWN, linewidths=0.3, zorder=2))


def corners(left, right, top, bottom):
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def lowest(filled, node, stint, height):
    """Where on a node's line there is room for a job with part of its GPUs; takes it."""
    there = [span for span in filled.get(node, []) if span[0] > stint.since]
    bottom = 0.0
    for _, low, high in sorted(there, key=lambda span: span[1]):
        if low - bottom >= height - 1e-9:
            break
        bottom = max(bottom, high)
    filled[node] = there + [(stint.until, bottom, bottom + height)]
    return min(bottom, 1 - height) if height < 1 else 0.0


def blended(run, classes):
    """An image: each of its points has the colours of who had its nodes in its time, in proportion; white is idle."""
    rows, layers = min(ROWS, len(run.node_gpus)), classes.count() + 1
    boxes = [(classes.of_job[stint.job] if classes.word else stint.job % colouring.MOST, stint.since, stint.until, first, last + 1, gpus)
             for stint in run.stints for first, last, gpus in stint.places]
    boxes += [(layers - 1, since, until, node, node + 1, run.node_gpus[node]) for node, since, until, _ in run.outages]
    had = covered(numpy.array(boxes, dtype=float), layers, rows, run)
    edges = numpy.interp(numpy.linspace(0, len(run.node_gpus), rows + 1), range(len(run.node_gpus) + 1),
                         numpy.concatenate(([0], numpy.cumsum(run.node_gpus))))
    there = numpy.maximum(numpy.diff(edges), 1e-9)[None, :, None]
    shares = had / there
    shares /= numpy.maximum(shares.sum(axis=0), 1)  # a job may hold nodes that are down
    inks = [classes.colour(number) for number in range(layers - 1)] + [colouring.DOWN]
    rgb = numpy.array([[int(ink[at:at + 2], 16) for at in (1, 3, 5)] for ink in inks], dtype=float)
    image = numpy.tensordot(shares, rgb, axes=(0, 0)) + 255 * (1 - shares.sum(axis=0))[:, :, None]
    return numpy.clip(numpy.round(image / 4) * 4, 0, 255).astype(numpy.uint8)  # fewer colours: a smaller file


def covered(boxes, layers, rows, run):
    """GPUs that each layer has on average in each point. Exact: a box covers points at its edges in part."""
    sums = numpy.zeros((layers, rows + 2, COLUMNS + 2))
    if not len(boxes):
        return sums[:, :rows, :COLUMNS]
    layer = boxes[:, 0].astype(int)
    for time, sign in ((boxes[:, 1], 1), (boxes[:, 2], -1)):
        columns, in_column = split(time * COLUMNS / run.ended, COLUMNS)
        for node, turn in ((boxes[:, 3], 1), (boxes[:, 4], -1)):
            at, in_row = split(node * rows / len(run.node_gpus), rows)
            # A box is what lies behind its corner, less what lies behind the corner after it.
            amount = sign * turn * boxes[:, 5] * len(run.node_gpus) / rows
            for by_row, further in ((1 - in_row, 0), (in_row, 1)):
                for by_column, later in ((1 - in_column, 0), (in_column, 1)):
                    numpy.add.at(sums, (layer, at + further, columns + later), amount * by_row * by_column)
    return sums.cumsum(axis=1).cumsum(axis=2)[:, :rows, :COLUMNS]


def split(place, most):
    whole = numpy.clip(numpy.floor(place).astype(int), 0, most)
    return whole, numpy.clip(place - whole, 0, 1)
