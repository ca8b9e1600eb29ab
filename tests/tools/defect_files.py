"""What tests of damaged and foreign files share: the program, its inputs, and a folder to run it in. The script's first argument is
the program's path."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DEFECTS = pathlib.Path(__file__).resolve().parent / "defects"
ATHANOR = str(pathlib.Path(sys.argv.pop(1)).resolve())
sys.path.insert(0, str(PROJECT / "tools/plot/python"))
import interpreter  # noqa: E402

PYTHON = interpreter.with_module("matplotlib")
PATIENCE = 60  # seconds: what does not end at all is to be noticed, not what is slow
SWEEP = {"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "100Gb/s", "latency": "1us"}}},
         "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": ["64KiB", "1MiB"]}}


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def copy(self, *names):
        for name in names:
            source = DEFECTS / name
            shutil.copytree(source, self.folder / name) if source.is_dir() else shutil.copy(source, self.folder / name)

    def run_in(self, words, folder=None, **options):
        environment = {**os.environ, **({"ATHANOR_PYTHON": PYTHON} if PYTHON else {}), **options.pop("env", {})}
        done = subprocess.run([ATHANOR, *words], cwd=folder or self.folder, env=environment, capture_output=True, check=False,
                              timeout=PATIENCE, **options)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "backslashreplace")

    def succeed(self, *words, **options):
        status, out, err = self.run_in(words, **options)
        self.assertEqual(status, 0, err)
        return out.decode("utf-8"), err
