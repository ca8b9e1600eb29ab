"""How waits and slowdowns of jobs are distributed."""

import math

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator


LEAST_DURATION = 10  # seconds: as of slowdown_mean
MOST_POINTS = 400
MOST_LINEAR = 3  # of slowdowns, that an axis without powers shows best
MOST_CLASSES = 6  # that have a line each
TIMES = ((1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"), (36000, "10 h"), (360000, "100 h"),
         (3600000, "1,000 h"))


def waits(jobs):
    return [job.started - job.submitted for job in jobs if math.isfinite(job.started)]


def slowdowns(jobs):
    return [max(1.0, (job.ended - job.submitted) / max(job.duration, LEAST_DURATION)) for job in jobs if math.isfinite(job.ended)]


def curve(values, least, count):
    """Points of the share, of so many jobs, whose value is no more than so much; what is below `least` stands there."""
    values = sorted(max(value, least) for value in values)
    places = range(len(values))
    if len(values) > MOST_POINTS:
        places = sorted({round(step * (len(values) - 1) / (MOST_POINTS - 1)) for step in range(MOST_POINTS)})
    return [values[place] for place in places], [100 * (place + 1) / count for place in places]


def line(area, jobs, values_of, right, **options):
    """Jobs that have no value yet have a larger one: then the line ends below 100 %."""
    values = values_of(jobs)
    if values:
        xs, shares = curve(values, 1, len(jobs))
        area.step([1] + xs + [right], [0] + shares + shares[-1:], where="post", **options)


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
    frame(area, "Slowdown (completion / duration), at most", 1, most)
    top = max(most, MOST_LINEAR)
    ticks = [digit * 10 ** power for power in range(8) for digit in ((1, 2, 5) if top < 300 else (1,))]
    if most <= MOST_LINEAR:
        ticks = MaxNLocator(6, steps=(1, 2, 5, 10)).tick_values(1, max(most, 1.2))
        area.set(xscale="linear", xlim=(1 - 0.03 * (max(most, 1.2) - 1), 1 + 1.05 * (max(most, 1.2) - 1)))
    area.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if 1 <= tick <= top * 1.1]))
    area.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"))


def nothing(area, words, level=None):
    """In the middle, or below it where a line ends near it, at `level` of all."""
    height = 0.25 if level is not None and abs(level - 0.5) < 0.15 else 0.5
    area.text(0.5, height, words, transform=area.transAxes, ha="center", va="center", color="#555555")


def submitted(run):
    return [job for job in run.jobs if job.submitted <= run.ended]


def words_of(jobs, values_of):
    """What a picture says in which there is nothing to see, or not all."""
    values, known = values_of(jobs), "started" if values_of is waits else "ended"
    if not values:
        return f"No job has {known}."
    if len(values) < len(jobs):
        return f"{len(jobs) - len(values):,} of {len(jobs):,} jobs have not {known}."
    if max(values) <= (0 if values_of is waits else 1):
        return "No job waited for its first start." if values_of is waits else "No job was slowed down."
    if max(values) <= 1:
        return "No job waited longer than a second for its first start."
    return ""


def level_of(jobs, values_of):
    """Where the line of all jobs ends."""
    return len(values_of(jobs)) / max(len(jobs), 1)


def draw(area, run, classes, values_of, frame_it):
    """Of all jobs, and of each class of them where these are few and large."""
    jobs = submitted(run)
    frame_it(area, max(values_of(jobs), default=1))
    right = area.get_xlim()[1]
    if classes.word in ("queue", "user", "kind", "size") and classes.count() <= MOST_CLASSES:
        for number in range(classes.count()):
            of_class = [job for job, other in zip(run.jobs, classes.of_job) if other == number and job.submitted <= run.ended]
            line(area, of_class, values_of, right, color=classes.colour(number), linewidth=1.1)
    line(area, jobs, values_of, right, color="#111111", linewidth=1.6)
    nothing(area, words_of(jobs, values_of), level_of(jobs, values_of))


def draw_waits(area, run, classes):
    draw(area, run, classes, waits, frame_of_waits)


def draw_slowdowns(area, run, classes):
    draw(area, run, classes, slowdowns, frame_of_slowdowns)


def draw_cases(areas, runs, colours):
    """Waits and slowdowns of several runs; where lines coincide, the ones below still show."""
    for area, values_of, frame_it in ((areas[0], waits, frame_of_waits), (areas[1], slowdowns, frame_of_slowdowns)):
        frame_it(area, max((max(values_of(run.jobs), default=1) for run in runs), default=1))
        for place, (run, colour) in enumerate(zip(runs, colours)):
            line(area, submitted(run), values_of, area.get_xlim()[1], color=colour, linewidth=thickness(place, len(runs)), label=run.case)
        words = {words_of(submitted(run), values_of) for run in runs}
        if len(words) == 1:
            nothing(area, words.pop(), level_of(submitted(runs[0]), values_of))


def thickness(place, count):
    return 1.2 + 0.5 * (count - 1 - place)
