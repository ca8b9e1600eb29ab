#!/usr/bin/env python3
"""Draws workloads, as `athanor plot jobs` hands over what became of them, or as `athanor run --per-job FILE` lists their jobs.

    plot_jobs.py RUNS.json|JOBS.csv --output PICTURE.svg|.png|.pdf [--figure KEY] [--case NAME] [--title TEXT] [--name NAME]

Of one run: which job was on which nodes when, GPUs in use and jobs waiting over time, how waits and slowdowns are
distributed, what GPU hours were lost to, how switches and their nodes were used, what trainings and data cost. Of several
cases these side by side. --figure draws one of these alone. Of a list of jobs, a job counts as running where it was last,
from its first start to its end. Exit status: 0, 2 for a wrong command line, 4 for a file that cannot be read or drawn.
"""

import argparse
import pathlib
import sys

from interpreter import require_module

require_module("matplotlib")

import matplotlib

matplotlib.use("Agg")

import axes
import foreign
import pictures
import workload_figures
import workload_run

FIGURES = (*workload_figures.PARTS, "cases")


def picture(options):
    if options.figure and options.figure not in FIGURES:
        raise foreign.InputError(f"--figure {options.figure}: of jobs there are {', '.join(FIGURES)}")
    runs = workload_run.runs_of(options.jobs, options.case)
    figure = workload_figures.figure_of(runs, options.figure, options.title)
    if figure is None:
        raise foreign.InputError(f"{options.name or options.jobs}: there is nothing to draw for --figure {options.figure}; leave it out")
    return figure


def main():
    parser = argparse.ArgumentParser(description="Draws workloads.")
    parser.add_argument("jobs", type=pathlib.Path, help="what became of them, or the list of their jobs")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the picture: .svg, .png or .pdf")
    parser.add_argument("--figure", default="", help=f"one of {', '.join(FIGURES)}")
    parser.add_argument("--case", action="append", default=[], help="this case; repeatable")
    parser.add_argument("--title", default="")
    parser.add_argument("--name", default="", help="what messages call the input, where that is made of another file")
    options = parser.parse_args()
    try:
        axes.style()
        pictures.text_stays_text()
        pictures.save(picture(options), options.output)
        print(options.output)
    except (foreign.InputError, OSError) as error:
        print(f"plot_jobs.py: {error}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
