"""Figures of workloads: a page of one run, several runs side by side, and each picture alone."""

import textwrap

from matplotlib import pyplot

import axes as look
import workload_colours as colouring
import workload_hours
import workload_levels
import workload_links
import workload_nodes
import workload_shares
import workload_speeds

MOST_CASES = 8  # side by side
MOST_ALIKE = 6  # pictures of one kind below each other
MOST_STUCK = 3  # jobs that are named


class Part:
    """A strip of a page: its height in inches, whether a run has it, and how it is drawn on so many areas."""

    def __init__(self, height, draw, areas=1, there=lambda run: True, **layout):
        self.height, self.draw, self.there = height, draw, there
        self.layout = {"nrows": 1, "ncols": areas, "squeeze": False, **layout}


def draw_nodes(areas, run, classes):
    workload_nodes.draw(areas[0], run, classes)
    areas[0].set_xlabel(f"Time ({run.unit()[1]})")
    colouring.legend(areas[0], classes, run.outages, 0.5)


def draw_time(areas, run, classes):
    """Nodes, and what is used of them below, over one axis of time."""
    workload_nodes.draw(areas[0], run, classes)
    workload_levels.draw(areas[1], run)
    colouring.legend(areas[1], classes, run.outages, 0.5)


def draw_waits(areas, run, classes):
    workload_shares.draw_waits(areas[0], run, classes)
    workload_shares.draw_slowdowns(areas[1], run, classes)


def draw_hours(areas, run, _classes):
    workload_hours.draw_parts_of(areas[0], run)
    workload_hours.draw_causes(areas[1], run)


def draw_domains(areas, run, _classes):
    workload_hours.draw_domains(areas[0], run)
    workload_hours.draw_spread(areas[1], run)


def height_of_bars(rows, least):
    return max(least, 1.3 + 0.22 * min(len(rows), workload_speeds.MOST_BARS))


PARTS = {
    "nodes": Part(lambda run: 4.2, draw_nodes),
    "levels": Part(lambda run: 2.3, lambda areas, run, _: workload_levels.draw(areas[0], run)),
    "waits": Part(lambda run: 2.6, draw_waits, areas=2),
    "hours": Part(lambda run: 2.6, draw_hours, areas=2, there=workload_hours.has_losses),
    "domains": Part(lambda run: 2.6, draw_domains, areas=2, there=workload_hours.has_domains),
    "trainings": Part(lambda run: height_of_bars(run.trainings, 2.3),
                      lambda areas, run, _: workload_speeds.draw_trainings(areas[0], run), there=lambda run: bool(run.trainings)),
    "data": Part(lambda run: height_of_bars(run.data, 2.2), lambda areas, run, _: workload_speeds.draw_data(areas, run), areas=2,
                 there=lambda run: bool(run.data)),
    "links": Part(lambda run: 3.2, lambda areas, run, _: workload_links.draw(areas, run), areas=2, there=workload_links.has_links,
                  width_ratios=(2.2, 1)),
}
TIME = Part(lambda run: 6.4, draw_time, nrows=2, sharex=True, height_ratios=(2, 1))


def strips(rows, title):
    """A figure of strips one below the other: [(part, run, its title)]."""
    heights = [part.height(run) for part, run, _ in rows]
    figure = pyplot.figure(figsize=(10.5, sum(heights) + 0.5), layout="constrained")
    for (part, run, name), strip in zip(rows, figure.subfigures(len(rows), 1, squeeze=False, height_ratios=heights)[:, 0]):
        areas = strip.subplots(**part.layout).flatten()
        part.draw(list(areas), run, colouring.classes_of(run))
        if name:
            areas[0].set_title(name, loc="left", fontsize=11)
    return titled(figure, title)


def heading(run):
    """The title of a run, and which jobs nothing can help any more: of those there may be nothing to see."""
    lines = [textwrap.shorten(f"Stuck: {each}", 130, placeholder=" ...") for each in run.stuck[:MOST_STUCK]]
    if len(run.stuck) > MOST_STUCK:
        lines.append(f"and {len(run.stuck) - MOST_STUCK} more")
    return "\n".join([run.title, *lines])


def page(run, title):
    """All that is known of one run. `title`: "" where that stands above it already."""
    parts = [TIME] + [part for key, part in PARTS.items() if key not in ("nodes", "levels") and part.there(run)]
    return strips([(part, run, "" if part != TIME else heading(run)) for part in parts], title)


# Of several runs, a bar for each says it shorter than a picture of each.
BARS = {"hours": (workload_hours.draw_parts, "gpu_hours"), "trainings": (workload_speeds.draw_means, "trainings"),
        "data": (workload_speeds.draw_data_means, "data")}


def bars_of(runs):
    """[(key, how it is drawn, the runs that have it)]"""
    having = [(key, draw, [run for run in runs if getattr(run, fact)]) for key, (draw, fact) in BARS.items()]
    return [(key, draw, those) for key, draw, those in having if those]


def height_of_cases(runs):
    return 0.9 + 0.3 * len(runs)


def alone(key, runs, title=""):
    """One picture, of each run that has it; None: none has."""
    for of_bars, draw, those in bars_of(runs):
        if of_bars == key and len(those) > 1:
            figure, area = pyplot.subplots(figsize=(10.5, height_of_cases(those) + 0.6), layout="constrained")
            draw(area, those)
            return titled(figure, title)
    part = PARTS[key]
    rows = [(part, run, run.case) for run in runs if part.there(run)]
    if len(rows) > MOST_ALIKE:
        title = f"{title} (the first {MOST_ALIKE} of {len(rows)} cases)".strip()
        rows = rows[:MOST_ALIKE]
    if len(rows) == 1:
        rows = [(part, rows[0][1], "")]
    return strips(rows, title) if rows else None


def titled(figure, title):
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
    return figure


def cases(runs, title=""):
    """Several runs side by side."""
    if len(runs) > MOST_CASES:
        title = f"{title} (the first {MOST_CASES} of {len(runs)} cases)".strip()
        runs = runs[:MOST_CASES]
    colours = look.PALETTE[:len(runs)]
    bars = bars_of(runs)
    mosaic = [["used", "used"], ["queue", "queue"], ["waits", "slowdowns"]] + [[key, key] for key, _, _ in bars]
    heights = [1.9, 1.6, 2.5] + [height_of_cases(having) for _, _, having in bars]
    figure, areas = pyplot.subplot_mosaic(mosaic, figsize=(10.5, sum(heights) + 1.2), layout="constrained", height_ratios=heights)
    longest = max(runs, key=lambda run: run.ended)
    unit, name = longest.unit()
    for place, (run, colour) in enumerate(zip(runs, colours)):
        look_of_it = {"color": colour, "linewidth": workload_shares.thickness(place, len(runs)), "label": run.case}
        workload_levels.draw_used(areas["used"], run, unit, longest.ended, **look_of_it)
        workload_levels.draw_waiting(areas["queue"], run, unit, longest.ended, **look_of_it)
    for key, label in (("used", "GPUs in use"), ("queue", "Jobs waiting")):
        areas[key].set(ylabel=label, xlim=(0, longest.ended / unit))
        areas[key].yaxis.set_major_formatter(workload_levels.WHOLE)
    areas["used"].set_ylim(bottom=0)
    areas["used"].tick_params(labelbottom=False)
    workload_levels.frame_of_waiting(areas["queue"])
    areas["queue"].set_xlabel(f"Time ({name})")
    workload_shares.draw_cases((areas["waits"], areas["slowdowns"]), runs, colours)
    for key, draw, having in bars:
        draw(areas[key], having)
    if any(run.case for run in runs):
        areas["used"].legend(loc="lower left", bbox_to_anchor=(0, 1.01), borderaxespad=0, ncols=3, frameon=False)
    return titled(figure, title)


def figure_of(runs, key="", title=""):
    """What `athanor plot jobs` draws; None: no run has what `key` names."""
    if key in PARTS:
        return alone(key, runs, title)
    if key == "cases" or len(runs) > 1:
        return cases(runs, title)
    return page(runs[0], title or runs[0].case)
