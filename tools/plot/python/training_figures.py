"""The figures of steps of training and of traces: where the time of each went, and how far simulation and measurement are apart."""

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter

import axes as look

# Part of the breakdown, its name, its colour. What is waited for is lighter or redder than what is computed.
PARTS = [("computing", "computing", "#0072B2"), ("bubble", "pipeline bubble", "#CCCCCC"), ("waiting", "waiting", "#AAAAAA"),
         ("exposed_TP", "exposed TP", "#CC79A7"),
         ("exposed_CP", "exposed CP", "#7A4FA3"), ("exposed_EP", "exposed EP", "#000000"),
         ("exposed_PP", "exposed PP", "#D55E00"), ("exposed_DP", "exposed DP", "#E69F00"),
         ("exposed_embedding", "exposed embedding", "#44AA99"), ("exposed_other", "exposed, other", "#555555"),
         ("stragglers", "stragglers", "#8C6D31")]
MOST_BARS = 48
LEAST_SHARE = 0.002  # of a step, in some bar; what is less is not seen


def unit_of(seconds):
    """(factor, name) of a unit in which a step's time is a number that people read."""
    return (1, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")


def name_of(row):
    """The step's case; of a file without cases what was trained, or replayed."""
    return row.get("case") or row.get("model") or "trace"


def breakdown_figure(rows, title):
    """A bar for each step: how long it takes, and what of it goes where."""
    rows = rows[:MOST_BARS]
    factor, unit = unit_of(max(row["step_time_s"] for row in rows))
    figure, area = pyplot.subplots(figsize=(10, 1.7 + 0.34 * len(rows)), layout="constrained")
    left = [0.0] * len(rows)
    for key, label, colour in PARTS:
        widths = [row["breakdown"].get(key, 0) * row["step_time_s"] * factor for row in rows]
        if max(row["breakdown"].get(key, 0) for row in rows) < LEAST_SHARE:
            continue
        area.barh(range(len(rows)), widths, left=left, height=0.72, color=colour, edgecolor="white", linewidth=0.6, label=label)
        left = [start + width for start, width in zip(left, widths)]
    area.set_yticks(range(len(rows)), [name_of(row) for row in rows])
    area.set_ylim(len(rows) - 0.4, -0.6)
    area.set_xlabel(f"Time of a step ({unit}), averaged over pipeline stages")
    area.grid(axis="y", visible=False)
    area.tick_params(axis="y", length=0)
    draw_interval(area, rows, factor)
    draw_measured(area, rows, factor)
    figure.suptitle(title, ha="left", x=0.01, fontweight="bold")
    look.legend_below(area, 4)
    return figure


def draw_interval(area, rows, factor):
    """Between which times eight of ten measured steps are expected: a line over the end of each bar."""
    known = [(place, row) for place, row in enumerate(rows) if "step_time_low_s" in row]
    if known:
        area.hlines([place for place, _ in known], [row["step_time_low_s"] * factor for _, row in known],
                    [row["step_time_high_s"] * factor for _, row in known], label=look.INTERVAL_NAME,
                    **{**look.INTERVAL, "alpha": 0.55, "linewidth": 3, "zorder": 3})


def draw_measured(area, rows, factor):
    measured = [(row["measured_time_s"] * factor, place) for place, row in enumerate(rows) if "measured_time_s" in row]
    if measured:
        area.plot([time for time, _ in measured], [place for _, place in measured], label="measured",
                  **{**look.MEASURED, "marker": "|", "markersize": 13, "markeredgewidth": 2})


def measured_figure(groups, title):
    """Simulated against measured steps, a colour and marker for each group, and below it the errors."""
    figure, (times, errors) = pyplot.subplots(2, 1, figsize=(10.5, 8), sharex=True, layout="constrained",
                                              height_ratios=[2.2, 1])
    for index, (name, rows) in enumerate(groups.items()):
        drawn = {"color": look.PALETTE[index % len(look.PALETTE)], "marker": look.MARKERS[index // len(look.PALETTE) % len(look.MARKERS)],
                 "linestyle": "none", "markersize": 5, "alpha": 0.8}
        measured = [row["measured_time_s"] for row in rows]
        times.plot(measured, [row["step_time_s"] for row in rows], label=name, **drawn)
        errors.plot(measured, [100 * row["error"] for row in rows], **drawn)
    every = [row[key] for rows in groups.values() for row in rows for key in ("measured_time_s", "step_time_s")]
    ends = [min(every) / 1.3, max(every) * 1.3]
    times.plot(ends, ends, label="equal", **look.BOUND)
    times.set(xscale="log", yscale="log", ylabel="Simulated step (s)", xlim=ends, ylim=ends)
    for axis in (times.xaxis, times.yaxis, errors.xaxis):
        axis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    errors.axhspan(-10, 10, color="#EEEEEE", zorder=0)
    errors.axhline(0, **look.BOUND)
    errors.set(xlabel="Measured step (s)", ylabel="Error (%); grey: ±10 %")
    figure.suptitle(title, ha="left", x=0.01, fontweight="bold")
    times.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9.5)
    return figure
