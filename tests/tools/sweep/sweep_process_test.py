"""Kills a sweep at random moments, again and again, and holds what its file says at the end against a sweep that was left
alone: nothing that was finished is lost, nothing is counted twice. Under mpirun the file holds the same, too.

    sweep_process_test.py PATH_OF_ATHANOR [PATH_OF_MPIRUN]        with mpirun only what several processes do

ATHANOR_SWEEPS in the environment: so many sweeps are killed 50 times, in place of one.
"""

import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "algorithms/execution/mpi"))
import mpirun  # noqa: E402

SWEEPS = int(os.environ.get("ATHANOR_SWEEPS", "1"))
KILLS = 50
POINTS = 240
POINTS_PER_KILL = 30  # so many of a sweep's points for each kill; more are taken as too much time
ATHANOR = sys.argv.pop(1)
MPIRUN = sys.argv.pop(1) if len(sys.argv) > 1 else None
SCENARIO = """{
  "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
  "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1KiB..32MiB"},
  "sweep": {"parameters": [{"pointer": "/seed", "from": 1, "to": %d, "step": 1}]}
}"""


def content(path):
    with sqlite3.connect(path) as database:
        points = database.execute("SELECT * FROM points ORDER BY point").fetchall()
        results = database.execute("SELECT * FROM results ORDER BY point, line").fetchall()
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return points, results


def points_of(path):
    with sqlite3.connect(path) as database:
        tables = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'points'").fetchone()[0]
        return database.execute("SELECT count(*) FROM points").fetchone()[0] if tables else 0


class SweepsInAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.scenario = self.folder / "scenario.json"
        self.scenario.write_text(SCENARIO % POINTS)

    def command(self, name, *more):
        return [ATHANOR, "sweep", str(self.scenario), "-q", "-o", str(self.folder / name), *more]

    def complete(self, name, jobs=2):
        subprocess.run(self.command(name, "--jobs", str(jobs)), check=True, stdout=subprocess.DEVNULL)
        return content(self.folder / name)


class Sweep(SweepsInAFolder):
    @unittest.skipIf(MPIRUN, "one process alone")
    def test_any_number_of_threads(self):
        one = self.complete("one.sqlite", 1)
        for jobs in 2, 8:
            self.assertEqual(self.complete(f"{jobs}.sqlite", jobs), one, f"{jobs} threads")

    @unittest.skipUnless(MPIRUN, "several processes")
    def test_several_processes(self):
        expected = self.complete("whole.sqlite")
        status, output, _ = mpirun.run(MPIRUN, 3, self.command("three.sqlite"), 120)
        self.assertEqual(status, 0, output)
        self.assertEqual(content(self.folder / "three.sqlite"), expected)
        with sqlite3.connect(self.folder / "three.sqlite") as database:
            self.assertEqual(database.execute("SELECT count(*) FROM executions").fetchone(), (POINTS,))


class KilledSweep(SweepsInAFolder):
    @unittest.skipIf(MPIRUN, "one process alone")
    def test_killed_at_random_moments(self):
        self.scenario.write_text(SCENARIO % (KILLS * POINTS_PER_KILL))
        expected = self.complete("whole.sqlite")
        moments = random.Random(1)
        at_work = 0
        for number in range(SWEEPS):
            file = self.folder / f"killed-{number}.sqlite"
            at_work += self.kill_again_and_again(file, moments)
            subprocess.run(self.command(file.name, "--resume"), check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(content(file), expected)
        # Else the kills met sweeps that had not begun, or had ended.
        self.assertGreater(at_work, SWEEPS * KILLS / 5)
        print(f"{at_work} of {SWEEPS * KILLS} kills between the first and the last point of a sweep", file=sys.stderr)

    def kill_again_and_again(self, file, moments):
        """How many kills met a sweep that had finished some of its points since the one before, and not all. Its time is
        lengthened where no point was finished, and shortened where many were: how long a sweep takes to begin depends on
        how many points it has, and on what else the machine does.
        """
        seconds = 0.02
        finished = 0
        at_work = 0
        for kill in range(KILLS):
            sweep = subprocess.Popen(self.command(file.name, "--jobs", "2", "--resume"),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(moments.uniform(0.5, 1.5) * seconds)
            sweep.send_signal(signal.SIGKILL)
            _, errors = sweep.communicate()
            self.assertIn(sweep.returncode, (-signal.SIGKILL, 0), errors)
            now = points_of(file) if file.exists() else 0
            self.assertGreaterEqual(now, finished, f"kill {kill + 1} lost points")
            at_work += finished < now < KILLS * POINTS_PER_KILL
            seconds *= 0.8 if now - finished > POINTS_PER_KILL else 1.2 if now == finished < KILLS * POINTS_PER_KILL else 1
            finished = now
        return at_work


class SweepOnAFullDisk(SweepsInAFolder):
    @unittest.skipIf(MPIRUN, "one process alone")
    def test_full_disk(self):
        def small_files():  # what a full disk does to whoever writes, without filling one
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        sweep = subprocess.run(self.command("full.sqlite"), preexec_fn=small_files, capture_output=True, text=True)
        self.assertEqual(sweep.returncode, 4, sweep.stderr)
        self.assertIn("--resume", sweep.stderr)
        before = content(self.folder / "full.sqlite")
        self.assertLess(0, len(before[0]))
        self.assertLess(len(before[0]), POINTS)
        subprocess.run(self.command("full.sqlite", "--resume"), check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(content(self.folder / "full.sqlite"), self.complete("whole.sqlite"))


unittest.main(verbosity=2)
