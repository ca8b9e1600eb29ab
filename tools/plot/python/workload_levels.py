"""What a cluster does over time: GPUs in use, and jobs that wait."""

import math

from matplotlib.ticker import FuncFormatter


MOST_POINTS = 480
WHOLE = FuncFormatter(lambda value, _: f"{value:,.0f}")
USED, WAITING = "#0072B2", "#D55E00"


def steps(changes):
    """Times and levels of what goes up and down: pairs of a time and by how much. What happens at once is one step."""
    sums = {0: 0}
    for time, by in changes:
        sums[time] = sums.get(time, 0) + by
    times, levels, level = sorted(sums), [], 0
    for time in times:
        level += sums[time]
        levels.append(level)
    return times, levels


def averaged(times, levels, end):
    """The same with fewer points: averages of equal spans, where there are too many."""
    if len(times) <= MOST_POINTS:
        return times, levels
    width, sums = end / MOST_POINTS, [0.0] * MOST_POINTS
    for since, until, level in zip(times, times[1:] + [end], levels):
        while since < until:
            span = min(int(since / width), MOST_POINTS - 1)
            to = until if span == MOST_POINTS - 1 else min(until, width * (span + 1))
            if to <= since:  # the end of a span, rounded
                to = math.nextafter(since, math.inf)
            sums[span] += level * (to - since)
            since = to
    return [span * width for span in range(MOST_POINTS)], [total / width for total in sums]


def in_use(run):
    changes = [change for stint in run.stints for places in [sum((last - first + 1) * gpus for first, last, gpus in stint.places)]
               for change in ((stint.since, places), (stint.until, -places))]
    return averaged(*steps(changes), run.ended)


def waiting(run):
    """From submission to the first start, and from the loss of nodes to the next one."""
    since = [job.submitted for job in run.jobs]
    changes = []
    for stint in sorted(run.stints, key=lambda stint: (stint.since, stint.until)):
        if stint.since > since[stint.job]:
            changes += [(since[stint.job], 1), (stint.since, -1)]
        since[stint.job] = stint.until
    changes += [(left, 1) for left, job, runs in zip(since, run.jobs, run.runs_at_end()) if not math.isfinite(job.ended) and not runs]
    return averaged(*steps(changes), run.ended)


def up(run):
    """GPUs of nodes that are not down."""
    changes = [(0, run.gpus())]
    spans = {}
    for node, since, until, _ in sorted(run.outages, key=lambda outage: outage[:3]):
        since = max(since, spans.get(node, 0))
        if until > since:
            spans[node] = until
            changes += [(since, -run.node_gpus[node]), (until, run.node_gpus[node])]
    return steps(changes)


def line(area, times, levels, until, unit, **options):
    area.step([time / unit for time in times] + [until / unit], list(levels) + list(levels[-1:]), where="post", **options)


def draw_used(area, run, unit, until, **options):
    line(area, *in_use(run), until, unit, **options)


def draw_waiting(area, run, unit, until, **options):
    """Beyond the end of a run whoever waits then waits for ever."""
    line(area, *waiting(run), until, unit, **options)


def frame_of_waiting(area):
    """From none on, and in whole jobs, also where none waits."""
    area.set_ylim(bottom=0, top=max(1.08, 1.04 * area.get_ylim()[1]))
    area.yaxis.get_major_locator().set_params(integer=True)
    area.yaxis.set_major_formatter(WHOLE)


def draw(area, run):
    unit, name = run.unit()
    times, levels = in_use(run)
    area.fill_between([time / unit for time in times] + [run.ended / unit], list(levels) + levels[-1:], step="post", color=USED,
                      alpha=0.25, linewidth=0)
    draw_used(area, run, unit, run.ended, color=USED, linewidth=1)
    line(area, *up(run), run.ended, unit, color="#555555", linewidth=0.9, linestyle=(0, (4, 2)))
    area.set_ylabel("GPUs in use", color=USED)
    area.set(ylim=(0, 1.08 * max(run.gpus(), 1)), xlim=(0, run.ended / unit), xlabel=f"Time ({name})")
    area.grid(axis="x", visible=False)
    area.yaxis.set_major_formatter(WHOLE)
    area.text(1, run.gpus(), " all that are up" if run.outages else " all", transform=area.get_yaxis_transform(), va="bottom",
              ha="right", fontsize=9, color="#555555")
    beside = area.twinx()
    draw_waiting(beside, run, unit, run.ended, color=WAITING, linewidth=1)
    beside.set_ylabel("Jobs waiting", color=WAITING)
    frame_of_waiting(beside)
    beside.grid(visible=False)
    beside.spines["right"].set_visible(False)
