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

    def value(self, row):
        """In microseconds, in percent or as it is; None where the row has none."""
        value = row.get(self.key)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return None
        return value * self.scale

    def best(self, rows):
        values = [value for value in map(self.value, rows) if value is not None]
        return (max if self.more_is_better else min)(values) if values else None


def figure_of(column):
    return Figure(column["key"], column["axis"], column.get("microseconds", 100 if column["share"] else 1),
                  "microseconds" in column, column["rate"])


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
