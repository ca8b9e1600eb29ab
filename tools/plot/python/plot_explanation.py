#!/usr/bin/env python3
"""Draws why a collective takes its time, as `athanor explain --json` says it.

    plot_explanation.py EXPLANATION.json --output PICTURE.svg|.png|.pdf

Above, every candidate's time, and NCCL's own prediction where there is one; in the middle, what leaves the senders over
time, from launch over fill and steady state to drain; below, how busy links were, and the way of each channel through a
node. Prints the picture's path. Exit status: 0, 2 for a wrong command line, 4 for a file that cannot be read, drawn or written.
"""

import argparse
import pathlib
import sys

import interpreter

interpreter.require_module("matplotlib")

import matplotlib  # noqa: E402  (only now is it known to be there)

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

import axes  # noqa: E402
import figures  # noqa: E402
import foreign  # noqa: E402
import pictures  # noqa: E402

PHASES = [("launch", "launch", "#BBBBBB"), ("fill", "fill", "#F3D9A4"), ("steady", "steady state", "#BFE3D0"),
          ("drain", "drain", "#F3D9A4"), ("host", "host", "#BBBBBB")]
MOST_CLASSES = 12  # of links, the busiest ones
MOST_WAYS = 16  # more than that cannot be told apart
NARROW = 0.07  # of the time: a phase without room for its name


def can_run(explanation):
    return [each for each in explanation["candidates"] if each["simulated_us"] is not None]


def interval_of(explanation):
    """Where eight of ten measured times are expected; None where nobody knows."""
    ends = [explanation["chosen"].get(key) for key in ("time_low_us", "time_high_us")]
    return None if None in ends else ends


def draw_candidates(panel, explanation):
    candidates = can_run(explanation)
    for row, each in enumerate(candidates):
        colour = axes.PALETTE[0] if each["chosen"] else "#A9C7DD"
        panel.barh(row, each["simulated_us"], height=0.62, color=colour, zorder=2)
        right = max(each["simulated_us"], each["predicted_us"] or 0, (interval_of(explanation) or (0,))[-1] if each["chosen"] else 0)
        panel.annotate(axes.time_label(each["simulated_us"]), (right, row), xytext=(8, 0),
                       textcoords="offset points", va="center", fontsize=9)
    chosen, interval = explanation["chosen"], interval_of(explanation)
    if interval:
        row = next(row for row, each in enumerate(candidates) if each["chosen"])
        panel.errorbar([chosen["time_us"]], [row], xerr=[[max(0, chosen["time_us"] - interval[0])], [interval[1] - chosen["time_us"]]],
                       color="#111111", linestyle="none", elinewidth=1.3, capsize=3, zorder=3, label=axes.INTERVAL_NAME)
    predicted = [(each["predicted_us"], row) for row, each in enumerate(candidates) if each["predicted_us"] is not None]
    if predicted:
        panel.scatter(*zip(*predicted), marker="D", s=26, facecolor="white", edgecolor="#111111", zorder=3,
                      label="NCCL's own prediction")
    if predicted or interval:
        panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5)
    panel.set_yticks(range(len(candidates)), [f'{figures.words(each["algorithm"])} {each["protocol"] or ""}'.strip()
                                              for each in candidates])
    panel.set_ylim(len(candidates) - 0.4, -0.6)
    panel.set_xlim(0, 1.14 * max([each["simulated_us"] for each in candidates] + [each[0] for each in predicted] + list(interval or [])))
    panel.grid(axis="y", visible=False)
    panel.set_xlabel("time (µs); dark: what runs")


def draw_phases(panel, explanation):
    """The phases as coloured spans; returns when sending may begin and when it has ended."""
    phases = explanation["phases_us"]
    total, begin = sum(phases.values()), 0
    for key, label, colour in PHASES:
        length = phases[key]
        if length > 0:
            panel.axvspan(begin, begin + length, color=colour, linewidth=0, zorder=0)
            if length / total > NARROW:
                panel.text(begin + length / 2, 1.04, label, ha="center", va="bottom", fontsize=9.5)
        begin += length
    panel.set_xlim(0, total)
    return phases["launch"], total - phases["host"]


def draw_pipeline(panel, explanation):
    panel.set_ylim(0, 1)
    begin, end = draw_phases(panel, explanation)
    sending = explanation["sending"]
    most = max(sending, default=0)
    if most > 0:
        width = (end - begin) / len(sending)
        times = [begin + width * (index + 0.5) for index in range(len(sending))]
        panel.fill_between(times, [share / most for share in sending], color=axes.PALETTE[0], linewidth=0, step="mid",
                           zorder=2)
    panel.set_yticks([])
    panel.grid(visible=False)
    lengths = [f'{label} {axes.time_label(explanation["phases_us"][key])}' for key, label, _ in PHASES
               if explanation["phases_us"][key] > 0]
    panel.set_xlabel(f"time (µs): {', '.join(lengths)}")
    panel.set_ylabel("bytes leaving\ntheir senders")


def used_links(explanation):
    return [each for each in explanation.get("links", []) if each["used"] > 0][:MOST_CLASSES]


def draw_links(panel, links):
    """How busy each class of links was: the busiest of it, and all on average."""
    rows = range(len(links))
    panel.barh(rows, [each["most_percent"] for each in links], height=0.62, color="#A9C7DD", zorder=2, label="the busiest")
    panel.barh(rows, [each["mean_percent"] for each in links], height=0.62, color=axes.PALETTE[0], zorder=3, label="all, on average")
    for row, each in enumerate(links):
        panel.annotate(f'{each["most_percent"]:.1f} %', (each["most_percent"], row), xytext=(8, 0), textcoords="offset points",
                       va="center", fontsize=9)
    panel.set_yticks(range(len(links)), [each["class"] for each in links])
    panel.set_ylim(len(links) - 0.4, -0.6)
    panel.set_xlim(0, max(110, 1.1 * links[0]["most_percent"]))
    panel.grid(axis="y", visible=False)
    panel.set_xlabel("share of the time in which links were busy (%)")
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5)


def way_label(way):
    return str(way["first"]) if way["first"] == way["last"] else f'{way["first"]}–{way["last"]}'


def draw_ways(panel, ways):
    """A column for each place on the way, a row for each GPU, a line for each set of equal channels."""
    drawn = ways[:MOST_WAYS]
    for index, way in enumerate(drawn):
        shift = 0.5 * ((index + 0.5) / len(drawn) - 0.5)
        panel.plot(range(len(way["gpus"])), [gpu + shift for gpu in way["gpus"]], marker="o", markersize=4.5,
                   linewidth=1.6, color=axes.PALETTE[index % len(axes.PALETTE)], label=f"channel {way_label(way)}")
        for nic, place, gpu, offset in ((way["enters"], 0, way["gpus"][0], -7),
                                        (way["leaves"], len(way["gpus"]) - 1, way["gpus"][-1], 7)):
            if nic is not None:
                panel.annotate(f"NIC {nic}", (place, gpu + shift), xytext=(offset, 0), textcoords="offset points",
                               ha="right" if offset < 0 else "left", va="center", fontsize=7.5,
                               color=axes.PALETTE[index % len(axes.PALETTE)])
    gpus = max(gpu for way in drawn for gpu in way["gpus"])
    longest = max(len(way["gpus"]) for way in drawn)
    panel.set_yticks(range(gpus + 1), [f"GPU {gpu}" for gpu in range(gpus + 1)])
    panel.set_ylim(gpus + 0.5, -0.5)
    panel.set_xlim(-0.9, longest - 0.1)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("place on the way through a node"
                     + (f"; the first {MOST_WAYS} of {len(ways)} ways" if len(ways) > MOST_WAYS else ""))
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5)


def draw(explanation):
    axes.style()
    pictures.text_stays_text()
    ways = [way for way in explanation["ways"] if len(way["gpus"]) > 1]
    candidates = len(can_run(explanation))
    heights = [0.32 * candidates + 0.7]
    if explanation["phases_us"]:
        heights.append(1.7)
    links = used_links(explanation)
    if links:
        heights.append(0.24 * len(links) + 0.5)
    if ways:
        heights.append(3.2)
    figure, panels = pyplot.subplots(len(heights), 1, figsize=(9.5, sum(heights) + 0.95 * len(heights)), squeeze=False,
                                     gridspec_kw={"height_ratios": heights}, layout="constrained")
    chosen = explanation["chosen"]
    figure.suptitle(f'{explanation["collective"]}: {axes.time_label(chosen["time_us"])}, limited by '
                    f'{explanation["limited_by"]}\n{explanation["cluster"]}', fontsize=11.5)
    left = list(panels[:, 0])
    draw_candidates(left.pop(0), explanation)
    if explanation["phases_us"]:
        draw_pipeline(left.pop(0), explanation)
    if links:
        draw_links(left.pop(0), links)
    if ways:
        draw_ways(left.pop(0), ways)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("explanation", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    try:
        explanation = foreign.load_printable(arguments.explanation)
        pictures.save(draw(explanation), arguments.output)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"plot_explanation: {error!r} in {arguments.explanation}", file=sys.stderr)
        return 4
    print(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
