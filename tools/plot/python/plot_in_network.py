#!/usr/bin/env python3
"""Draws the pictures of docs/in_network.md.

    plot_in_network.py DATA.json FOLDER    DATA.json: as tools/scripts/documents/in_network writes it; one picture for each key
"""

import pathlib
import sys

from interpreter import require_module

require_module("matplotlib")

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import axes as look
import foreign
import pictures


def panel(headline, width=7.2, height=4.0):
    figure, area = pyplot.subplots(figsize=(width, height), layout="constrained")
    figure.suptitle(headline, ha="left", x=0.02, fontweight="bold")
    return figure, area


def nvls(data):
    """Bus bandwidth over GPUs, and what was measured."""
    figure, area = panel("Ring and NVLS on one H100 node, 4 GiB")
    for index, name in enumerate(("ring", "NVLS")):
        area.plot(data["gpus"], data[name], color=look.PALETTE[index], marker=look.MARKERS[index], label=name)
    area.plot(data["measured gpus"], data["measured"], label="the better of the two, measured", **look.MEASURED)
    area.set(xlabel="GPUs", ylabel="Bus bandwidth (GB/s)", ylim=(0, None))
    area.legend(frameon=False, loc="lower right")
    return figure


def tenants(data):
    """A bar for each job, case by case from above."""
    figure, area = panel("Tenants: time of 64 MiB, job by job", height=6.4)
    place, marks, names, seen = 0, [], [], set()
    for case in data:
        first = place
        for job in case["jobs"]:
            engines = job["algorithm"] == "aggregation_tree"
            label = "by engines" if engines else "rings, fallen back"
            area.barh(place, job["time_us"] - job["waited_us"], left=job["waited_us"], height=0.85,
                      color=look.PALETTE[2 if engines else 1], label=None if label in seen else label)
            seen.add(label)
            place += 1
        marks.append((first + place - 1) / 2)
        names.append(case["case"])
        place += 1
    area.set_yticks(marks, names)
    area.invert_yaxis()
    area.grid(axis="y", visible=False)
    area.set_xlabel("Time (µs); what a job waits for its turn is left blank")
    area.legend(frameon=False)
    return figure


def grouped(headline, data, label):
    """Groups of bars: `groups`, and values by series."""
    figure, area = panel(headline)
    width = 0.8 / len(data["series"])
    for index, (name, values) in enumerate(data["series"].items()):
        places = [group + (index - (len(data["series"]) - 1) / 2) * width for group in range(len(data["groups"]))]
        area.bar(places, values, width=width * 0.92, color=look.PALETTE[index], label=name)
    area.set_xticks(range(len(data["groups"])), data["groups"])
    area.set_ylabel(label)
    area.grid(axis="x", visible=False)
    area.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncol=len(data["series"]))
    return figure


DRAWINGS = {
    "nvls": nvls,
    "tenants": tenants,
    "link-traffic": lambda data: grouped("Bytes on all links of a kind, 64 MiB over 32 hosts", data, "payloads of 64 MiB"),
    "oversubscribed": lambda data: grouped("All-reduce of 256 MiB over 64 hosts", data, "Time (ms)"),
}


def main():
    data, folder = foreign.load_printable(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])
    look.style()
    pictures.text_stays_text()
    for name, draw in DRAWINGS.items():
        pictures.save(draw(data[name]), folder / f"{name}.svg")


if __name__ == "__main__":
    main()
