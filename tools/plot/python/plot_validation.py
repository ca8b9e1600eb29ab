#!/usr/bin/env python3
"""Draws a picture of each published table beside its simulation.

    plot_validation.py RESULTS.json FOLDER    RESULTS.json: of `athanor verify --all --json=FILE`; prints each path
"""

import pathlib
import sys

from interpreter import require_module

require_module("matplotlib")

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.ticker import NullLocator

import axes as look
import figures
import foreign
import pictures

MOST_ERROR = 60  # per cent; what is farther off stands at the edge


def rows_of(table, results):
    """The measured rows of a table's cases, case by case."""
    cases = [(case["scenario"], case["case"]) for case in table["cases"]]
    rows = {case: [] for case in cases}
    for row in results:
        if (row["scenario"], row["case"]) in rows and "measured_time_us" in row:
            rows[row["scenario"], row["case"]].append(row)
    return {name: found for (_, name), found in rows.items() if found}


def pieces(rows):
    """Rows in a line, in the colour of the algorithm that they lead to."""
    line = rows[:1]
    for left, right in zip(rows, rows[1:]):
        if len(line) > 1 and right["algorithm"] != left["algorithm"]:
            yield left["algorithm"], line
            line = [left]
        line.append(right)
    yield rows[-1]["algorithm"], line


def draw_times(area, rows, spikes):
    looks = figures.colours(sorted({row["algorithm"] for row in rows}))
    for algorithm, piece in pieces(rows):
        area.plot([row["bytes"] for row in piece], [row["time_us"] for row in piece], zorder=2, color=looks[algorithm][0])
    for name, (colour, _) in looks.items():
        area.plot([], [], color=colour, label=f"simulated: {figures.words(name)}")
    for label, marker, kept in (("measured", "o", False), ("measured, isolated spike", "x", True)):
        shown = [row for row in rows if (row["bytes"] in spikes) == kept]
        if shown:
            style = look.MEASURED | {"marker": marker, "markersize": 4.5, "markeredgewidth": 1}
            area.plot([row["bytes"] for row in shown], [row["measured_time_us"] for row in shown], label=label, **style)
    look.size_axis(area, [row["bytes"] for row in rows], "Message size")
    look.time_axis(area)
    area.yaxis.set_minor_locator(NullLocator())
    area.legend(frameon=False, loc="upper left", fontsize=8.5)


def draw_errors(area, rows, spikes):
    kept = [row for row in rows if row["bytes"] not in spikes]
    errors = [max(-MOST_ERROR, min(MOST_ERROR, 100 * row["error"])) for row in kept]
    area.axhline(0, color="#555555", linewidth=0.8)
    area.vlines([row["bytes"] for row in kept], 0, errors, color=look.PALETTE[0], linewidth=2.5)
    area.set_ylim(-1.1 * MOST_ERROR, 1.1 * MOST_ERROR)
    area.set_ylabel("Error (%)")
    area.tick_params(axis="x", labelbottom=False)


def over_sizes(rows, spikes):
    figure, (errors, times) = pyplot.subplots(2, 1, figsize=(5.6, 4.6), sharex=True, height_ratios=(1, 2.6),
                                              layout="constrained")
    draw_times(times, rows, spikes)
    draw_errors(errors, rows, spikes)
    return figure


def over_cases(cases):
    """Several cases of one size: bus bandwidths side by side."""
    figure, area = pyplot.subplots(figsize=(5.6, 1.2 + 0.3 * len(cases)), layout="constrained")
    rows = [found[-1] for found in cases.values()]
    area.barh(range(len(rows)), [row["busbw_gbps"] for row in rows], color=look.PALETTE[0], height=0.6, label="simulated")
    area.plot([row["busbw_gbps"] * (1 + row["error"]) for row in rows], range(len(rows)), label="measured", **look.MEASURED)
    area.set_yticks(range(len(rows)), cases)
    area.invert_yaxis()
    area.grid(axis="y", visible=False)
    area.set_xlabel(f"Bus bandwidth at {look.size_label(rows[0]['bytes'])} (GB/s)")
    area.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), fontsize=8.5, ncol=2)
    return figure


def draw(table, results):
    cases = rows_of(table, results)
    figure = over_sizes(next(iter(cases.values())), table["spikes"]) if len(cases) == 1 else over_cases(cases)
    figure.suptitle(table["table"], ha="left", x=0.02, fontsize=10.5, fontweight="bold")
    return figure


def main():
    document, folder = foreign.load_printable(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])
    look.style()
    pictures.text_stays_text()
    pyplot.rcParams.update({"font.size": 9, "axes.labelsize": 9.5})
    for table in document["tables"]:
        path = folder / f"{table['table']}.svg"
        pictures.save(draw(table, document["results"]), path)
        print(path)


if __name__ == "__main__":
    main()
