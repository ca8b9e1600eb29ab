"""Time against what it costs, as `athanor compare --pareto` says it: the front as steps, what is beaten in grey."""

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

import axes as look

MOST_PANELS = 4
BEATEN = "#999999"
# Where a name may stand beside its point, in points: near places first.
PLACES = [(7, 0), (-7, 0), (0, 9), (0, -9)] + [(x * far, y * far) for far in (1, 1.8, 2.8) for x, y in
                                               ((7, 7), (7, -7), (-7, 7), (-7, -7), (0, 14), (0, -14))]
NAMES = {"bill_usd": ("Price (million $)", 1e-6), "bill_w": ("Power (kW)", 1e-3)}


def text_of(key, value):
    return look.time_label(value) if key.is_time else f"{value:,.6g}"


def conditions_of(contest, line):
    """What tells the line apart, in words."""
    known = {"values", "intervals", "ratios", "algorithms", "winners", "certainty", "mixes_software", "against", "front", "input"}
    return ", ".join(look.size_label(value) if name == "bytes" and value else f"{value}" for name, value in line.items()
                     if name not in known and value not in ("", None))


def points_of(contest, line, key):
    """[(name, cost, figure, on the front)] of alternatives that have both."""
    _, factor = NAMES.get(contest["against"], ("", 1))
    return [(name, cost * factor, value * key.scale, name in line["front"])
            for name, cost, value in zip(contest["alternatives"], line["against"], line["values"])
            if cost is not None and value is not None]


def front_line(points, more_is_better, limits_x, limits_y):
    """The corners of the steps: what lies above and to the right is beaten; where more is better, below and to the right."""
    front = sorted({(cost, value) for _, cost, value, best in points if best})
    worst = limits_y[0] if more_is_better else limits_y[1]
    corners = [(front[0][0], worst), front[0]]
    for (_, before), (cost, value) in zip(front, front[1:]):
        corners += [(cost, before), (cost, value)]
    return corners + [(limits_x[1], front[-1][1])]


def merged(points):
    """Points at one place share a name."""
    together = {}
    for name, cost, value, best in points:
        together.setdefault((cost, value, best), []).append(name)
    return [(", ".join(names), cost, value, best) for (cost, value, best), names in together.items()]


def overlap(box, other):
    width = min(box.x1, other.x1) - max(box.x0, other.x0)
    height = min(box.y1, other.y1) - max(box.y0, other.y0)
    return width * height if width > 0 and height > 0 else 0.0


def against(box, panel, names, marks):
    """What speaks against a name there: other names, points and lines, and the edge of the panel."""
    outside = box.width * box.height - overlap(box, panel.get_window_extent())
    return 4 * outside + 3 * sum(overlap(box, name) for name in names) + sum(overlap(box, mark) for mark in marks)


def put(text, place):
    text.set_position(place)
    text.set_horizontalalignment("center" if place[0] == 0 else "left" if place[0] > 0 else "right")
    text.set_verticalalignment("center" if place[1] == 0 else "bottom" if place[1] > 0 else "top")
    return text.get_window_extent(text.figure.canvas.get_renderer())


def marks_of(panel, points, corners):
    """What names should not cover, in pixels: a square around each point, a strip along each line."""
    dots = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in
            (panel.transData.transform((cost, value)) for _, cost, value, _ in points)]
    drawn = [panel.transData.transform(corner) for corner in corners]
    lines = [Bbox([[min(x0, x1) - 2, min(y0, y1) - 2], [max(x0, x1) + 2, max(y0, y1) + 2]])
             for (x0, y0), (x1, y1) in zip(drawn, drawn[1:])]
    return dots, lines


def label(panel, points, corners):
    """Each point's name where it hides least."""
    dots, lines = marks_of(panel, points, corners)
    names = []
    for (name, cost, value, best), own in zip(points, dots):
        text = panel.annotate(name, (cost, value), xytext=PLACES[0], textcoords="offset points", fontsize=9, zorder=5,
                              color="#222222" if best else "#777777")
        marks = [dot for dot in dots if dot is not own] + lines * 6  # a line through a name is worse than the corner of a point
        put(text, min(PLACES, key=lambda place: against(put(text, place), panel, names, marks)))
        names.append(text.get_window_extent())


def limits(values, logarithmic=False):
    """From a little less than the least to a little more than the most."""
    low, high = min(values), max(values)
    if logarithmic:
        return low / (high / low) ** 0.12, high * (high / low) ** 0.12
    margin = 0.14 * (high - low) if high > low else 0.1 * abs(high) or 1
    return low - margin, high + margin


def draw_panel(panel, contest, line, key, cost):
    """Returns what names are to be put beside, once the panels have their places."""
    points = merged(points_of(contest, line, key))
    values = [value for _, _, value, _ in points]
    logarithmic = min(values) > 0 and max(values) / min(values) > 5
    if logarithmic:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
        panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_xlim(*limits([cost for _, cost, _, _ in points]))
    panel.set_ylim(*limits(values, logarithmic))
    corners = front_line(points, contest["more_is_better"], panel.get_xlim(), panel.get_ylim())
    panel.plot(*zip(*corners), color=look.PALETTE[0], linewidth=1.4, zorder=2)
    for best, colour in ((False, BEATEN), (True, look.PALETTE[0])):
        drawn = [(cost, value) for _, cost, value, front in points if front == best]
        if drawn:
            panel.scatter(*zip(*drawn), color=colour, s=42 if best else 30, zorder=3)
    panel.set_xlabel(cost)
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: text_of(key, value) if value > 0 else "0" if value == 0 else ""))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}" if value >= 0 else ""))
    panel.locator_params(axis="x", nbins=6)
    panel.set_ylabel(key.label)
    panel.set_title(conditions_of(contest, line), fontsize=11)
    return points, corners


def cost_name(contest, figures):
    return NAMES.get(contest["against"], (figures.of(contest["against"]).label,))[0]


def figure_of(contest, figures):
    """A panel for each condition, at most four from the first to the last; none where nothing has a cost."""
    key = figures.of(contest["figure"])
    lines = [line for line in contest["lines"] if contest["against"] and len(points_of(contest, line, key)) > 1]
    if not lines:
        return None
    chosen = lines if len(lines) <= MOST_PANELS else [lines[round(n * (len(lines) - 1) / (MOST_PANELS - 1))] for n in range(MOST_PANELS)]
    columns = min(len(chosen), 2)
    rows = -(-len(chosen) // columns)
    figure, panels = pyplot.subplots(rows, columns, figsize=(6.6 * columns, 0.9 + 4.2 * rows), squeeze=False, layout="constrained")
    for panel in list(panels.flat)[len(chosen):]:
        panel.set_visible(False)
    cost = cost_name(contest, figures)
    drawn = [(panel, draw_panel(panel, contest, line, key, cost)) for panel, line in zip(panels.flat, chosen)]
    figure.suptitle(f"{key.label} against {cost[:1].lower()}{cost[1:]}; grey: another is no worse in either", x=0.01, ha="left",
                    fontsize=12.5, fontweight="bold")
    figure.canvas.draw()
    figure.set_layout_engine("none")  # names do not move the panels that they were fitted to
    for panel, (points, corners) in drawn:
        label(panel, points, corners)
    return figure
