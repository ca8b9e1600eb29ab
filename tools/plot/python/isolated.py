"""Runs a script of this folder so that nothing is imported or configured from the working directory.

    python3 -I -B isolated.py SCRIPT.py ARGUMENT...
    python3 -I -B isolated.py --has MODULE      exits with 1 where it cannot be imported

Python's isolated mode leaves out the working directory, and with it PYTHONPATH and the user's own packages, where many
have matplotlib: these two come back, but for what is relative or is the working directory. Matplotlib takes a
`matplotlibrc` from the working directory, too: it is loaded from here.
"""

import importlib
import os
import runpy
import site
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def is_here(folder):
    """Whether it is the working directory."""
    try:
        return os.path.samefile(folder, os.curdir)
    except OSError:
        return True  # neither is known


def chosen_folders():
    """What the user lets Python import from besides its own packages."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [folder for folder in named if os.path.isabs(folder) and os.path.isdir(folder) and not is_here(folder)]


def add_user_packages():
    own = site.getusersitepackages()
    in_environment = sys.prefix != sys.base_prefix
    if not in_environment and not os.environ.get("PYTHONNOUSERSITE") and os.path.isdir(own) and not is_here(own):
        site.addsitedir(own)


def load(module):
    """Imports it while this is the working directory."""
    before = os.open(os.curdir, os.O_RDONLY)
    os.chdir(HERE)
    try:
        return importlib.import_module(module)
    finally:
        os.fchdir(before)
        os.close(before)


def main():
    add_user_packages()
    sys.path[:0] = chosen_folders()
    if sys.argv[1] == "--has":
        try:
            load(sys.argv[2])
        except ImportError:
            return 1
        return 0
    script = os.path.abspath(sys.argv[1])
    sys.path[:0] = list(dict.fromkeys((os.path.dirname(script), HERE)))
    try:
        load("matplotlib")
    except ImportError:
        pass  # the script says so, or needs none
    sys.argv = sys.argv[1:]
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
