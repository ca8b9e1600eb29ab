"""The figures of results that plots and reports show, as the program declares their columns."""

import dataclasses

# What bills say of a cluster is no column of results.
BILLS = {"bill_usd": "Price of the cluster ($)", "bill_w": "Power of the cluster (W)", "bill_switches": "Switches",
         "bill_cables": "Cables", "bill_gpus": "GPUs", "bill_nodes": "Nodes"}


@dataclasses.dataclass(frozen=True)
class Figure:
    """A key of results, as plots show it."""

    key: str
    label: str
    scale: float = 1  # to microseconds, or to percent
    is_time: bool = False
    more_is_better: bool = False
    time: str = ""  # the key of the time whose interval tells its own: itself, or what a rate is in inverse proportion to
    low: str = ""  # the keys of that interval's ends
    high: str = ""

    def value(self, row):
        """In microseconds, in percent or as it is; None where the row has none."""
        value = row.get(self.key)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return None
        return value * self.scale

    def best_row(self, rows):
        """The row with the best value; None where none has any."""
        known = [row for row in rows if self.value(row) is not None]
        return (max if self.more_is_better else min)(known, key=self.value) if known else None

    def best(self, rows):
        row = self.best_row(rows)
        return None if row is None else self.value(row)

    def interval(self, row):
        """(low, high) of the interval of 80 %, as value(); None where nobody knows."""
        value = self.value(row)
        time, *ends = (row.get(key) for key in (self.time, self.low, self.high))
        if value is None or not time or not all(isinstance(end, (int, float)) and end > 0 for end in ends):
            return None
        shares = [end / time for end in ends]
        return tuple(sorted(value * share if self.key == self.time else value / share for share in shares))


def figure_of(column):
    return Figure(column["key"], column["axis"], column.get("microseconds", 100 if column["share"] else 1),
                  "microseconds" in column, column["rate"], column.get("of", ""), column.get("low", ""), column.get("high", ""))


class Figures:
    """All that are declared: "figures" of what the program hands over (tools/plot/shown_figures.hpp)."""

    def __init__(self, columns):
        self.columns = columns
        self.by_key = {column["key"]: figure_of(column) for column in columns}

    def of(self, key):
        return self.by_key.get(key) or Figure(key, BILLS.get(key, key))

    def in_reports(self, place):
        """The columns that reports show as "word", "figure" or "remark"."""
        return [column for column in self.columns if column["report"] == place]

    def usual(self, rows):
        """Time and the rate that goes with it: the first of either that some row has and that is not zero everywhere."""
        def first(role):
            there = (self.of(column["key"]) for column in self.columns if column[role])
            return [figure for figure in there if any(figure.value(row) for row in rows)][:1]

        times = first("time")
        return times + first("beside_time") if times else []
