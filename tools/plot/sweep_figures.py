"""The figures of a sweep: over the number that was varied, over sizes, bars of what are no numbers, and heat maps."""

import math
import pathlib

import matplotlib
from matplotlib import pyplot
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import axes as look
import figure_keys
import figures
import results
import sweep_axes

MOST_LINES, MOST_COLUMNS, MOST_CASES, MOST_CELLS = 8, 4, 4, 400
ORDERED = matplotlib.colormaps["viridis"]  # of lines that stand for numbers


def size_text(size):
    return "" if size is None else look.size_label(size) if size > 0 else "0 B"


def looks_of(names, ordered):
    """Colour and marker of each line: the palette, or from dark to light where the lines stand for numbers."""
    if not ordered:
        return figures.colours(names)
    last = max(len(names) - 1, 1)
    return {name: (ORDERED(0.88 * index / last), look.MARKERS[index % len(look.MARKERS)])
            for index, name in enumerate(names)}


def value_axis(panel, figure, values):
    """Linear from zero where values are alike, else by powers of ten."""
    low, high = min(values), max(values)
    if figure.is_time and low > 0 and high / low > 8:
        look.time_axis(panel)
    elif figure.more_is_better and low > 0 and high / low > 20:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.4g}"))
    else:
        panel.set_ylim(0, 1.08 * high if high > 0 else 1)
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: text_of(figure, value, 6) if value else "0"))
    panel.set_ylabel(figure.label)


def title(figure, headline, line):
    """Above the panels, which leave room for it."""
    height = figure.get_figheight()
    figure.suptitle(headline, x=0.01, ha="left", fontsize=14, fontweight="bold")
    figure.text(0.01, 1 - 0.36 / height, line, va="top", ha="left", fontsize=10.5, color="#444444")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.28 / height), w_pad=0.1)


def subject(rows):
    """What was simulated, in words."""
    collectives = list(dict.fromkeys(row["collective"] for row in rows if row.get("collective")))
    if len(collectives) == 1:
        return figures.collective_title(collectives[0])
    return "Collectives" if collectives else "Steps of training" if "step_time_s" in rows[0] else "Results"


def source(rows, more=""):
    names = sorted({pathlib.Path(row["scenario"]).name for row in rows if row.get("scenario")})
    algorithms = {row.get("algorithm") for row in rows} - {None}
    words = [", ".join(names[:3])] + (["the fastest algorithm at each point"] if len(algorithms) > 1 else [])
    return "; ".join(word for word in words + [more] if word)


def named(axis_name):
    return {"bytes": "size", "ranks": "ranks"}.get(axis_name, axis_name)


def draw_lines(panel, figure, lines, looks):
    """`lines`: name -> [(x, rows)]. Returns every value drawn."""
    drawn = []
    for number, (name, points) in enumerate(lines.items()):
        found = [(x, figure.best(rows)) for x, rows in points]
        found = [(x, value) for x, value in found if value is not None]
        if not found:
            continue
        colour, marker = looks[name]
        wide = max(1.0, 1.5 - 0.2 * number)  # where lines coincide, the ones below still show
        panel.plot(*zip(*found), color=colour, marker=marker, label=name, linewidth=1.8 * wide, markersize=5 * wide)
        drawn += [value for _, value in found]
    return drawn


def legend(figure, panels, heading):
    """Below all panels, which give way to it; nothing for a single line."""
    handles = {}
    for panel in panels:
        handles.update(zip(*reversed(panel.get_legend_handles_labels())))
    if len(handles) < 2:
        return
    columns = min(len(handles), max(2, int(figure.get_figwidth() / (1.0 + 0.085 * longest(handles)))))
    rows = math.ceil(len(handles) / columns) + (1 if heading else 0)
    room = (0.12 + 0.22 * rows) / figure.get_figheight()
    x, _, width, height = figure.get_layout_engine().get()["rect"]
    figure.get_layout_engine().set(rect=(x, room, width, height - room))
    figure.legend(handles.values(), handles.keys(), loc="lower center", bbox_to_anchor=(0.5, 0), ncols=columns, frameon=False,
                  title=heading, title_fontsize=10.5)


def series_of(rows, second, cases, sizes):
    """(heading, name -> rows of a line, whether names are numbers, sizes that have a column each)."""
    if second:
        labels = sweep_axes.spread(second.labels, MOST_LINES)
        lines = {second.text(label): sweep_axes.at(rows, **{second.name: label}) for label in labels}
        return second.name, lines, second.numeric, sizes
    if len(cases) > 1:
        chosen = cases[:MOST_LINES]
        return "", {case: sweep_axes.at(rows, case=case) for case in chosen}, False, sizes
    chosen = sweep_axes.spread(sizes, MOST_LINES)
    return "Message size", {size_text(size): [row for row in rows if row.get("bytes") == size] for size in chosen}, True, [None]


def scaling(rows, axis, second, cases, keys):
    """Figures over a varied number: a column for each size, or a line."""
    sizes = sweep_axes.sizes_of(rows) or [None]
    heading, lines, ordered, columns = series_of(rows, second, cases, sizes)
    columns = sweep_axes.spread(columns, MOST_COLUMNS)
    looks = looks_of(list(lines), ordered)
    alone = len(columns) == 1
    shape = (1, len(keys)) if alone else (len(keys), len(columns))
    figure, panels = pyplot.subplots(*shape, figsize=(max(6.4, 4.6 * shape[1]), 1.2 + 3.4 * shape[0]), squeeze=False,
                                     layout="constrained")
    for row, key in enumerate(keys):
        for column, size in enumerate(columns):
            panel = panels[0][row] if alone else panels[row][column]
            here = {name: [(axis.place[label], [each for each in sweep_axes.at(own, **{axis.name: label})
                                                if size is None or each.get("bytes") == size]) for label in axis.labels]
                    for name, own in lines.items()}
            drawn = draw_lines(panel, key, here, looks)
            axis.apply(panel.xaxis, named(axis.name))
            if drawn:
                value_axis(panel, key, drawn)
            if not alone and row == 0:
                panel.set_title(size_text(size), fontsize=11)
    title(figure, f"{subject(rows)} over {named(axis.name)}",
          source(rows, size_text(columns[0]) if alone and columns[0] is not None else ""))
    legend(figure, panels.flat, heading)
    return figure


def over_sizes(rows, axis, keys):
    """Figures over the size, a line for each value of the axis."""
    labels = sweep_axes.spread(axis.labels, MOST_LINES)
    looks = looks_of([axis.text(label) for label in labels], axis.numeric)
    sizes = sweep_axes.sizes_of(rows)
    figure, panels = pyplot.subplots(1, len(keys), figsize=(max(6.4, 5.6 * len(keys)), 4.9), squeeze=False, layout="constrained")
    for panel, key in zip(panels[0], keys):
        lines = {axis.text(label): [(size, [row for row in sweep_axes.at(rows, **{axis.name: label}) if row.get("bytes") == size])
                         for size in sizes] for label in labels}
        drawn = draw_lines(panel, key, lines, looks)
        look.size_axis(panel, sizes, "Message size")
        value_axis(panel, key, drawn)
    title(figure, f"{subject(rows)} over size, by {named(axis.name)}", source(rows))
    legend(figure, panels[0], named(axis.name))
    return figure


def bars(rows, axis, cases, keys):
    """Of an axis without numbers and few sizes: a group of bars for each of its values."""
    sizes = sweep_axes.spread(sweep_axes.sizes_of(rows) or [None], MOST_COLUMNS)
    key = keys[0]
    looks = looks_of(cases, False)
    figure, panels = pyplot.subplots(1, len(sizes), squeeze=False, layout="constrained",
                                     figsize=(0.6 + 0.085 * longest(axis.texts()) + 4 * len(sizes), 1.8 + 0.34 * len(axis.labels) * max(len(cases), 1.6)))
    width = 0.8 / len(cases)
    for column, (panel, size) in enumerate(zip(panels[0], sizes)):
        for place, case in enumerate(cases):
            values = [key.best([row for row in sweep_axes.at(rows, **{axis.name: label, "case": case})
                                if row.get("bytes") == size]) for label in axis.labels]
            there = [(index + (place - (len(cases) - 1) / 2) * width, value) for index, value in enumerate(values)
                     if value is not None]
            if there:
                drawn = panel.barh(*zip(*there), height=0.9 * width, color=looks[case][0], label=case)
                panel.bar_label(drawn, [text_of(key, value) for _, value in there], padding=3, fontsize=9)
        panel.set_yticks(range(len(axis.labels)), axis.texts() if column == 0 else [""] * len(axis.labels))
        panel.invert_yaxis()
        panel.margins(x=0.2)
        panel.grid(axis="y", visible=False)
        panel.set_xlabel(key.label)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text_of(key, value) if value else "0"))
        panel.locator_params(axis="x", nbins=4)
        panel.set_title(size_text(size), fontsize=11)
    title(figure, f"{subject(rows)} by {named(axis.name)}", source(rows))
    legend(figure, panels[0], "")
    return figure


def text_of(key, value, digits=4):
    return look.time_label(value) if key.is_time else f"{value:,.{digits}g}"


def heat_panel(panel, key, rows, down, across):
    """A cell for each pair of values, with the best figure of what was simulated there."""
    cells = [[key.best(sweep_axes.at(rows, **{down.name: one, across.name: other})) for other in across.labels]
             for one in down.labels]
    known = [value for line in cells for value in line if value is not None]
    if not known:
        return
    low, high = min(known), max(known)
    norm = LogNorm(low, high) if low > 0 and high / low > 10 else Normalize(low, high if high > low else low + 1)
    colours = ORDERED if key.more_is_better else ORDERED.reversed()
    panel.imshow([[float("nan") if value is None else value for value in line] for line in cells], cmap=colours, norm=norm,
                 aspect="auto")
    write = len(down.labels) * len(across.labels) <= MOST_CELLS
    for y, line in enumerate(cells):
        for x, value in enumerate(line):
            if value is None:
                panel.text(x, y, "none", ha="center", va="center", color="#888888", fontsize=8)
            elif write:
                red, green, blue, _ = colours(norm(value))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
                panel.text(x, y, text_of(key, value), ha="center", va="center", fontsize=8.5, color="white" if dark else "#111111")
    slanted = longest(across.texts()) > 6
    panel.set_xticks(range(len(across.labels)), across.texts(), rotation=30 if slanted else 0,
                     ha="right" if slanted else "center", rotation_mode="anchor" if slanted else "default")
    panel.set_yticks(range(len(down.labels)), down.texts())
    panel.set_xlabel(named(across.name))
    panel.set_ylabel(named(down.name))
    panel.grid(visible=False)
    panel.tick_params(length=0)
    for side in panel.spines.values():
        side.set_visible(False)


def longest(labels):
    return max(len(str(label)) for label in labels)


def heat_map(rows, down, across, keys, others):
    """Two varied parameters: the best figure of each pair, at the smallest, the largest and a size between; "none" where
    nothing was simulated, or it failed."""
    key = keys[0]
    sizes = sweep_axes.spread(sweep_axes.sizes_of(rows) or [None], 3)
    width = 1.1 + max(0.62, 0.085 * longest([text_of(key, 1234.0)])) * len(across.labels)
    figure, panels = pyplot.subplots(1, len(sizes), squeeze=False, layout="constrained",
                                     figsize=(max(6.4, min(16, max(width, 3.2) * len(sizes))), 2.1 + 0.4 * len(down.labels)))
    for panel, size in zip(panels[0], sizes):
        heat_panel(panel, key, [row for row in rows if row.get("bytes") == size], down, across)
        panel.set_title(size_text(size), fontsize=11)
    more = f"the best over {', '.join(named(each.name) for each in others)}" if others else ""
    title(figure, f"{subject(rows)}: {key.label[:1].lower() + key.label[1:]} by {named(down.name)} and {named(across.name)}",
          source(rows, more))
    return figure


def of_one(rows, axis, cases, keys):
    """(name, figure) for a single varied parameter."""
    sizes = sweep_axes.sizes_of(rows)
    if axis.numeric:
        yield f"over-{axis.name}", scaling(rows, axis, None, cases, keys)
    if len(sizes) >= (5 if axis.numeric else 3):
        for case in cases[:MOST_CASES]:
            own = sweep_axes.at(rows, case=case)
            yield f"over-size-{case}" if len(cases) > 1 else "over-size", over_sizes(own, axis, keys)
    elif not axis.numeric:
        yield f"by-{axis.name}", bars(rows, axis, cases, keys)


def of_several(rows, varied, cases, keys):
    """Two parameters or more, of which the first two are drawn: each case for itself."""
    first, second = varied[:2]
    x, lines = (first, second) if first.numeric or not second.numeric else (second, first)
    for case in cases[:MOST_CASES]:
        own = sweep_axes.at(rows, case=case)
        more = f"-{case}" if len(cases) > 1 else ""
        if x.numeric:
            yield f"over-{x.name}{more}", scaling(own, x, lines, [case], keys)
        yield f"map{more}", heat_map(own, lines, x, keys, varied[2:])


def of_sweep(rows, key=None):
    """(name of a file, figure) for all figures of a sweep's results; none where nothing was varied. `key`: that figure of
    results alone. Throws ResultError where no result has it."""
    rows = [row for row in rows if isinstance(row.get("parameters"), dict)]
    found = [row for row in rows if not isinstance(row.get("error"), dict)]
    keys = [figure_keys.Figure(key)] if key else figure_keys.usual(found)
    found = [row for row in found if any(each.value(row) is not None for each in keys)]
    if not found:
        raise results.ResultError(f"no result has a number '{key}'" if key else "no result has a time")
    varied, cases = sweep_axes.axes_of(rows), sweep_axes.cases_of(found)
    if not varied:
        return
    drawn = of_one(found, varied[0], cases, keys) if len(varied) == 1 else of_several(found, varied, cases, keys)
    for name, figure in drawn:
        yield results.file_stem(name), figure
