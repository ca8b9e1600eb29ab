"""`tools/testbed`: what it understands, and what it does."""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from . import launch, machine, plan, statistics, validation
from .fabric import check_load, read_fabric
from .refusal import FAILED, INTERRUPTED, NO_FILE, OK, USAGE, Refusal

ROOT = pathlib.Path(__file__).resolve().parents[3]
SIZE = re.compile(r"(\d+)(B|kB|MB|KiB|MiB)")
FABRIC = "fabric.json"
UNITS = {"B": 1, "kB": 1000, "MB": 10**6, "KiB": 1024, "MiB": 2**20}
EPILOGUE = """exit codes: 0 well, 1 failed, 2 usage, 3 this fabric cannot be built, 4 a file is missing, 6 no right or tool for
it, 130 interrupted; else that of what was run"""


class Interrupted(Exception):
    """A signal asked to end."""


def _say(text):
    print(f"testbed: {text}", file=sys.stderr, flush=True)


def _size(text):
    match = SIZE.fullmatch(text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size, as in 32KiB")
    return int(match[1]) * UNITS[match[2]]


def parser():
    """Of the command line; all that follows `--` belongs to what is run."""
    result = argparse.ArgumentParser(
        prog="tools/testbed", epilog=EPILOGUE, description="builds the fabric of a scenario out of network namespaces on "
        "this machine, and runs collectives in it for real")
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")
    fabric = argparse.ArgumentParser(add_help=False)
    fabric.add_argument("scenario", metavar="SCENARIO")
    fabric.add_argument("--case", metavar="NAME", help="the case whose cluster is built")
    fabric.add_argument("--athanor", metavar="PATH", help="the program; else of this build, or the one in PATH")
    fabric.add_argument("--queue", metavar="SIZE", type=_size, help="most bytes in front of a link, beyond which it "
                        "drops; else as many as TCP's windows can fill, so that nothing is dropped")
    fabric.add_argument("--fifo", action="store_true", help="one queue in front of a link for all; else hosts take turns")
    rest = argparse.ArgumentParser(add_help=False)
    rest.add_argument("--time-limit", metavar="SECONDS", type=float, default=3600, help="of all; else an hour")
    run = commands.add_parser("run", parents=[fabric, rest], help="builds the fabric, measures in it with "
                              "`athanor measure --backend mpi` and the options after --, and takes it away")
    run.add_argument("--output", metavar="FILE", help="the measurement file")
    calibrate = commands.add_parser("calibrate", parents=[fabric, rest], help="builds the fabric, fits a profile of "
                                    "MPI in it with `athanor calibrate --backend mpi` and the options after --, and "
                                    "takes it away")
    calibrate.add_argument("--output", metavar="FILE", required=True, help="the profile")
    commands.add_parser("mpi", parents=[fabric, rest], help="the same with the MPI program after --")
    commands.add_parser("up", parents=[fabric], help="builds the fabric and leaves it")
    commands.add_parser("down", help="takes away the fabric, or what a killed run left of one")
    commands.add_parser("status", help="what is up, and what its links have carried")
    check = commands.add_parser("check", help="are the tools and the rights there; can the scenario be built")
    check.add_argument("scenario", metavar="SCENARIO", nargs="?")
    check.add_argument("--case", metavar="NAME")
    check.add_argument("--athanor", metavar="PATH")
    measure = commands.add_parser("measure", help="measures anew what scenarios/testbed/ is held against")
    measure.add_argument("files", metavar="FILE", nargs="*", help="only these of scenarios/measurements/testbed_*.json")
    measure.add_argument("--athanor", metavar="PATH")
    return result


def find_athanor(named):
    """The program that describes scenarios and measures."""
    candidates = [named] if named else [str(ROOT / "build/tools/athanor"), shutil.which("athanor")]
    for path in candidates:
        if path and os.access(path, os.X_OK):
            return str(pathlib.Path(path).resolve())
    raise Refusal(f"{named or 'athanor'}: no such program; build it (tools/quickstart) or name it with --athanor", NO_FILE)


def load(options):
    """The fabric of a scenario, which this machine can carry, and the JSON that it was read from."""
    with tempfile.TemporaryDirectory(prefix="athanor-testbed-") as folder:
        file = pathlib.Path(folder) / "fabric.json"
        words = [find_athanor(options.athanor), "describe", options.scenario, "--fabric", str(file)]
        done = subprocess.run(words + (["--case", options.case] if options.case else []), text=True, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise Refusal(done.stderr.strip().removeprefix("athanor: "), done.returncode)
        document = json.loads(file.read_text(encoding="utf-8"))
    fabric = read_fabric(document)
    check_load(fabric, os.cpu_count())
    return fabric, document


def build(fabric, options, stays):
    """The folder of a testbed that is up. Takes away what it has made where it fails."""
    commands = plan.build(fabric, plan.Queues(options.queue, not options.fifo))
    folder = machine.claim(fabric, stays)
    try:
        for command in commands:
            machine.run(command)
        launch.write_files(fabric, folder)
        return folder
    except BaseException:
        _take_away()
        raise


def _take_away():
    """To the end, whatever signals come."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    machine.tear_down()


def _pass_on(lines):
    """Of what mpirun prints, all but its warning that its agent was too fast for it, which means nothing."""
    for line in lines:
        if "plm:rsh: Warning: setpgid" not in line:
            sys.stderr.write(line)
            sys.stderr.flush()


def _carry_out(words, environment, seconds):
    """The exit code of a program in a process group of its own, which ends when this one is told to."""
    process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, start_new_session=True, text=True,
                               stderr=subprocess.PIPE, errors="replace")
    reader = threading.Thread(target=_pass_on, args=(process.stderr,), daemon=True)
    reader.start()
    try:
        code = process.wait(seconds)
        reader.join(5)
        return code
    except subprocess.TimeoutExpired as error:
        raise Refusal(f"not done after {seconds:g} s", FAILED) from error
    finally:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            machine.end_processes()
            process.wait(5)


def run_in(fabric, options, program):
    """Builds, runs `program` on every host, takes away."""
    folder = build(fabric, options, stays=False)
    try:
        _say(f"{fabric.description}: {len(fabric.endpoints)} hosts in {len(fabric.vertices)} namespaces")
        code = _carry_out(launch.mpirun(fabric, folder, program), launch.environment(folder), options.time_limit)
        _say(statistics.summary(fabric))
        return code
    finally:
        _take_away()


def _output(options):
    """The options that name the file which is to be written."""
    if not options.output:
        return []
    output = pathlib.Path(options.output).resolve()
    if not output.parent.is_dir():
        raise Refusal(f"{output.parent}: no such folder", NO_FILE)
    return ["--output", str(output)]


def calibrate(options):
    """`tools/testbed calibrate`."""
    words = [find_athanor(options.athanor), "calibrate", "--backend", "mpi", "--cluster",
             str(pathlib.Path(options.scenario).resolve())] + options.words + _output(options)
    words += ["--case", options.case] if options.case else []
    fabric, _ = load(options)
    machine.check()
    return run_in(fabric, options, words)


def run(options):
    """`tools/testbed run`."""
    words = [find_athanor(options.athanor), "measure", "--backend", "mpi"] + options.words + _output(options)
    fabric, _ = load(options)
    machine.check()
    return run_in(fabric, options, words)


def mpi(options):
    """`tools/testbed mpi`."""
    if not options.words:
        raise Refusal("name the MPI program after --", USAGE)
    fabric, _ = load(options)
    machine.check()
    return run_in(fabric, options, options.words)


def up(options):
    """`tools/testbed up`."""
    fabric, document = load(options)
    machine.check(mpi=False)
    folder = build(fabric, options, stays=True)
    (folder / FABRIC).write_text(json.dumps(document), encoding="utf-8")
    for rank, vertex in enumerate(fabric.endpoints):
        print(f"{plan.namespace(fabric, vertex):<32}{plan.data_address(rank)}")
    return OK


def down(_):
    """`tools/testbed down`."""
    machine.check(mpi=False)
    _say("taken away" if machine.tear_down() else "nothing was up")
    return OK


def status(_):
    """`tools/testbed status`."""
    state, names = machine.read_state(), machine.existing_namespaces()
    if not state and not names:
        print("nothing is up")
        return OK
    if not state or not machine.is_held(state):
        print("what a killed testbed left; `tools/testbed down` takes it away")
    file = pathlib.Path(state["folder"]) / FABRIC if state else None
    if file and file.exists():
        fabric = read_fabric(json.loads(file.read_text(encoding="utf-8")))
        print(f"{fabric.description}\n{statistics.table(fabric)}")
    else:
        print("\n".join(names))
    return OK


def check(options):
    """`tools/testbed check`."""
    machine.check()
    if options.scenario:
        fabric, _ = load(options)
        plan.build(fabric)
        print(f"{fabric.description}: can be built here")
    else:
        print("tools and rights are there")
    return OK


def measure(options):
    """`tools/testbed measure`."""
    known = {str(file.name): (scenario, file, words) for scenario, file, words in validation.measurements(ROOT)}
    for name in options.files:
        if name not in known:
            raise Refusal(f"{name} is no measurement of the testbed; choose from {', '.join(known)}", USAGE)
    for scenario, file, words in (known[name] for name in options.files or known):
        chosen = ["run", str(scenario), "--output", str(file)]
        each = parser().parse_args(chosen + (["--athanor", options.athanor] if options.athanor else []))
        each.words = words
        if code := run(each):
            return code
    return OK


COMMANDS = {"measure": measure, "run": run, "calibrate": calibrate, "mpi": mpi, "up": up, "down": down,
            "status": status, "check": check}


def _interrupt(number, _):
    raise Interrupted(signal.Signals(number).name)


def main(arguments):
    """The exit code."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own, words = arguments[:end], arguments[end + 1:]
    options = parser().parse_args(own)
    if words and options.command not in ("run", "calibrate", "mpi"):
        parser().error(f"{options.command} runs nothing, and so takes no `--`")
    options.words = words
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        return COMMANDS[options.command](options)
    except Refusal as refusal:
        _say(str(refusal))
        return refusal.code
    except Interrupted as interrupted:
        _say(f"interrupted ({interrupted})")
        return INTERRUPTED
