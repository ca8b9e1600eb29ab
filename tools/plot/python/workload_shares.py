"""How waits and slowdowns of jobs are distributed."""

import math

from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator


LEAST_DURATION = 10  # seconds: as of slowdown_mean
MOST_POINTS = 400
MOST_CLASSES = 6  # that have a line each
TIMES = ((1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"), (36000, "10 h"), (360000, "100 h"),
         (3600000, "1,000 h"))


def waits(jobs):
    return [job.started - job.submitted for job in jobs if math.isfinite(job.started)]


def slowdowns(jobs):
    return [max(1.0, (job.ended - job.submitted) / max(job.duration, LEAST_DURATION)) for job in jobs if math.isfinite(job.ended)]


def curve(values, least):
    """Points of the share of values that are no more than so much; what is below `least` stands there."""
    values = sorted(max(value, least) for value in values)
    places = range(len(values))
    if len(values) > MOST_POINTS:
        places = sorted({round(step * (len(values) - 1) / (MOST_POINTS - 1)) for step in range(MOST_POINTS)})
    return [values[place] for place in places], [100 * (place + 1) / len(values) for place in places]


def line(area, values, least, **options):
    if values:
        xs, shares = curve(values, least)
        area.step([least] + xs, [0] + shares, where="post", **options)


def frame(area, label, least, most):
    area.set(xscale="log", ylim=(0, 102), xlabel=label, ylabel="Share of jobs (%)")
    area.set_xlim(0.9 * least, max(most, 10 * least) * 1.1)
    area.xaxis.set_minor_locator(NullLocator())
    area.xaxis.set_minor_formatter(NullFormatter())


def frame_of_waits(area, most):
    frame(area, "Wait from submission to start, at most", 1, most)
    ticks = [(value, name) for value, name in TIMES if value <= max(most, 10) * 1.1]
    area.xaxis.set_major_locator(FixedLocator([value for value, _ in ticks]))
    names = dict(ticks)
    names[1] = "≤ 1 s"
    area.xaxis.set_major_formatter(FuncFormatter(lambda value, _: names.get(round(value), "")))
    if len(ticks) > 6:
        area.tick_params(axis="x", labelsize=9.5)


def frame_of_slowdowns(area, most):
    frame(area, "Slowdown (submission to end / duration), at most", 1, most)
    top = max(most, 10)
    ticks = [digit * 10 ** power for power in range(8) for digit in ((1, 2, 5) if top < 300 else (1,))]
    area.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if tick <= top * 1.1]))
    area.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def nothing(area, words):
    area.text(0.5, 0.5, words, transform=area.transAxes, ha="center", va="center", color="#555555")


def draw(area, run, classes, values_of, frame_it, none):
    """Of all jobs, and of each class of them where these are few and large."""
    values = values_of(run.jobs)
    if classes.word in ("queue", "user") and classes.count() <= MOST_CLASSES:
        for number in range(classes.count()):
            of_class = [job for job, other in zip(run.jobs, classes.of_job) if other == number]
            line(area, values_of(of_class), 1, color=classes.colour(number), linewidth=1.1)
    line(area, values, 1, color="#111111", linewidth=1.6)
    frame_it(area, max(values, default=1))
    if not values:
        nothing(area, none)
    elif max(values) <= 1:
        nothing(area, NONE_AT_ALL[values_of])


def draw_waits(area, run, classes):
    draw(area, run, classes, waits, frame_of_waits, "No job has started.")


def draw_slowdowns(area, run, classes):
    draw(area, run, classes, slowdowns, frame_of_slowdowns, "No job has ended.")


def draw_cases(areas, runs, colours):
    """Waits and slowdowns of several runs; where lines coincide, the ones below still show."""
    for area, values_of, frame_it in ((areas[0], waits, frame_of_waits), (areas[1], slowdowns, frame_of_slowdowns)):
        for place, (run, colour) in enumerate(zip(runs, colours)):
            line(area, values_of(run.jobs), 1, color=colour, linewidth=thickness(place, len(runs)), label=run.case)
        most = max((max(values_of(run.jobs), default=1) for run in runs), default=1)
        frame_it(area, most)
        if most <= 1:
            nothing(area, NONE_AT_ALL[values_of])


def thickness(place, count):
    return 1.3 + 0.7 * (count - 1 - place)


NONE_AT_ALL = {waits: "No job waited.", slowdowns: "No job was slowed down."}
