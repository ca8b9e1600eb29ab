"""A testbed for real: built, used, taken away again whatever happens. Skipped (exit code 77) where namespaces cannot be
made or Open MPI is missing.

    real_run_test.py PATH_OF_ATHANOR
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import fabrics
from emulation import machine
from emulation.refusal import Refusal

ATHANOR = sys.argv.pop(1)
TESTBED = fabrics.ROOT / "tools/testbed"
SKIPPED = 77
# What MPI libraries leave allocated is not ours; it would end every rank of a build that looks for leaks.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
SCENARIO = {"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "50Mb/s", "latency": "5us"}}},
            "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "64KiB"}}


def is_up():
    return machine.read_state() is not None or machine.existing_namespaces() != []


def wait_until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)


class RealRun(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(machine.tear_down)
        self.folder = pathlib.Path(scratch.name)
        self.scenario = self.folder / "star.json"
        self.scenario.write_text(json.dumps(SCENARIO), encoding="utf-8")

    def words(self, command, *rest):
        return [TESTBED, command, self.scenario, "--athanor", ATHANOR, *rest]

    def run_testbed(self, *words):
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)

    def start(self, *words):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        return process

    def test_processes_see_each_other_as_hosts_of_their_own_names(self):
        done = self.run_testbed(*self.words("mpi", "--", "hostname"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.split()), ["rank0", "rank1", "rank2", "rank3"])
        self.assertRegex(done.stderr, r"over 8 links, 0 frames dropped")
        self.assertFalse(is_up())

    def test_a_ring_all_reduce_is_measured_and_its_results_are_right(self):
        output = self.folder / "measured.json"
        done = self.run_testbed(*self.words("run", "--output", output, "--", "--algorithm", "ring", "--sizes", "64KiB",
                                        "--warm-up", "1", "--iterations", "2", "--out-of-place"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        row, = json.loads(output.read_text(encoding="utf-8"))["rows"]
        self.assertEqual(row.get("wrong", 0), 0)
        # Each rank sends 96 KiB over a link that carries 47 Mb/s of payload: 16.7 ms, less what the buckets let through.
        least_us = 1e6 * (96 * 1024 - 2 * 6250) * 8 / 47e6
        self.assertGreater(row["time_us"], least_us)
        self.assertFalse(is_up())

    def test_the_exit_code_of_what_failed_is_passed_on_and_nothing_stays(self):
        done = self.run_testbed(*self.words("mpi", "--", "sh", "-c", "exit 9"))
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertFalse(is_up())
        done = self.run_testbed(*self.words("run", "--", "--no-such-option"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(is_up())

    def test_signals_end_it_and_nothing_stays(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.start(*self.words("mpi", "--", "sh", "-c", "echo here; exec sleep 100"))
                self.assertEqual(process.stdout.readline()[:7], "testbed")
                wait_until(lambda: any("here" in line for line in process.stdout))
                process.send_signal(number)
                self.assertEqual(process.wait(30), 130)
                self.assertFalse(is_up())

    def test_a_time_limit_ends_it(self):
        done = self.run_testbed(*self.words("mpi", "--time-limit", "3", "--", "sleep", "100"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("not done after 3 s", done.stderr)
        self.assertFalse(is_up())

    def test_what_a_killed_run_left_is_gone_with_the_next_one(self):
        process = self.start(*self.words("mpi", "--", "sleep", "100"))
        wait_until(lambda: any(machine._processes(name) for name in machine.existing_namespaces()))
        process.kill()
        process.wait()
        self.assertTrue(is_up())
        self.assertIn("what a killed testbed left", self.run_testbed(TESTBED, "status").stdout)
        done = self.run_testbed(*self.words("mpi", "--", "true"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(is_up())

    def test_a_second_one_is_refused_while_one_is_up_and_down_ends_it(self):
        self.assertEqual(self.run_testbed(*self.words("up")).returncode, 0)
        second = self.run_testbed(*self.words("mpi", "--", "true"))
        self.assertEqual(second.returncode, 3)
        self.assertIn("a testbed is up already", second.stderr)
        self.assertRegex(self.run_testbed(TESTBED, "status").stdout, r"host0 -> leaf0 +50 +0\.\d+ +\d+ +0\n")
        self.assertEqual(self.run_testbed(TESTBED, "down").returncode, 0)
        self.assertFalse(is_up())

    def test_without_rights_it_says_so(self):
        words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *map(str, self.words("mpi", "--", "true"))]
        done = self.run_testbed(*words)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("no right to make network namespaces", done.stderr)


def reason_to_skip():
    try:
        machine.check()
    except Refusal as refusal:
        return str(refusal)
    return "a testbed of somebody is up" if is_up() else None


if __name__ == "__main__":
    if REASON := reason_to_skip():
        print(REASON)
        sys.exit(SKIPPED)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    unittest.main()
