"""Jobs of a workload, as `athanor run --per-job FILE` lists them."""

import csv
import dataclasses
import math

import foreign

COLUMNS = ("case", "seed", "name", "gpus", "submitted_s", "started_s", "ended_s", "duration_s", "starts", "nodes")
LEAST_DURATION = 10  # seconds: as of slowdown_mean
SPANS = ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))


@dataclasses.dataclass
class Job:
    name: str
    gpus: float
    submitted: float
    started: float  # infinity: never
    ended: float  # infinity: not yet
    duration: float
    nodes: list  # of its last start, each with its share of a row: (node, GPUs)


def number(text):
    return float(text) if text else math.inf


def places(text):
    return [(int(node), int(gpus)) for node, gpus in (place.split(":") for place in text.split())]


def jobs_of(path):
    """The jobs of the first case and seed of a file. Raises foreign.InputError where it is none."""
    with path.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        lacking = [column for column in COLUMNS if column not in (table.fieldnames or [])]
        if lacking:
            raise foreign.InputError(f"{path}: there is no column '{lacking[0]}'; `athanor run --per-job FILE` writes such a file")
        rows = list(table)
    rows = [row for row in rows if (row["case"], row["seed"]) == (rows[0]["case"], rows[0]["seed"])]
    try:
        jobs = [Job(row["name"], float(row["gpus"]), float(row["submitted_s"]), number(row["started_s"]), number(row["ended_s"]),
                    float(row["duration_s"]), places(row["nodes"])) for row in rows]
    except ValueError as error:
        raise foreign.InputError(f"{path}: {error}") from error
    if not jobs:
        raise foreign.InputError(f"{path}: there is no job in it")
    return jobs


def unit_of(jobs):
    """The largest unit of time of which they take two, and its name."""
    last = max(job.ended if math.isfinite(job.ended) else job.submitted for job in jobs)
    return next(((length, name) for length, name in SPANS if last >= 2 * length), SPANS[-1])


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
