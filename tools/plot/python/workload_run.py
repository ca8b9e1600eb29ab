"""What became of a workload: read from what the program hands over, or from what `athanor run --per-job` wrote."""

import csv
import dataclasses
import math

import foreign

COLUMNS = ("case", "seed", "name", "gpus", "submitted_s", "started_s", "ended_s", "duration_s", "starts", "nodes")
SPANS = ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))


@dataclasses.dataclass
class Job:
    name: str
    user: str
    queue: str
    gpus: float
    submitted: float
    started: float  # infinity: never
    ended: float  # infinity: not yet
    duration: float


@dataclasses.dataclass
class Stint:
    """A stay of a job on nodes: runs of them with equally many GPUs each."""

    job: int
    since: float
    until: float
    places: list  # (first, last, GPUs on each)


@dataclasses.dataclass
class Run:
    """One case with one seed. What nobody knows is empty."""

    case: str
    jobs: list
    stints: list
    ended: float
    node_gpus: list  # of each node
    domains: list  # of each node
    tier: str = "cluster"
    title: str = ""
    outages: list = dataclasses.field(default_factory=list)  # (node, since, until, source)
    gpu_hours: dict = dataclasses.field(default_factory=dict)
    lost: dict = dataclasses.field(default_factory=dict)
    domain_hours: list = dataclasses.field(default_factory=list)  # (used, down, idle)
    trainings: list = dataclasses.field(default_factory=list)
    data: list = dataclasses.field(default_factory=list)
    links: dict = dataclasses.field(default_factory=dict)
    stuck: list = dataclasses.field(default_factory=list)  # jobs and why

    def unit(self):
        """The largest unit of time of which it takes two, and its name."""
        return next(((length, name) for length, name in SPANS if self.ended >= 2 * length), SPANS[-1])

    def gpus(self):
        return sum(self.node_gpus)

    def runs_at_end(self):
        """Of each job, whether it has nodes then."""
        last = [-1.0] * len(self.jobs)
        for stint in self.stints:
            last[stint.job] = max(last[stint.job], stint.until)
        return [until >= self.ended for until in last]

    def gpu_seconds(self):
        """That each job had."""
        had = [0.0] * len(self.jobs)
        for stint in self.stints:
            had[stint.job] += (stint.until - stint.since) * sum((last - first + 1) * gpus for first, last, gpus in stint.places)
        return had


def counted(count, word):
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def shown(ended):
    """Where nothing ever ran, a second is shown in which nothing does."""
    return ended or 1.0


def never(value):
    return math.inf if value is None else float(value)


def heading(given, jobs, node_gpus):
    seeds = f", the first of {given['seeds']} seeds" if given.get("seeds", 0) > 1 else ""
    return (f"{counted(len(jobs), 'job')} on {counted(sum(node_gpus), 'GPU')} of {counted(len(node_gpus), 'node')}: "
            f"{given['scheduler']}, {given['placement']}{seeds}")


def of_json(given):
    """Of one element of "runs" (models/experiments/shared_cluster_picture.hpp)."""
    columns = given["jobs"]
    rows = zip(columns["name"], columns["user"], columns["queue"], columns["gpus"], columns["submitted"], columns["started"],
               columns["ended"], columns["duration"])
    jobs = [Job(name, user, queue, gpus, submitted, never(started), never(ended), duration)
            for name, user, queue, gpus, submitted, started, ended, duration in rows]
    stints = [Stint(job, since, until, places) for job, since, until, places in given["stints"]]
    return Run(case=given.get("case", ""), jobs=jobs, stints=stints, ended=shown(given["ended"]), node_gpus=given["nodes"]["gpus"],
               domains=given["nodes"]["domains"], tier=given["tier"], title=heading(given, jobs, given["nodes"]["gpus"]),
               outages=given["outages"], gpu_hours=given["gpu_hours"], lost=given["lost"],
               domain_hours=given["domain_hours"], trainings=given.get("trainings", []), data=given.get("data", []),
               links=given.get("links", {}), stuck=given["stuck"])


def places_of(text):
    """"0:8 1:8 3:0.46" as runs of nodes."""
    gpus = {}
    for place in text.split():
        node, _, here = place.partition(":")
        gpus[int(node)] = gpus.get(int(node), 0) + float(here)
    places = []
    for node, here in sorted(gpus.items()):
        if places and places[-1][1] == node - 1 and places[-1][2] == here:
            places[-1] = (places[-1][0], node, here)
        else:
            places.append((node, node, here))
    return places


def of_rows(case, rows):
    """Of rows of --per-job. A job counts as being where it was last, from its first start to its end."""
    jobs, stints, data = [], [], []
    for number, row in enumerate(rows):
        job = Job(row["name"], row.get("user") or "", row.get("queue") or "", float(row["gpus"]), float(row["submitted_s"]),
                  never(row["started_s"] or None), never(row["ended_s"] or None), float(row["duration_s"]))
        jobs.append(job)
        if math.isfinite(job.started):
            stints.append(Stint(number, job.started, job.ended, places_of(row["nodes"])))
        if row.get("stall"):
            data.append({"job": number, "fetching": float(row["stall"]), "preparing": 0.0, "hits": float(row["hits"]),
                         "working": job.ended - job.started if math.isfinite(job.ended) else 0.0, "read": 1.0})
    ended = shown(max([job.ended for job in jobs if math.isfinite(job.ended)] + [job.submitted for job in jobs]))
    for stint in stints:
        stint.until = max(stint.since, min(stint.until, ended))
    node_gpus = gpus_seen(stints)
    title = f"{counted(len(jobs), 'job')} on {counted(len(node_gpus), 'node')}"
    return Run(case=case, jobs=jobs, stints=stints, ended=ended, node_gpus=node_gpus, domains=[0] * len(node_gpus), title=title,
               data=data)


def gpus_seen(stints):
    """Of each node as many as some job had there."""
    most = {}
    for stint in stints:
        for first, last, gpus in stint.places:
            for node in range(first, last + 1):
                most[node] = max(most.get(node, 1), gpus)
    return [math.ceil(most.get(node, 1)) for node in range(max(most, default=-1) + 1)]


def runs_of_list(path):
    """Of each case with its first seed. Raises foreign.InputError where the file is no list of jobs."""
    with path.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        lacking = [column for column in COLUMNS if column not in (table.fieldnames or [])]
        if lacking:
            raise foreign.InputError(f"{path}: there is no column '{lacking[0]}'; `athanor run --per-job FILE` writes such a file")
        by_case = {}
        for row in foreign.printable(list(table)):
            of_case = by_case.setdefault(row["case"], [])
            if not of_case or of_case[0]["seed"] == row["seed"]:
                of_case.append(row)
    try:
        runs = [of_rows(case, rows) for case, rows in by_case.items()]
    except ValueError as error:
        raise foreign.InputError(f"{path}: {error}") from error
    if not runs:
        raise foreign.InputError(f"{path}: there is no job in it")
    return runs


def runs_of(path, cases=()):
    """All runs of a file, or those of these cases. Raises foreign.InputError."""
    runs = list(map(of_json, foreign.document(path)["runs"])) if path.suffix == ".json" else runs_of_list(path)
    there = [run.case for run in runs]
    for case in cases:
        if case not in there:
            raise foreign.InputError(f"{path}: there is no case '{case}'; there are {', '.join(there)}")
    return [run for run in runs if not cases or run.case in cases]
