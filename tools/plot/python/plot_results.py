#!/usr/bin/env python3
"""Draws the results of `athanor run --json FILE`, of a sweep, or of `athanor compare --json FILE`.

    plot_results.py RESULT.json --out DIRECTORY [--figure KEY] [--label NAME]

`athanor plot` adds "figures" to the file, the columns of results as they are declared; sweeps and comparisons need them.
For each case CASE.svg and CASE.png: time and bus bandwidth over size, simulated, measured and as the hardware allows.
Where several cases of one collective have no measurement, a comparison of them as well. Of steps of training where the
time of each went (steps.svg), and simulated against measured times (steps-measured.svg). Of a sweep: over what was varied
(over-*.svg), bars of what are no numbers (by-*.svg), and of two parameters a map (map.svg). Of a comparison: ratios over
size (ratios.svg), and what is best for its cost (pareto.svg). Prints the path of every file
it writes. Exit status: 0, 2 for a wrong command line, 4 for a file that cannot be read, drawn or written.
"""

import argparse
import pathlib
import sys

import interpreter

interpreter.require_module("matplotlib")

import matplotlib  # noqa: E402  (only now is it known to be there)

matplotlib.use("Agg")

import axes  # noqa: E402
import figure_keys  # noqa: E402
import figures  # noqa: E402
import output_files  # noqa: E402
import pareto  # noqa: E402
import report_tables  # noqa: E402
import results  # noqa: E402
import sweep_figures  # noqa: E402
import training_figures  # noqa: E402


def unmeasured_by_collective(cases):
    """Cases without a measurement, grouped by what they have in common."""
    groups = {}
    for name, rows in cases.items():
        if not results.with_key(rows, "measured_time_us"):
            groups.setdefault(rows[0]["collective"], {})[name] = rows
    return {collective: group for collective, group in groups.items() if len(group) > 1}


def draw_steps(rows, directory):
    """The pictures of steps of training; yields the paths."""
    yield from axes.save(training_figures.breakdown_figure(rows, "Steps of training: where the time goes"), directory / "steps")
    measured = {}
    for row in rows:
        if "measured_time_s" in row:
            measured.setdefault(pathlib.Path(row["scenario"]).stem, []).append(row)
    if measured:
        yield from axes.save(training_figures.measured_figure(measured, "Steps of training, simulated and measured"),
                             directory / "steps-measured")


def draw_sweep(rows, declared, key, directory):
    """The pictures of a sweep; of one with a single point those of its cases. Yields the paths."""
    rows = results.done(rows)
    stems = output_files.Stems()
    for name, figure in sweep_figures.of_sweep(rows, declared, key):
        yield from axes.save(figure, directory / stems.take(name))
    if not stems.used:
        yield from draw_cases(rows, directory)


def draw_comparison(contest, declared, directory):
    """Yields the paths. Throws ResultError where there is nothing to draw."""
    figures_of = {"ratios": report_tables.comparison_figure, "pareto": pareto.figure_of}
    drawn = {name: figure for name, figure in ((name, make(contest, declared)) for name, make in figures_of.items()) if figure}
    if not drawn:
        raise results.ResultError("a comparison is drawn over several sizes, or of costs: compare --pareto KEY")
    for name, figure in drawn.items():
        yield from axes.save(figure, directory / name)


def draw_cases(rows, directory):
    steps = results.steps_of(rows)
    yield from draw_steps(steps, directory) if steps else draw(results.sizes_of(rows), directory)


def draw(rows, directory):
    """Writes every figure of collectives; yields the paths."""
    cases = results.by_case(rows)
    stems = output_files.Stems()
    for name, group in cases.items():
        yield from axes.save(figures.case_figure(name, group), directory / stems.take(name))
    for collective, group in unmeasured_by_collective(cases).items():
        yield from axes.save(figures.comparison_figure(collective, group), directory / stems.take(f"comparison-{collective}"))


def drawn(document, key, directory):
    """Whatever the document is; yields the paths."""
    declared = figure_keys.Figures(document.get("figures", []))
    if "alternatives" in document:
        return draw_comparison(document, declared, directory)
    if results.of_sweep(document["results"]):
        return draw_sweep(document["results"], declared, key, directory)
    if key:
        raise results.ResultError("--figure is for sweeps, and this is none")
    return draw_cases(document["results"], directory)


def arguments():
    parser = argparse.ArgumentParser(description="Draws results, sweeps and comparisons.")
    parser.add_argument("result", type=pathlib.Path, help="the result file")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="where the plots go (made if absent)")
    parser.add_argument("--figure", help="of a sweep: this key of its results")
    parser.add_argument("--label", help="what messages call the file")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        document = results.document_of(options.result)
        axes.style()
        for path in drawn(document, options.figure, options.out):
            print(path)
    except (results.ResultError, OSError) as error:
        print(f"plot_results.py: {options.label or options.result}: {error}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
