#!/usr/bin/env python3
"""Draws the jobs of a workload, as `athanor run --per-job FILE` lists them.

    plot_jobs.py JOBS.csv --output PICTURE.svg|.png|.pdf

Above, which job was on which nodes when, in the order of nodes; then GPUs in use and jobs waiting over time; below, the shares
of jobs that waited, and were slowed down, no more than so much. A job counts as running from its first start to its end. Exit
status: 0, 2 for a wrong command line, 4 for a file that cannot be read or drawn.
"""

import math
import sys

from interpreter import require_module

require_module("matplotlib")

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, NullFormatter

import job_list
import pictures

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#D55E00", "#7A4FA3", "#44AA99", "#8C6D31", "#882255")


def draw_nodes(area, jobs, unit, end):
    """A line for each node; a job has its part of the line's height by its GPUs."""
    most = {}
    for job in jobs:
        for node, gpus in job.nodes:
            most[node] = max(most.get(node, 1), gpus)
    filled = {}  # by node: (end, bottom) of what is there
    for order, job in enumerate(sorted((each for each in jobs if math.isfinite(each.started)), key=lambda each: each.started)):
        right = min(job.ended, end)
        for node, gpus in job.nodes:
            there = [span for span in filled.get(node, []) if span[0] > job.started]
            bottom = 0.0
            height = max(gpus, 0.5) / most[node]
            for _, low, high in sorted(there, key=lambda span: span[1]):
                if low - bottom >= height - 1e-9:
                    break
                bottom = max(bottom, high)
            filled[node] = there + [(right, bottom, bottom + height)]
            area.broken_barh([(job.started / unit, (right - job.started) / unit)], (node + 0.9 * bottom, 0.9 * height),
                             facecolor=COLOURS[order % len(COLOURS)], edgecolor="white", linewidth=0.2)
    area.set(ylabel="Node", ylim=(max(most, default=0) + 1, 0))
    area.grid(axis="y", visible=False)


def draw_levels(area, jobs, unit, end):
    used = [change for job in jobs if math.isfinite(job.started)
            for change in ((job.started, job.gpus), (min(job.ended, end), -job.gpus))]
    waiting = [change for job in jobs for change in ((job.submitted, 1), (min(job.started, end), -1))]
    for (times, levels), colour, name, side in ((job_list.steps(used), COLOURS[0], "GPUs in use", area),
                                                (job_list.steps(waiting), COLOURS[5], "Jobs waiting", area.twinx())):
        side.step([time / unit for time in times], levels, where="post", color=colour, linewidth=1)
        side.set_ylabel(name, color=colour)
        side.set_ylim(bottom=0)
        side.grid(visible=False)


def draw_shares(area, values, label, least):
    """The share of values that are no more than so much; what is below `least` stands there."""
    values = sorted(max(value, least) for value in values)
    area.step(values + values[-1:], [(place + 1) / len(values) for place in range(len(values))] + [1], where="post", color=COLOURS[0])
    area.set(xscale="log", ylim=(0, 1.02), xlabel=label, ylabel="Share of jobs")
    area.set_xlim(left=least, right=max(values[-1], 10 * least))
    area.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    area.xaxis.set_minor_formatter(NullFormatter())


def picture(path):
    jobs = job_list.jobs_of(path)
    unit, name = job_list.unit_of(jobs)
    end = max([job.ended for job in jobs if math.isfinite(job.ended)] + [job.submitted for job in jobs])
    figure, areas = pyplot.subplot_mosaic([["nodes", "nodes"], ["levels", "levels"], ["waits", "slowdowns"]], figsize=(10.5, 9),
                                          layout="constrained", height_ratios=[2, 1, 1])
    draw_nodes(areas["nodes"], jobs, unit, end)
    draw_levels(areas["levels"], jobs, unit, end)
    for area in (areas["nodes"], areas["levels"]):
        area.set_xlim(0, end / unit)
    areas["levels"].set_xlabel(f"Time ({name})")
    started = [job for job in jobs if math.isfinite(job.started)]
    ended = [job for job in started if math.isfinite(job.ended)]
    if started:
        draw_shares(areas["waits"], [job.started - job.submitted for job in started], "Wait (s); 1: none, or less", 1)
    if ended:
        slowdowns = [(job.ended - job.submitted) / max(job.duration, job_list.LEAST_DURATION) for job in ended]
        draw_shares(areas["slowdowns"], slowdowns, "Slowdown", 1)
    return figure


if __name__ == "__main__":
    sys.exit(pictures.draw_file("Draws the jobs that `athanor run --per-job FILE` listed.", "jobs", "the list", picture))
