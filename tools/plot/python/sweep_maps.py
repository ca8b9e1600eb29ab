"""The maps of sweeps of two parameters: a cell for each pair of values."""

import math

import matplotlib
from matplotlib import pyplot
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import sweep_axes
import sweep_frame as frame

COLOURS = matplotlib.colormaps["viridis"]
MOST_CELLS, MOST_ACROSS, MOST_DOWN = 400, 12, 24  # with a value each; ticks


def scale_of(values):
    low, high = min(values), max(values)
    return LogNorm(low, high) if low > 0 and high / low > 10 else Normalize(low, high if high > low else low + 1)


def write_values(panel, key, cells, colours, norm):
    for y, line in enumerate(cells):
        for x, value in enumerate(line):
            if value is None:
                panel.text(x, y, "none", ha="center", va="center", color="#888888", fontsize=8)
                continue
            red, green, blue, _ = colours(norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            panel.text(x, y, frame.text_of(key, value), ha="center", va="center", fontsize=8.5,
                       color="white" if dark else "#111111")


def colour_bar(panel, key, image):
    """Where cells are too many for words."""
    ticks = LogLocator(base=10, subs=(1, 2, 5)) if isinstance(image.norm, LogNorm) else None
    bar = panel.figure.colorbar(image, ax=panel, location="bottom", aspect=40, fraction=0.04, ticks=ticks,
                                format=FuncFormatter(lambda value, _: frame.text_of(key, value, 2)))
    bar.ax.xaxis.set_minor_formatter(NullFormatter())
    bar.ax.tick_params(labelsize=9, labelrotation=45)
    bar.outline.set_visible(False)


def label_cells(panel, down, across):
    slanted = frame.longest(across.texts()) > 6
    every, other = math.ceil(len(across.labels) / MOST_ACROSS), math.ceil(len(down.labels) / MOST_DOWN)
    panel.set_xticks(range(0, len(across.labels), every), across.texts()[::every], rotation=30 if slanted else 0,
                     ha="right" if slanted else "center", rotation_mode="anchor" if slanted else "default")
    panel.set_yticks(range(0, len(down.labels), other), down.texts()[::other])
    panel.set_xlabel(frame.named(across.name))
    panel.set_ylabel(frame.named(down.name))
    panel.grid(visible=False)
    panel.tick_params(length=0)
    for side in panel.spines.values():
        side.set_visible(False)


def heat_panel(panel, key, rows, down, across):
    """A cell for each pair of values, with the best figure of what was simulated there."""
    groups = sweep_axes.grouped(rows, down.name, across.name)
    cells = [[key.best(groups.get((one, other), [])) for other in across.labels] for one in down.labels]
    known = [value for line in cells for value in line if value is not None]
    if known:
        norm, colours = scale_of(known), COLOURS if key.more_is_better else COLOURS.reversed()
        image = panel.imshow([[float("nan") if value is None else value for value in line] for line in cells], cmap=colours,
                             norm=norm, aspect="auto")
        if len(down.labels) * len(across.labels) <= MOST_CELLS:
            write_values(panel, key, cells, colours, norm)
        else:
            colour_bar(panel, key, image)
    label_cells(panel, down, across)


def heat_map(rows, down, across, keys, others):
    """Two varied parameters: the best figure of each pair, at the smallest, the largest and a size between; "none" where
    nothing was simulated, or it failed."""
    key = keys[0]
    sizes = sweep_axes.spread(sweep_axes.sizes_of(rows) or [None], 3)
    width = 1.1 + max(0.62, 0.085 * frame.longest([frame.text_of(key, 1234.0)])) * len(across.labels)
    figure, panels = pyplot.subplots(1, len(sizes), squeeze=False, layout="constrained",
                                     figsize=(max(6.4, min(16, max(width, 3.2) * len(sizes))),
                                              min(14, 2.1 + 0.4 * len(down.labels))))
    for panel, size in zip(panels[0], sizes):
        heat_panel(panel, key, [row for row in rows if row.get("bytes") == size], down, across)
        panel.set_title(frame.size_text(size), fontsize=11)
    more = f"the best over {', '.join(frame.named(each.name) for each in others)}" if others else ""
    what = f"{key.label[:1].lower()}{key.label[1:]} by {frame.named(down.name)} and {frame.named(across.name)}"
    frame.title(figure, f"{frame.subject(rows)}: {what}", frame.source(rows, more))
    return figure
