"""What slowed jobs down that trained or read data: their places, others, and waiting for data."""

import axes as look

MOST_BARS = 24
PLACE, OTHERS, ALONE = "#E69F00", "#D55E00", "#56B4E9"


def names_of(run, rows):
    """With the number of a job where several have its name."""
    names = [job.name for job in run.jobs]
    twice = {name for name in (names[row["job"]] for row in rows) if names.count(name) > 1}
    return [name_of(run.jobs[row["job"]], f" {row['job']}" if names[row["job"]] in twice else "") for row in rows]


def name_of(job, number):
    name = job.name if len(job.name) <= 22 else job.name[:21] + "…"
    return f"{name}{number} ({job.gpus:g})"


def bars(area, names, parts, label):
    """A bar for each job, of parts one behind the other: (name, colour, values)."""
    left = [0.0] * len(names)
    for name, colour, values in parts:
        if max(values) <= 0:
            continue
        area.barh(range(len(names)), values, left=left, height=0.66, color=colour, label=name, edgecolor="white", linewidth=0.4)
        left = [start + value for start, value in zip(left, values)]
    area.set_yticks(range(len(names)), names, fontsize=9.5)
    area.set(ylim=(len(names) - 0.4, -0.6), xlabel=label)
    area.grid(axis="y", visible=False)
    area.tick_params(axis="y", length=0)


def draw_trainings(area, run):
    """How many times as long steps take as on the first nodes of an empty cluster, and why."""
    rows = sorted(run.trainings, key=lambda row: -row["placement"] * row["others"])
    label = "Time of a step, as a multiple of that on the first nodes of an empty cluster"
    if len(rows) > MOST_BARS:
        for key, colour, name in (("placement", PLACE, "by their places"), ("others", OTHERS, "by other trainings")):
            values = sorted(row[key] for row in rows)
            area.step(values, [100 * (place + 1) / len(values) for place in range(len(values))], where="post", color=colour, label=name)
        area.set(ylim=(0, 102), ylabel="Share of trainings (%)", xlabel="Slowdown (times), at most")
        area.set_xlim(left=min(1, min(min(row["placement"], row["others"]) for row in rows)))
        area.legend(frameon=False, loc="lower right")
        return
    bars(area, names_of(run, rows),
         (("alone, on the first nodes", ALONE, [min(1, row["placement"]) for row in rows]),
          ("by its place", PLACE, [max(0, row["placement"] - 1) for row in rows]),
          ("by other trainings", OTHERS, [row["placement"] * (row["others"] - 1) for row in rows])), label)
    area.axvline(1, color="#111111", linewidth=0.8)
    for place, row in enumerate(rows):
        area.text(row["placement"] * row["others"], place, f" {row['placement'] * row['others']:.2f}", va="center", fontsize=9)
    area.margins(x=0.1)
    area.set_ylabel("Training (GPUs)")
    look.legend_below(area, 3)


def mean(values, weights):
    return sum(weight * value for weight, value in zip(weights, values)) / (sum(weights) or 1)


def draw_means(area, runs):
    """Of several runs what a step takes, on average of all trainings as results have it: by the GPU hours of their work."""
    means = []
    for run in runs:
        weights = [run.jobs[row["job"]].gpus * row["best"] for row in run.trainings]
        means.append([mean(values, weights) for values in ([row["placement"] for row in run.trainings],
                                                           [row["placement"] * row["others"] for row in run.trainings])])
    bars(area, [run.case for run in runs],
         (("alone, on the first nodes", ALONE, [min(1, place) for place, _ in means]),
          ("by places", PLACE, [max(0, place - 1) for place, _ in means]),
          ("by other trainings", OTHERS, [both - place for place, both in means])), "Time of a step (1: alone, on the first nodes)")
    for place, (_, both) in enumerate(means):
        area.text(both, place, f" {both:.2f}", va="center", fontsize=9.5)
    area.margins(x=0.08)
    look.legend_below(area, 3)


def draw_data_means(area, runs):
    """Of several runs how long jobs wait for data, by their GPU hours, and how much of all data came from caches."""
    means = [(mean([100 * (row["fetching"] + row["preparing"]) for row in run.data],
                   [run.jobs[row["job"]].gpus * row["working"] for row in run.data]),
              mean([100 * row["hits"] for row in run.data], [row["read"] for row in run.data])) for run in runs]
    for shift, value, colour, label in ((-0.2, 0, OTHERS, "time that jobs wait for data"), (0.2, 1, ALONE, "data from caches")):
        drawn = area.barh([place + shift for place in range(len(runs))], [of_run[value] for of_run in means], height=0.36, color=colour,
                          label=label)
        area.bar_label(drawn, [f"{of_run[value]:.1f} %" for of_run in means], padding=3, fontsize=9.5)
    area.set_yticks(range(len(runs)), [run.case for run in runs])
    area.set(ylim=(len(runs) - 0.45, -0.55), xlim=(0, 108), xlabel="Share, of all jobs that read (%)")
    area.grid(axis="y", visible=False)
    area.tick_params(axis="y", length=0)
    look.legend_below(area, 2)


def draw_data(areas, run):
    """For how much of their time jobs wait for data, and how much of it came from caches."""
    stalls, hits = areas
    rows = sorted(run.data, key=lambda row: -row["fetching"] - row["preparing"])
    if len(rows) > MOST_BARS:
        for area, values, label, colour in ((stalls, [100 * (row["fetching"] + row["preparing"]) for row in rows],
                                             "Time waiting for data (%), at most", OTHERS),
                                            (hits, [100 * row["hits"] for row in rows], "Bytes from caches (%), at most", ALONE)):
            values.sort()
            area.step(values, [100 * (place + 1) / len(values) for place in range(len(values))], where="post", color=colour)
            area.set(ylim=(0, 102), xlim=(0, 100), ylabel="Share of jobs (%)", xlabel=label)
        return
    bars(stalls, names_of(run, rows), (("for storage and caches", OTHERS, [100 * row["fetching"] for row in rows]),
                                       ("for cores that prepare it", PLACE, [100 * row["preparing"] for row in rows])),
         "Time that jobs wait for data (%)")
    bars(hits, names_of(run, rows), (("", ALONE, [100 * row["hits"] for row in rows]),), "Bytes that came from caches (%)")
    stalls.set_xlim(0, 100)
    hits.set_xlim(0, 100)
    hits.set_yticks([])
    stalls.set_ylabel("Job (GPUs)")
    look.legend_below(stalls, 2)
