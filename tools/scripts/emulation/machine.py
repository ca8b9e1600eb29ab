"""What this machine is asked to do: commands, rights, the namespaces that are there, and their end."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from .plan import PREFIX
from .refusal import FAILED, NO_RIGHTS, Refusal

TOOLS = ("ip", "tc", "unshare")
STATE = pathlib.Path("/run/athanor-testbed.json")
COMMAND_SECONDS = 60


def run(command):
    """Runs a plan's command. Raises Refusal with what it printed."""
    done = subprocess.run(command.words, input=command.text, text=True, check=False, timeout=COMMAND_SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Refusal(f"`{' '.join(command.words)}` failed: {done.stdout.strip()}", FAILED)


def missing_tools(mpi=True):
    return [tool for tool in TOOLS + (("mpirun",) if mpi else ()) if shutil.which(tool) is None]


def lacks_rights():
    """Why namespaces and token buckets cannot be made here, or None."""
    probe = f"probe-{PREFIX}{os.getpid()}"
    made = _quietly("ip", "netns", "add", probe)
    if made is not None:
        return made
    try:
        return (_quietly("ip", "-n", probe, "link", "add", "name", "probe0", "type", "veth", "peer", "name", "probe1")
                or _quietly("tc", "-n", probe, "qdisc", "add", "dev", "probe0", "root", "tbf", "rate", "1mbit", "burst", "5k",
                            "limit", "10k")
                or _quietly("ip", "netns", "exec", probe, "unshare", "--uts", "true"))
    finally:
        _quietly("ip", "netns", "delete", probe)


def _quietly(*words):
    """None, or what a command that failed printed."""
    done = subprocess.run(words, text=True, check=False, timeout=COMMAND_SECONDS, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return None if done.returncode == 0 else f"`{' '.join(words)}`: {done.stdout.strip()}"


def check(mpi=True):
    """Raises Refusal where a tool or a right is missing."""
    missing = missing_tools(mpi)
    if missing:
        raise Refusal(f"{', '.join(missing)}: not found; install iproute2, util-linux and Open MPI "
                      "(`apt-get install iproute2 util-linux openmpi-bin`)", NO_RIGHTS)
    reason = lacks_rights()
    if reason:
        raise Refusal("no right to make network namespaces and token buckets here; run as root, in a container with "
                      f"CAP_NET_ADMIN and CAP_SYS_ADMIN ({reason})", NO_RIGHTS)


def existing_namespaces():
    """Those of a testbed, whoever made them."""
    done = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS)
    names = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    return [name for name in names if name.startswith(PREFIX)]


def identity(process):
    """Tells a process from another one that has got its number later; None where there is none."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        started = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
        return f"{process}:{started}"
    return None


def read_state():
    """{"owner": identity of a process or None, "fabric": text, "folder": path}, or None where no testbed is up."""
    with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
        return json.loads(STATE.read_text(encoding="utf-8"))
    return None


def is_held(state):
    """Whether somebody still wants it: `up` was told to leave it, or the process that built it lives."""
    return state["owner"] is None or identity(state["owner"].partition(":")[0]) == state["owner"]


def claim(fabric, stays=False):
    """A folder for the testbed that this process is about to build, after what a killed one left is gone. `stays`: it
    outlives this process. Raises Refusal where another one is up."""
    state = read_state()
    if state and is_held(state):
        who = f"process {state['owner'].partition(':')[0]}" if state["owner"] else "`tools/testbed up`"
        raise Refusal(f"a testbed is up already ({state['fabric']}, by {who}); `tools/testbed down` ends it")
    if state or existing_namespaces():
        tear_down()
    folder = tempfile.mkdtemp(prefix="athanor-testbed-")
    text = json.dumps({"owner": None if stays else identity(os.getpid()), "fabric": fabric.description,
                       "folder": folder})
    try:
        with STATE.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        shutil.rmtree(folder)
        raise Refusal("another testbed is just being built") from error
    return pathlib.Path(folder)


def _processes(name):
    done = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False,
                          timeout=COMMAND_SECONDS)
    return [int(word) for word in done.stdout.split()]


def end_processes(seconds=5.0):
    """Asks whatever runs in the namespaces to end, and kills what does not in time."""
    deadline = time.monotonic() + seconds
    asked = set()
    while running := [pid for name in existing_namespaces() for pid in _processes(name)]:
        how = signal.SIGKILL if time.monotonic() > deadline else signal.SIGTERM
        for pid in running:
            if (pid, how) not in asked:
                asked.add((pid, how))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, how)
        if time.monotonic() > deadline + seconds:
            raise Refusal(f"processes {running} do not end", FAILED)
        time.sleep(0.05)


def tear_down():
    """Ends the processes in all namespaces of a testbed, and takes away namespaces, cables, files. True if any was."""
    names, state = existing_namespaces(), read_state()
    end_processes()
    for name in names:
        _quietly("ip", "netns", "delete", name)
    if state:
        shutil.rmtree(state["folder"], ignore_errors=True)
    STATE.unlink(missing_ok=True)
    left = existing_namespaces()
    if left:
        raise Refusal(f"cannot take away {', '.join(left)}", FAILED)
    return bool(names or state)
