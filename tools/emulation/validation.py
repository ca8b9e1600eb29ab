"""The measurements in this repository that testbeds made, and how far the simulation is from them.

What is measured must be what the scenarios simulate: the same algorithms, sizes and chunks.
"""

import json
import pathlib
import subprocess

from .refusal import Refusal

FABRICS = ("star", "racks", "torus")
SIZES = "1MiB,4MiB"
# Algorithm -> chunk, where one chunk would leave links idle.
CHUNKS = {"ring": None, "halving_doubling": None, "double_binary_tree": "128KiB", "parameter_server": "128KiB"}
BEGIN, END = "<!-- tools/testbed table: begin -->\n", "<!-- tools/testbed table: end -->\n"


def measurements(root):
    """(scenario, measurement file, options of `athanor measure`) for each file."""
    for fabric in FABRICS:
        for algorithm, chunk in CHUNKS.items():
            options = ["--algorithm", algorithm, "--sizes", SIZES, "--slots", "8", "--out-of-place", "--warm-up", "1",
                       "--iterations", "2"] + (["--chunk", chunk] if chunk else [])
            yield (root / f"scenarios/testbed/{fabric}.json",
                   root / f"scenarios/measurements/testbed_{fabric}_{algorithm}.json", options)


def _verified(athanor, scenario):
    # An error above the threshold (5) is a result like any other here.
    done = subprocess.run([athanor, "verify", scenario, "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        raise Refusal(done.stderr.strip() or done.stdout.strip(), done.returncode)
    return json.loads(done.stdout)["results"]


def _seconds(microseconds):
    return f"{microseconds / 1e6:.3f}"


def table(root, athanor):
    """Markdown: measured and simulated times of every algorithm on every fabric."""
    lines = ["| Fabric | Algorithm | Size | measured (s) | simulated (s) | error | limited by |",
             "|---|---|---|---|---|---|---|"]
    for fabric in FABRICS:
        for row in _verified(athanor, root / f"scenarios/testbed/{fabric}.json"):
            lines.append(f"| {fabric} | {row['algorithm']} | {row['bytes'] >> 20} MiB | {_seconds(row['measured_time_us'])} "
                         f"| {_seconds(row['time_us'])} | {100 * row['error']:+.1f} % | {row['limited_by']} |")
    return "\n".join(lines) + "\n"


def page_with(text, rows):
    """The page with the table between its marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not tail:
        raise Refusal("docs/validation.md has lost the marks between which the testbed's table stands")
    return head + BEGIN + "\n" + rows + "\n" + END + tail


def write_table(root, athanor):
    """Renews it in docs/validation.md. True where it changed."""
    page = pathlib.Path(root) / "docs/validation.md"
    old = page.read_text(encoding="utf-8")
    new = page_with(old, table(root, athanor))
    page.write_text(new, encoding="utf-8")
    return new != old
