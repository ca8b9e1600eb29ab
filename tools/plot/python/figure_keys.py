"""The figures of results that plots show: what they are called, in what unit, and whether more of them is better."""

import dataclasses

TIME = {"time_us": 1.0, "bound_time_us": 1.0, "time_us_p5": 1.0, "time_us_p95": 1.0, "step_time_s": 1e6,
        "exposed_comm_s": 1e6}  # in microseconds
LABELS = {
    "busbw_gbps": "Bus bandwidth (GB/s)", "algbw_gbps": "Algorithm bandwidth (GB/s)", "goodput_gbps": "Goodput (GB/s)",
    "tokens_per_s": "Tokens per second", "samples_per_s": "Samples per second", "tflops_per_gpu": "TFLOP/s per GPU",
    "mfu": "Model FLOP/s utilisation (%)", "bubble_fraction": "Pipeline bubble (%)", "memory_gb": "Memory (GB)",
    "energy_j": "Energy of a step (J)", "cost_usd": "Cost of a step ($)", "bill_usd": "Price of the cluster ($)",
    "bill_w": "Power of the cluster (W)", "bill_switches": "Switches", "bill_cables": "Cables", "bill_gpus": "GPUs",
    "bill_nodes": "Nodes", "time_us": "Time", "step_time_s": "Time of a step", "bound_time_us": "Hardware bound",
    "exposed_comm_s": "Exposed communication",
}
PERCENT = {"mfu", "bubble_fraction"}
RATES = ("bw", "per_s", "per_gpu", "mfu", "goodput", "throughput_ratio", "fairness")  # as `athanor compare` decides


@dataclasses.dataclass(frozen=True)
class Figure:
    """A key of results, as plots show it."""

    key: str

    @property
    def is_time(self):
        return self.key in TIME

    @property
    def label(self):
        return LABELS.get(self.key, self.key)

    @property
    def more_is_better(self):
        return any(part in self.key for part in RATES)

    def value(self, row):
        """In microseconds, in percent or as it is; None where the row has none."""
        value = row.get(self.key)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return None
        return value * (TIME.get(self.key, 1) * (100 if self.key in PERCENT else 1))

    def best(self, rows):
        values = [value for value in map(self.value, rows) if value is not None]
        return (max if self.more_is_better else min)(values) if values else None


def usual(rows):
    """Time and the rate that goes with it; the figures that some row has and that are not zero everywhere."""
    for pair in (("time_us", "busbw_gbps"), ("step_time_s", "mfu"), ("step_time_s", "samples_per_s"),
                 ("time_us", "goodput_gbps")):
        found = [Figure(key) for key in pair if any(Figure(key).value(row) for row in rows)]
        if any(figure.is_time for figure in found):
            return found
    return []
