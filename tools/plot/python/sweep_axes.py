"""What a sweep varied, as axes of plots: which labels are numbers, and which results stand at which place."""

import json
import math
import re

# Letters behind a number that make it larger; "4:1" is a number, too.
PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2 ** 10, "Mi": 2 ** 20, "Gi": 2 ** 30, "Ti": 2 ** 40,
            "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1}
UNITS = {"B", "B/s", "b/s", "bit/s", "s", "Hz", "W", "FLOP/s"}
QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(.*)")
CASE, SIZE = "case", "bytes"
MOST_LETTERS = 36


def number_of(label):
    """(value, unit) of "8", "100 Gb/s", "64KiB", "4:1", "8 GPUs"; None of what is no number."""
    ratio = re.fullmatch(r"(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)", label)
    if ratio and float(ratio[2]) > 0:
        return float(ratio[1]) / float(ratio[2]), ":"
    found = QUANTITY.fullmatch(label)
    if not found:
        return None
    value, rest = float(found[1]), found[2]
    for prefix, factor in PREFIXES.items():
        if rest.startswith(prefix) and rest[len(prefix):] in UNITS:
            return value * factor, rest[len(prefix):]
    return (value, rest) if re.fullmatch(r"[A-Za-z%]*", rest) else None


def word_of(label):
    """What a JSON object calls itself; of all else the beginning."""
    try:
        value = json.loads(label)
    except ValueError:
        value = None
    names = [str(value[key]) for key in ("name", "kind", "preset") if key in value] if isinstance(value, dict) else []
    text = names[0] if names else label
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS - 1] + "…"


def shown(labels):
    """Short words for labels, numbered where they would be the same."""
    words = [word_of(str(label)) for label in labels]
    return [word if words.count(word) == 1 else f"{word} #{number + 1}" for number, word in enumerate(words)]


class Axis:
    """One thing that was varied: its name, its labels in order, and where each stands."""

    def __init__(self, name, labels):
        self.name, self.labels = name, list(labels)
        numbers = [number_of(str(label)) for label in labels]
        self.numeric = (len(labels) > 1 and None not in numbers and len({unit for _, unit in numbers}) == 1
                        and len({value for value, _ in numbers}) == len(labels))
        self.places = [value for value, _ in numbers] if self.numeric else [float(n) for n in range(len(labels))]
        self.unit = numbers[0][1] if self.numeric else ""
        if self.numeric:
            self.labels = [label for _, label in sorted(zip(self.places, self.labels))]
            self.places.sort()
        self.place = dict(zip(self.labels, self.places))
        self.shown = dict(zip(self.labels, shown(self.labels)))

    @property
    def logarithmic(self):
        """Values that grow by factors: each is as far from the next as from the one before, or farther."""
        if not self.numeric or self.places[0] <= 0 or len(self.places) < 3:
            return False
        steps = [right / left for left, right in zip(self.places, self.places[1:])]
        return min(steps) >= 1.4 and self.places[-1] / self.places[0] >= 4

    def text(self, label):
        return self.shown[label]

    def texts(self):
        return [self.shown[label] for label in self.labels]

    def apply(self, axis, label=None):
        """Ticks at the values, by their own labels; few enough to be read. `axis`: the x axis of a panel."""
        if self.logarithmic:
            axis.axes.set_xscale("log")
        every = math.ceil(len(self.labels) / 12)
        axis.set_ticks(self.places[::every], self.texts()[::every], minor=False)
        axis.set_ticks([], minor=True)
        axis.set_label_text(label or self.name)


def value_at(row, name):
    return row.get(CASE) or "" if name == CASE else str(row["parameters"].get(name, ""))


def axes_of(rows):
    """Parameters that were varied, in the sweep's order, failed points included."""
    names = list(dict.fromkeys(name for row in rows for name in row["parameters"]))
    found = [Axis(name, dict.fromkeys(value_at(row, name) for row in rows)) for name in names]
    return [axis for axis in found if len(axis.labels) > 1]


def is_the_size(rows, axis):
    """Whether the parameter is the size itself, which plots know as such."""
    sizes = {}
    for row in rows:
        sizes.setdefault(value_at(row, axis.name), set()).add(row.get(SIZE))
    alone = [min(each) for each in sizes.values() if len(each) == 1 and None not in each]
    return len(alone) == len(sizes) > 1 and len(set(alone)) == len(alone)


def cases_of(rows):
    return list(dict.fromkeys(value_at(row, CASE) for row in rows))


def sizes_of(rows):
    return sorted({row[SIZE] for row in rows if row.get(SIZE) is not None})


def at(rows, **conditions):
    return [row for row in rows if all(value_at(row, name) == value for name, value in conditions.items())]


def grouped(rows, *names):
    """Rows by their values of these, which may be sizes."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row.get(SIZE) if name == SIZE else value_at(row, name) for name in names), []).append(row)
    return groups


def spread(values, most):
    """At most so many of them: the first, the last, and what lies evenly between."""
    if len(values) <= most:
        return list(values)
    return [values[round(index * (len(values) - 1) / (most - 1))] for index in range(most)]
