"""Made-up results in the form of `athanor run --json`, for the tests of the plots: smooth curves, no real machine."""

import json
import sys

ALGORITHMS = {"ring": (22.0, 360.0), "double_binary_tree": (16.0, 250.0), "nvls": (28.0, 480.0)}


def row(case, algorithm, size, ranks, time_us, bound_us, measured_us=None):
    factor = 2 * (ranks - 1) / ranks
    made = {"case": case, "collective": "all_reduce", "algorithm": algorithm, "protocol": "Simple", "channels": 8,
            "ranks": ranks, "bytes": size, "time_us": time_us, "algbw_gbps": size / time_us / 1e3,
            "busbw_gbps": factor * size / time_us / 1e3, "bound_time_us": bound_us, "limited_by": "NVLink",
            "network": "flow"}
    if measured_us is not None:
        made |= {"measured_time_us": measured_us, "error": time_us / measured_us - 1}
    return made


def time(size, ranks, fixed_us, busbw):
    return fixed_us + 2 * (ranks - 1) / ranks * size / busbw / 1e3


def one_node(case):
    """All candidates of a node with a measurement that wobbles around the best."""
    rows = []
    for exponent in range(3, 34):
        size = 2 ** exponent
        times = {name: time(size, 8, *cost) for name, cost in ALGORITHMS.items()}
        measured = min(times.values()) * (1 + 0.08 * (-1) ** exponent / (1 + exponent / 10))
        rows += [row(case, name, size, 8, times[name], time(size, 8, 0.5, 490.0), measured) for name in ALGORITHMS]
    return rows


def fabric(case, busbw, exponents):
    return [row(case, "ring", 2 ** exponent, 1024, time(2 ** exponent, 1024, 900.0, busbw),
                time(2 ** exponent, 1024, 10.0, 50.0)) for exponent in exponents]


def document(exponents):
    fabrics = {"Fat tree, 4:1 oversubscribed": 12.5, "3D torus": 31.0}
    rows = one_node("One node: ring, tree or NVLS?")
    for name, busbw in fabrics.items():
        rows += fabric(name, busbw, exponents)
    return {"results": rows, "manifest": {"version": "0.1.0"}}


if __name__ == "__main__":
    json.dump(document(range(10, 34)), sys.stdout)
