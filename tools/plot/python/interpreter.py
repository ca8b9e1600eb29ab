"""Finds a Python that can import a module, for machines where the first `python3` of PATH is not the one that can.

    interpreter.py MODULE     prints the interpreter's path; exits with 1 where none can import the module
"""

import importlib
import os
import pathlib
import shutil
import subprocess
import sys

ISOLATED = str(pathlib.Path(__file__).resolve().with_name("isolated.py"))


def candidates():
    """The interpreters worth asking, each once: what ATHANOR_PYTHON names, the one that runs this, the usual ones."""
    names = ["python3", "/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
    paths = [os.environ.get("ATHANOR_PYTHON"), sys.executable] + [shutil.which(name) for name in names]
    return list(dict.fromkeys(path for path in paths if path))


def isolated(interpreter, *words):
    """The command that runs a script, or asks for a module, without importing from the working directory."""
    return [interpreter, "-I", "-B", ISOLATED, *words]


def can_import(interpreter, module):
    probe = isolated(interpreter, "--has", module)
    return subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def with_module(module):
    """The first interpreter that imports `module`, or None."""
    return next((path for path in candidates() if can_import(path, module)), None)


def is_isolated_with(module):
    try:
        return bool(sys.flags.isolated) and importlib.import_module(module) is not None
    except ImportError:
        return False


def require_module(module):
    """Runs the calling script again, isolated, under an interpreter that has `module`; returns where that is so."""
    if is_isolated_with(module):
        return
    interpreter = with_module(module)
    if interpreter is None:
        sys.exit(f"{sys.argv[0]}: no Python on this machine has {module}; tools/setup installs it")
    command = isolated(interpreter, *sys.argv)
    os.execv(interpreter, command)


if __name__ == "__main__":
    found = with_module(sys.argv[1])
    if found is None:
        sys.exit(1)
    print(found)
