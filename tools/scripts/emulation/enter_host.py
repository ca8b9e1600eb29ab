#!/usr/bin/env python3
"""What mpirun calls in place of ssh: enter_host.py FOLDER [options] ADDRESS COMMAND...

Runs the command in the namespace of that host, under a host name and with a folder for temporary files of its own, so
that Open MPI takes it for another machine.
"""

import ctypes
import json
import os
import pathlib
import platform
import struct
import sys

# The time that the scheduler gives a process at once, and by which sched_yield sets it back. With Linux's own 3 ms
# ranks that poll, more of them than processors, come some ten milliseconds late to a message.
SLICE_NS = 100_000
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}


def words_for(folder, arguments):
    """What is executed, for what mpirun hands over."""
    hosts = json.loads((folder / "hosts.json").read_text(encoding="utf-8"))
    while arguments and arguments[0].startswith("-"):
        arguments = arguments[1:]
    address, command = arguments[0], " ".join(arguments[1:])
    host = hosts[address]
    return ["ip", "netns", "exec", host["namespace"], "unshare", "--uts", "sh", "-c",
            f'hostname {host["name"]} && export TMPDIR="$1" && {command}', "sh", str(folder / host["name"])]


def ask_for_short_slices():
    """Of this process and all that it becomes and starts. Kernels before 6.12 do not know such a wish and ignore it."""
    number = SCHED_SETATTR.get(platform.machine())
    if number is not None:
        attributes = struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, SLICE_NS, 0, 0)  # size, policy: other, ..., runtime
        ctypes.CDLL(None, use_errno=True).syscall(number, 0, attributes, 0)


def main():
    ask_for_short_slices()
    words = words_for(pathlib.Path(sys.argv[1]), sys.argv[2:])
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
