"""The figures of a sweep: over the number that was varied, over sizes, bars of what are no numbers, and heat maps."""

import itertools

import matplotlib
from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

import axes as look
import figures
import output_files
import results
import sweep_axes
import sweep_frame as frame
import sweep_maps

MOST_LINES, MOST_COLUMNS, MOST_CASES, MOST_MARKERS = 8, 4, 4, 40
ORDERED = matplotlib.colormaps["viridis"]  # of lines that stand for numbers


def looks_of(names, ordered):
    """Colour and marker of each line: the palette, or from dark to light where the lines stand for numbers."""
    if not ordered:
        return figures.colours(names)
    last = max(len(names) - 1, 1)
    return {name: (ORDERED(0.88 * index / last), look.MARKERS[index % len(look.MARKERS)])
            for index, name in enumerate(names)}


def draw_bands(panel, points, colour, lines):
    """Intervals around one of so many lines, `points`: [(x, (low, high) or None)]; a point without one ends a band, and
    one between two of these is a bar. Returns the ends."""
    known = [(x, interval) for x, interval in points if interval]
    faint = look.INTERVAL["alpha"] if lines == 1 else max(0.07, 0.3 / lines)
    for has, stretch in itertools.groupby(points, key=lambda point: point[1] is not None):
        if not has:
            continue
        places, ends = zip(*stretch)
        low, high = zip(*ends)
        if len(places) == 1:
            panel.vlines(places, low, high, color=colour, alpha=2 * faint, linewidth=5, zorder=0)
            continue
        panel.fill_between(places, low, high, color=colour, alpha=faint, linewidth=0, zorder=0)
        for edge in (low, high):  # where bands lie over each other, their ends still show
            panel.plot(places, edge, color=colour, alpha=0.55, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1)
    if known:
        panel.fill_between([], [], [], color="#888888", alpha=0.3, linewidth=0, label=look.INTERVAL_NAME)
    return [end for _, interval in known for end in interval]


def draw_lines(panel, figure, lines, looks):
    """`lines`: name -> [(x, rows)]. Returns every value drawn."""
    drawn = []
    for number, (name, points) in enumerate(lines.items()):
        rows = [(x, figure.best_row(rows)) for x, rows in points]
        rows = [(x, row) for x, row in rows if row is not None]
        if not rows:
            continue
        found = [(x, figure.value(row)) for x, row in rows]
        colour, marker = looks[name]
        wide = max(1.0, 1.5 - 0.2 * number)  # where lines coincide, the ones below still show
        panel.plot(*zip(*found), color=colour, marker=marker if len(found) <= MOST_MARKERS else None, label=name,
                   linewidth=1.8 * wide, markersize=5 * wide)
        drawn += [value for _, value in found]
        drawn += draw_bands(panel, [(x, figure.interval(row)) for x, row in rows], colour, len(lines))
    return drawn


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
    lines = {frame.size_text(size): [row for row in rows if row.get("bytes") == size] for size in chosen}
    return "Message size", lines, True, [None]


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
    by_size = columns[0] is not None
    groups = {name: sweep_axes.grouped(own, axis.name, *([sweep_axes.SIZE] if by_size else [])) for name, own in lines.items()}
    for row, key in enumerate(keys):
        for column, size in enumerate(columns):
            panel = panels[0][row] if alone else panels[row][column]
            here = {name: [(axis.place[label], each.get((label, size) if by_size else (label,), [])) for label in axis.labels]
                    for name, each in groups.items()}
            drawn = draw_lines(panel, key, here, looks)
            axis.apply(panel.xaxis, frame.named(axis.name))
            if drawn:
                frame.value_axis(panel, key, drawn)
            if not alone and row == 0:
                panel.set_title(frame.size_text(size), fontsize=11)
    left_out = ""
    if second and len(lines) < len(second.labels):
        left_out = f"{len(lines)} of {len(second.labels)} values of {frame.named(second.name)}"
    frame.title(figure, f"{frame.subject(rows)} over {frame.named(axis.name)}",
          frame.source(rows, *([frame.size_text(columns[0])] if alone and by_size else []), left_out))
    frame.legend(figure, panels.flat, heading)
    return figure


def over_sizes(rows, axis, keys):
    """Figures over the size, a line for each value of the axis."""
    labels = sweep_axes.spread(axis.labels, MOST_LINES)
    looks = looks_of([axis.text(label) for label in labels], axis.numeric)
    sizes = sweep_axes.sizes_of(rows)
    figure, panels = pyplot.subplots(1, len(keys), figsize=(max(6.4, 5.6 * len(keys)), 4.9), squeeze=False, layout="constrained")
    groups = sweep_axes.grouped(rows, axis.name, sweep_axes.SIZE)
    for panel, key in zip(panels[0], keys):
        lines = {axis.text(label): [(size, groups.get((label, size), [])) for size in sizes] for label in labels}
        drawn = draw_lines(panel, key, lines, looks)
        look.size_axis(panel, sizes, "Message size")
        frame.value_axis(panel, key, drawn)
    left_out = f"{len(labels)} of {len(axis.labels)} values" if len(labels) < len(axis.labels) else ""
    frame.title(figure, f"{frame.subject(rows)} over size, by {frame.named(axis.name)}", frame.source(rows, left_out))
    frame.legend(figure, panels[0], frame.named(axis.name))
    return figure


def draw_bars(panel, key, there, height, colour, name):
    """`there`: [(place, row)]; with a line over its interval where a row has one, and its value behind both."""
    for known in (False, True):
        some = [(place, row) for place, row in there if (key.interval(row) is not None) == known]
        if not some:
            continue
        places, values = [place for place, _ in some], [key.value(row) for _, row in some]
        errors = {}
        if known:
            ends = [key.interval(row) for _, row in some]
            errors = {"xerr": [[value - low for value, (low, _) in zip(values, ends)],
                               [high - value for value, (_, high) in zip(values, ends)]],
                      "error_kw": {"ecolor": "#222222", "elinewidth": 1.3, "capsize": 3}}
            panel.plot([], [], color="#222222", linewidth=1.3, marker="|", label=look.INTERVAL_NAME)
        drawn = panel.barh(places, values, height=height, color=colour, label=name, **errors)
        panel.bar_label(drawn, [frame.text_of(key, value) for value in values], padding=3, fontsize=9)


def bars(rows, axis, cases, keys):
    """Of an axis without numbers and few sizes: a group of bars for each of its values."""
    sizes = sweep_axes.spread(sweep_axes.sizes_of(rows) or [None], MOST_COLUMNS)
    key = keys[0]
    looks = looks_of(cases, False)
    figure, panels = pyplot.subplots(1, len(sizes), squeeze=False, layout="constrained",
                                     figsize=(0.6 + 0.085 * frame.longest(axis.texts()) + 4 * len(sizes),
                                              min(14, 1.8 + 0.34 * len(axis.labels) * max(len(cases), 1.6))))
    width = 0.8 / len(cases)
    for column, (panel, size) in enumerate(zip(panels[0], sizes)):
        for place, case in enumerate(cases):
            best = [key.best_row([row for row in sweep_axes.at(rows, **{axis.name: label, "case": case})
                                  if row.get("bytes") == size]) for label in axis.labels]
            there = [(index + (place - (len(cases) - 1) / 2) * width, row) for index, row in enumerate(best) if row is not None]
            draw_bars(panel, key, there, 0.9 * width, looks[case][0], case)
        panel.set_yticks(range(len(axis.labels)), axis.texts() if column == 0 else [""] * len(axis.labels))
        panel.invert_yaxis()
        panel.margins(x=0.2)
        panel.grid(axis="y", visible=False)
        panel.set_xlabel(key.label)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: frame.text_of(key, value) if value else "0"))
        panel.locator_params(axis="x", nbins=4)
        panel.set_title(frame.size_text(size), fontsize=11)
    frame.title(figure, f"{frame.subject(rows)} by {frame.named(axis.name)}", frame.source(rows))
    frame.legend(figure, panels[0], "")
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
        yield f"map{more}", sweep_maps.heat_map(own, lines, x, keys, varied[2:])


def of_sweep(rows, declared, key=None):
    """(name of a file, figure) for all figures of a sweep's results; none where nothing was varied. `declared`:
    figure_keys.Figures; `key`: that figure of results alone. Throws ResultError where no result has it."""
    rows = [row for row in rows if isinstance(row.get("parameters"), dict)]
    found = [row for row in rows if not isinstance(row.get("error"), dict)]
    keys = [declared.of(key)] if key else declared.usual(found)
    found = [row for row in found if any(each.value(row) is not None for each in keys)]
    if not found:
        raise results.ResultError(f"no result has a number '{key}'" if key else "no result has a time")
    varied = [axis for axis in sweep_axes.axes_of(rows) if not sweep_axes.is_the_size(found, axis)]
    cases = sweep_axes.cases_of(found)
    if not varied:
        return
    drawn = of_one(found, varied[0], cases, keys) if len(varied) == 1 else of_several(found, varied, cases, keys)
    for name, figure in drawn:
        yield output_files.stem_of(name), figure
