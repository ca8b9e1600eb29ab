"""Schedules over MPI: the whole catalog on 1 to 8 processes, and what happens when one of them is lost.

    mpi_test.py PATH_OF_MPIRUN PATH_OF_MPI_PROGRAM
"""

import re
import sys
import unittest

import mpirun

MPIRUN, PROGRAM = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) > 2 else (None, None)


def run(processes, what, seconds=250):
    return mpirun.run(MPIRUN, processes, [PROGRAM, what], seconds)


@unittest.skipIf(MPIRUN is None, "needs the paths of mpirun and of mpi_program as its arguments")
class Schedules(unittest.TestCase):
    def sweep(self, processes):
        status, output, _ = run(processes, "sweep")
        self.assertEqual(status, 0, output)
        runs = re.findall(r"^process \d+: (\d+) runs, 0 failures$", output, re.MULTILINE)
        self.assertEqual(len(runs), processes, output)
        self.assertGreater(int(runs[0]), 250)

    def test_every_algorithm_computes_what_its_collective_promises_on_1_process(self):
        self.sweep(1)

    def test_on_2_processes(self):
        self.sweep(2)

    def test_on_3_processes(self):
        self.sweep(3)

    def test_on_4_processes(self):
        self.sweep(4)

    def test_on_5_processes(self):
        self.sweep(5)

    def test_on_8_processes(self):
        self.sweep(8)

    def test_processes_that_overwrite_what_they_are_sending_do_not_wait_for_each_other(self):
        status, output, _ = run(2, "swap", 30)
        self.assertEqual(status, 0, output)

    def test_engines_come_to_the_same_bits_as_on_threads(self):
        for processes in (2, 3, 5):
            status, output, _ = run(processes, "engines", 60)
            self.assertEqual(status, 0, output)

    def test_quantised_sums_have_the_same_bits_as_on_threads(self):
        for processes in (1, 2, 3, 5):
            status, output, _ = run(processes, "quantized", 60)
            self.assertEqual(status, 0, output)

    def test_too_many_ranks_and_too_few_slots_are_refused(self):
        status, output, _ = run(3, "refuse")
        self.assertEqual(status, 0, output)
        self.assertIn("a schedule for 4 ranks cannot be carried out by 3 MPI processes", output)
        self.assertIn("1 slots per connection where the schedule needs 2", output)


@unittest.skipIf(MPIRUN is None, "needs the paths of mpirun and of mpi_program as its arguments")
class Failures(unittest.TestCase):
    def test_a_process_that_dies_ends_the_run(self):
        status, output, seconds = run(3, "kill", 60)
        self.assertNotEqual(status, 0, output)
        self.assertLess(seconds, 30)
        self.assertRegex(output, r"signal 9|Killed|KILLED|SIGKILL|waits for message")

    def test_a_process_that_stops_in_silence_ends_the_run_at_its_time_limit(self):
        status, output, seconds = run(3, "stop", 60)
        self.assertNotEqual(status, 0, output)
        self.assertGreater(seconds, 2)
        self.assertLess(seconds, 30)
        self.assertRegex(output, r"athanor: error: MPI process [02]: not ended after 2 s: rank [02], lane 0, loop 0, "
                                 r"step \d waits for message \d+ of rank [012], lane 0")

    def test_two_ends_of_a_connection_that_disagree_end_the_run(self):
        status, output, _ = run(3, "disagree", 60)
        self.assertNotEqual(status, 0, output)
        self.assertRegex(output, r"MPI process 2: matching at rank 2, lane 0: receives 3 elements where rank 1, lane 1 has "
                                 r"sent (4|more)")


if __name__ == "__main__":
    unittest.main()
