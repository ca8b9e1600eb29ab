#!/usr/bin/env python3
"""Draws the pictures of docs/sweeps_results.md.

    plot_sweeps.py DATA.json FOLDER

DATA is what tools/scripts/documents/sweeps collects: the name of a picture -> {"results", "figure": which of the figures of that sweep
it is}, or {"contest"}: its Pareto front.
"""

import pathlib
import sys

from interpreter import require_module

require_module("matplotlib")

import matplotlib

matplotlib.use("Agg")

import axes as look
import foreign
import pareto
import pictures
import sweep_figures


def figure_of(data):
    if "contest" in data:
        return pareto.figure_of(data["contest"])
    return dict(sweep_figures.of_sweep(data["results"]))[data["figure"]]


def main():
    drawn, folder = foreign.load_printable(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])
    look.style()
    pictures.text_stays_text()
    for name, data in drawn.items():
        pictures.save(figure_of(data), folder / f"{name}.svg")


if __name__ == "__main__":
    main()
