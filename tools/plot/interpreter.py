"""Finds a Python that can import a module, for machines where the first `python3` of PATH is not the one that can.

    interpreter.py MODULE     prints the interpreter's path; exits with 1 where none can import the module
"""

import os
import shutil
import subprocess
import sys


def candidates():
    """The interpreters worth asking, each once: what ATHANOR_PYTHON names, the one that runs this, the usual ones."""
    names = ["python3", "/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
    paths = [os.environ.get("ATHANOR_PYTHON"), sys.executable] + [shutil.which(name) for name in names]
    return list(dict.fromkeys(path for path in paths if path))


def can_import(interpreter, module):
    probe = [interpreter, "-c", f"import {module}"]
    return subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def with_module(module):
    """The first interpreter that imports `module`, or None."""
    return next((path for path in candidates() if can_import(path, module)), None)


def require_module(module):
    """Runs the calling script again under an interpreter that has `module`; returns where this one has it."""
    if can_import(sys.executable, module):
        return
    interpreter = with_module(module)
    if interpreter is None:
        sys.exit(f"{sys.argv[0]}: no Python on this machine has {module}; tools/setup installs it")
    os.execv(interpreter, [interpreter] + sys.argv)


if __name__ == "__main__":
    found = with_module(sys.argv[1])
    if found is None:
        sys.exit(1)
    print(found)
