"""What colour jobs of a workload have: by queue, user, name, kind or size, whichever tells them apart best."""

import dataclasses
import re

from matplotlib.patches import Patch

import axes as look

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#7A4FA3", "#44AA99", "#8C6D31", "#D55E00", "#882255")
OTHERS = "#BBBBBB"
DOWN = "#222222"
MOST = len(COLOURS)
FEW_JOBS = 60  # that can be told apart by their places alone
SIZES = ((1, "1 GPU"), (8, "up to 8"), (64, "up to 64"), (512, "up to 512"), (float("inf"), "over 512"))
WELL_SEEN = 0.5  # of GPU time, that classes with a colour of their own must have


@dataclasses.dataclass
class Classes:
    word: str  # "queue"; "": each job has a colour, and none means anything
    names: list  # of those with a colour of their own
    of_job: list  # class of each job, by number; len(names): others
    others: bool  # are there any?

    def colour(self, number):
        return OTHERS if self.word and number >= len(self.names) else COLOURS[number % MOST]

    def count(self):
        return len(self.names) + self.others if self.word else MOST

    def handles(self):
        if not self.word:
            return []
        named = [Patch(color=self.colour(number), label=shortened(name)) for number, name in enumerate(self.names)]
        return named + ([Patch(color=OTHERS, label="others")] if self.others else [])


def shortened(name, most=28):
    name = name or "(none)"
    return name if len(name) <= most else name[:most - 1] + "…"


def key_of(job, word):
    """`kind`: the name without a number at its end."""
    return re.sub(r"[-_. ]*\d+$", "", job.name) if word == "kind" else getattr(job, word)


def by(run, word, had):
    sums, keys = {}, [key_of(job, word) for job in run.jobs]
    for key, seconds in zip(keys, had):
        sums[key] = sums.get(key, 0) + seconds
    largest = sorted(sums, key=lambda key: (-sums[key], key))
    named = largest if len(largest) <= MOST else largest[:MOST - 1]
    place = {name: number for number, name in enumerate(named)}
    share = sum(sums[name] for name in named) / (sum(sums.values()) or 1)
    return Classes(word, named, [place.get(key, len(named)) for key in keys], len(named) < len(largest)), share


def by_size(run):
    sizes = [next(number for number, (most, _) in enumerate(SIZES) if job.gpus <= most) for job in run.jobs]
    there = sorted(set(sizes))
    return Classes("size", [SIZES[size][1] for size in there], [there.index(size) for size in sizes], False)


def classes_of(run):
    had = run.gpu_seconds()
    words = ("name", "queue", "user") if len(run.jobs) <= MOST else ("queue", "user", "kind", "name")
    for word in words:
        classes, share = by(run, word, had)
        if (len(classes.names) > 1 or len(run.jobs) == 1) and share >= WELL_SEEN:
            return classes
    return by_size(run) if len(run.jobs) > FEW_JOBS else Classes("", [], list(range(len(run.jobs))), False)


def legend(area, classes, outages, inches):
    handles = classes.handles() + ([Patch(color=DOWN, label="node down")] if outages else [])
    if handles:
        look.legend_below(area, min(5, len(handles)), inches, handles)
