#!/usr/bin/env python3
"""Writes results as one HTML page that needs nothing else: tables, plots, the scenario and the manifest.

    html_report.py DATA.json --output REPORT.html

DATA is what `athanor report` collects: {"title", "version", "figures": columns of results as they are declared, "inputs":
[{"label", "scenario", "records", "pictures": by case {"use", "schedule", "timeline", "jobs", "left_out"}, "figure": what sweeps
draw, "manifest"}], "comparison"}. Exit status: 0, 2 for a wrong command line, 4 for a file that cannot be read or written.
"""

import argparse
import base64
import html
import io
import itertools
import pathlib
import re
import sys

import interpreter

interpreter.require_module("matplotlib")

import matplotlib  # noqa: E402  (only now is it known to be there)

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

import axes  # noqa: E402
import figure_keys  # noqa: E402
import figures  # noqa: E402
import foreign  # noqa: E402
import output_files  # noqa: E402
import pareto  # noqa: E402
import pictures  # noqa: E402
import plot_schedule  # noqa: E402
import plot_timeline  # noqa: E402
import plot_topology  # noqa: E402
import report_tables  # noqa: E402
import results  # noqa: E402
import schedule  # noqa: E402
import sweep_figures  # noqa: E402
import timeline  # noqa: E402
import topology  # noqa: E402
import training_figures  # noqa: E402
import workload_figures  # noqa: E402
import workload_run  # noqa: E402

MOST_FIGURES = 24
PAGE = pathlib.Path(__file__).with_name("report_page.html")


def picture(figure, description):
    """The figure within the page, as an image that no id or style of the page touches."""
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.15)
    pyplot.close(figure)
    data = base64.b64encode(pictures.smaller(drawn.getvalue()).encode()).decode()
    return f'<img class="plot" alt="{html.escape(description)}" src="data:image/svg+xml;base64,{data}">'


def drawable(rows):
    return [row for row in rows if all(row.get(key) is not None for key in results.REQUIRED)
            and row["bytes"] > 0 and row["time_us"] > 0]


def section(title, body, level=2):
    return f"<section><h{level}>{html.escape(title)}</h{level}>\n{body}\n</section>\n"


def case_pictures(given):
    """What else is drawn of a case: how busy links were, who sends what when, and what was done when."""
    drawn = ""
    if given.get("use"):
        drawn += picture(plot_topology.figure_of(*topology.placed(given["use"], "the report")), "How busy each link was")
    if given.get("schedule"):
        drawn += picture(plot_schedule.figure_of(schedule.checked(given["schedule"], "the report")), "Who sends what to whom")
    if given.get("timeline"):
        workers = timeline.workers_of(pathlib.Path(given["timeline"]))
        last = max(worker.end() for worker in workers)
        drawn += picture(plot_timeline.picture([workers], ["What each worker did when"], (0, last)), "What each worker did when")
    if given.get("jobs"):
        run = workload_run.of_json(given["jobs"])
        drawn += picture(workload_figures.page(run, ""), f"What became of the jobs: {run.case or run.title}")
    if given.get("left_out"):
        drawn += f"<p>{html.escape(given['left_out'])}</p>"
    return drawn


def case_sections(records, pictures_of, declared, room):
    """A plot, more pictures and a table for each case; plots as long as there is room."""
    parts = []
    for name, rows in report_tables.by_case(records).items():
        body = ""
        plotted = drawable(rows)
        if plotted and len({row["bytes"] for row in plotted}) > 1 and room > 0:
            room -= 1
            body += picture(figures.case_figure(name, plotted), f"Time and bus bandwidth over size: {name}")
        body += report_tables.table(rows, declared) + case_pictures(pictures_of.get(rows[0].get("case") or "", {}))
        parts.append(section(name, body, level=3))
    return "".join(parts), room


def steps_picture(records):
    steps = [record for record in records if "breakdown" in record]
    if not steps or results.of_sweep(records):
        return ""
    return picture(training_figures.breakdown_figure(steps, "Where the time of each step goes"), "Where the time of each step goes")


def workloads_picture(pictures_of):
    """Cases that are workloads, side by side; nothing where there are not several."""
    runs = [workload_run.of_json(given["jobs"]) for given in pictures_of.values() if given.get("jobs")]
    return picture(workload_figures.cases(runs), "Workloads side by side") if len(runs) > 1 else ""


def sweep_pictures(records, declared, room, key):
    """The figures of a sweep, as long as there is room; none of one that varies nothing, or whose results have no time."""
    try:
        drawn = itertools.islice(sweep_figures.of_sweep(records, declared, key), room)
        return "".join(picture(figure, f"Sweep: {name.replace('-', ' ')}") for name, figure in drawn)
    except results.ResultError:
        return ""


def input_section(given, declared, room):
    records = [record for record in given["records"] if not isinstance(record.get("error"), dict)]
    failed = [record for record in given["records"] if isinstance(record.get("error"), dict)]
    body = steps_picture(records) + workloads_picture(given.get("pictures", {}))
    if any("parameters" in record for record in given["records"]):
        body += sweep_pictures(records, declared, room, given.get("figure")) + (report_tables.table(records, declared) if records else "")
    else:
        cases, room = case_sections(records, given.get("pictures", {}), declared, room)
        body += cases
    if failed:
        body += section(f"{len(failed)} points failed", report_tables.failures(failed), level=3)
    body += report_tables.manifest(given["manifest"])
    if given["scenario"]:
        body += f"<details><summary>Scenario</summary><pre>{html.escape(given['scenario'])}</pre></details>"
    return section(given["label"], body), room


def comparison_section(comparison, declared):
    if not comparison:
        return ""
    drawn = ""
    for figure, description in ((report_tables.comparison_figure(comparison, declared), "Ratios over size"),
                                (pareto.figure_of(comparison, declared), "What is best for its cost")):
        drawn += picture(figure, description) if figure else ""
    return section("Comparison", drawn + report_tables.comparison(comparison))


def printable(data):
    """All names such that a page can show them, and the lines of scenarios."""
    scenarios = [foreign.printable_lines(given["scenario"]) for given in data["inputs"]]
    data = foreign.printable(data)
    for given, scenario in zip(data["inputs"], scenarios):
        given["scenario"] = scenario
    return data


def page(data):
    room = MOST_FIGURES
    declared = figure_keys.Figures(data["figures"])
    body = comparison_section(data.get("comparison"), declared)
    for given in data["inputs"]:
        text, room = input_section(given, declared, room)
        body += text
    parts = {"title": html.escape(data["title"]), "version": html.escape(data["version"]), "body": body}
    # At once: a name that is spelled like one of the marks is none.
    return re.sub("@(title|version|body)@", lambda mark: parts[mark[1]], PAGE.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description="Writes results as one HTML page.")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    try:
        axes.style()
        pictures.text_stays_text()
        output_files.write_text(options.output, page(printable(foreign.load(options.data))))
    except (OSError, ValueError) as error:
        print(f"html_report.py: {error}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
