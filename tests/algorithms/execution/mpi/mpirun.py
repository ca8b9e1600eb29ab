"""Runs a program under mpirun, in bounded time."""

import os
import subprocess
import time


def environment():
    """Open MPI runs more processes than there are processors, and as root, only where it is told so; MPICH does it.
    What MPI libraries leave allocated at their end is not ours to find."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "")
    return os.environ | {
        "ASAN_OPTIONS": f"{sanitizer}:detect_leaks=0" if sanitizer else "detect_leaks=0",
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def run(mpirun, processes, command, seconds=250):
    """(exit status, output, seconds) of a program with its arguments; a run that hangs fails. With MPICH a sweep
    over 8 processes took 79 s on two busy processors."""
    begin = time.monotonic()
    done = subprocess.run([mpirun, "-n", str(processes), *command], env=environment(), timeout=seconds, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout, time.monotonic() - begin
