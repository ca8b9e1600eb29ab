#!/usr/bin/env python3
"""Draws a timeline of training or of a replayed trace, as `athanor run --trace FILE` writes it.

    plot_timeline.py TRACE.json... --output PICTURE.svg|.png|.pdf [--title TEXT]... [--workers N] [--from MS] [--to MS]

A row for each worker: what it computes, coloured by phase, and below it a line for each use of communication. Grey is
waiting: a bubble. Exit status: 0, 2 for a wrong command line, 4 for a file that cannot be read or drawn.
"""

import argparse
import pathlib
import sys

from interpreter import require_module

require_module("matplotlib")

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import Patch

import axes as look
import foreign
import pictures
import timeline

NAMES = {"forward": "forward", "backward": "backward", "weights": "gradients of weights", "recomputed": "recomputed",
         "optimizer": "optimizer", "computing": "computing"}
COLOURS = {"forward": "#0072B2", "backward": "#E69F00", "weights": "#009E73", "recomputed": "#56B4E9",
           "optimizer": "#8C6D31", "computing": "#7F7F7F"}
USE_COLOURS = {"TP": "#CC79A7", "CP": "#7A4FA3", "EP": "#000000", "PP": "#D55E00", "DP": "#882255", "embedding": "#44AA99",
               "other": "#555555"}
WAITING = "#E8E8E8"
COMPUTING = 0.56  # of a row's height; the rest is for communication, and a gap
GAP = 0.12


def parts(span, begin, end):
    """A span within the drawn time; None outside."""
    left, right = max(span[0], begin), min(span[1], end)
    return (left, right - left) if right > left else None


def draw_computing(area, worker, top, times, last):
    begin, end = times
    fine = (end - begin) / 4000
    area.broken_barh([(begin, min(last, end) - begin)], (top - COMPUTING, COMPUTING), facecolor=WAITING, linewidth=0)
    spans = timeline.joined(worker.computing, worker.cuts, fine)
    for name, colour in COLOURS.items():
        drawn = [part for part in (parts(span, begin, end) for span in spans if span[2] == name) if part]
        area.broken_barh(drawn, (top - COMPUTING, COMPUTING), facecolor=colour, edgecolor="white", linewidth=0.5)


def draw_communicating(area, worker, top, uses, times):
    height = (1 - COMPUTING - GAP) / max(len(uses), 2)
    fine = (times[1] - times[0]) / 1500  # what is shorter is drawn so wide, or it would not be seen
    for place, use in enumerate(uses):
        spans = timeline.joined([(*span, use) for span in worker.communicating.get(use, [])], (), fine)
        drawn = [(start, max(width, fine)) for start, width in filter(None, (parts(span, *times) for span in spans))]
        below = top - COMPUTING - height * (place + 1)
        area.broken_barh(drawn, (below + 0.1 * height, 0.8 * height), facecolor=USE_COLOURS[use], linewidth=0)


def legend(area, workers, uses, times):
    drawn = {span[2] for worker in workers for span in worker.computing if parts(span, *times)}
    phases = [name for name in NAMES if name in drawn]
    handles = [Patch(facecolor=COLOURS[name], label=NAMES[name]) for name in phases]
    handles += [Patch(facecolor=USE_COLOURS[use], label=f"{use} communication") for use in uses]
    handles.append(Patch(facecolor=WAITING, label="waiting"))
    look.legend_below(area, len(handles) if len(handles) <= 5 else (len(handles) + 1) // 2, handles=handles)


def panel(area, workers, title, uses, times):
    last = max(worker.end() for worker in workers)
    for row, worker in enumerate(workers):
        draw_computing(area, worker, -row, times, last)
        draw_communicating(area, worker, -row, uses, times)
    area.set_yticks([-row - COMPUTING / 2 for row in range(len(workers))], [worker.name for worker in workers])
    area.tick_params(axis="y", length=0)
    area.set(xlim=times, ylim=(-len(workers) + GAP / 2, 0.1))
    area.grid(axis="y", visible=False)
    area.spines["left"].set_visible(False)
    area.set_title(title, loc="left", fontweight="bold")


def picture(timelines, titles, times):
    """The timelines one below the other, with one axis of time."""
    every = [worker for workers in timelines for worker in workers]
    uses = [use for use in timeline.USES if any(worker.communicating.get(use) for worker in every)]
    rows = [len(workers) for workers in timelines]
    figure, areas = pyplot.subplots(len(timelines), 1, figsize=(10.5, 1.2 + 0.45 * sum(rows) + 0.4 * len(rows)), sharex=True,
                                    squeeze=False, layout="constrained", gridspec_kw={"height_ratios": rows})
    for area, workers, title in zip(areas[:, 0], timelines, titles):
        panel(area, workers, title, uses, times)
    areas[-1, 0].set_xlabel("Time (ms)")
    legend(areas[-1, 0], every, uses, times)
    return figure


def arguments():
    parser = argparse.ArgumentParser(description="Draws a timeline that `athanor run --trace FILE` wrote.")
    parser.add_argument("trace", type=pathlib.Path, nargs="+", help="the timeline; several are drawn one below the other")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the picture: .svg, .png or .pdf")
    parser.add_argument("--title", action="append", default=[], help="above the timeline; once for each of several")
    parser.add_argument("--workers", type=int, default=16, help="only the first so many")
    parser.add_argument("--from", dest="begin", type=float, default=0, help="milliseconds")
    parser.add_argument("--to", dest="end", type=float, help="milliseconds; absent: the end")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        timelines = [timeline.workers_of(path)[:max(options.workers, 1)] for path in options.trace]
        titles = options.title + [""] * (len(timelines) - len(options.title))
        last = max(worker.end() for workers in timelines for worker in workers)
        end = options.end if options.end is not None else last
        if end <= options.begin:
            raise foreign.InputError(f"--from {options.begin:g} --to {end:g}: no time is between them")
        look.style()
        pictures.text_stays_text()
        pictures.save(picture(timelines, titles, (options.begin, end)), options.output)
    except (foreign.InputError, OSError) as error:
        print(f"plot_timeline.py: {error}", file=sys.stderr)
        return 4
    print(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
