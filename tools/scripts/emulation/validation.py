"""The measurements in this repository that testbeds made: what is run, and where it goes.

What is measured must be what the scenarios simulate: the same algorithms, sizes and chunks.
"""

FABRICS = ("star", "racks", "torus")
SIZES = "1MiB,4MiB,16MiB"
# Algorithm -> chunk, where one chunk would leave links idle.
CHUNKS = {"ring": None, "halving_doubling": None, "double_binary_tree": "128KiB", "parameter_server": "128KiB"}
# Beside them, measured only: the MPI library's own all-reduce, which does not tell what algorithm it takes.
BASELINE = "mpi_library"


def measurements(root):
    """(scenario, measurement file, options of `athanor measure`) for each file."""
    for fabric in FABRICS:
        for algorithm, chunk in (CHUNKS | {BASELINE: None}).items():
            options = ["--algorithm", algorithm, "--sizes", SIZES, "--slots", "8", "--out-of-place", "--warm-up", "1",
                       "--iterations", "2"] + (["--chunk", chunk] if chunk else [])
            yield (root / f"scenarios/testbed/{fabric}.json",
                   root / f"scenarios/measurements/testbed_{fabric}_{algorithm}.json", options)
