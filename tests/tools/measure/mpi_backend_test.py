"""The MPI backend of `athanor measure`: MPI's own collectives and schedules, and what happens when a process is lost.

    mpi_backend_test.py PATH_OF_MPIRUN PATH_OF_MPI_BACKEND_PROGRAM PATH_OF_ATHANOR
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "algorithms/execution/mpi"))
import mpirun  # noqa: E402

MPIRUN, PROGRAM, ATHANOR = [sys.argv.pop(1) for _ in range(3)] if len(sys.argv) > 3 else (None, None, None)


def run(processes, what, seconds=60):
    return mpirun.run(MPIRUN, processes, [PROGRAM, what], seconds)


@unittest.skipIf(MPIRUN is None, "needs the paths of mpirun, mpi_backend_program and athanor")
class Backend(unittest.TestCase):
    def sweep(self, processes):
        status, output, _ = run(processes, "sweep")
        self.assertEqual(status, 0, output)
        counts = re.findall(r"^(\d+) runs, (\d+) refused, 0 failures$", output, re.MULTILINE)
        self.assertEqual(counts, counts[:1] * processes, output)  # all processes are told the same
        self.assertGreater(int(counts[0][0]), 450)
        self.assertGreater(int(counts[0][1]), 100)

    def test_every_collective_of_the_library_and_of_the_catalog_is_right_and_timed_on_1_process(self):
        self.sweep(1)

    def test_on_2_processes(self):
        self.sweep(2)

    def test_on_3_processes(self):
        self.sweep(3)

    def test_the_library_and_the_hosts_are_told(self):
        status, output, _ = run(2, "facts")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"(?m)^mpi: .*\d+\.\d+.*\nhosts: 1\nprocesses_per_host: 2$")

    def test_what_process_0_has_measured_alone_all_are_told(self):
        status, output, _ = run(3, "beside")
        self.assertEqual((status, output), (0, "told: true\n" * 3))

    def test_measure_runs_mpi_its_library_and_threads_in_turns_and_one_process_speaks(self):
        status, output, _ = mpirun.run(MPIRUN, 2, [
            ATHANOR, "measure", "--backend", "mpi,threads", "--algorithm", "ring,mpi_library", "--sizes", "4KiB",
            "--out-of-place", "--iterations", "4", "--csv"])
        self.assertEqual(status, 0, output)
        rows = [line.split(",") for line in output.splitlines() if line.startswith("measured,") or ",ring," in line
                or ",mpi_library," in line]
        self.assertEqual(len(rows), 3, output)


    def test_an_imported_algorithm_is_measured_under_the_name_of_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "exported.xml"
            subprocess.run([ATHANOR, "export", "schedule", "all_reduce", "butterfly", "--format", "msccl", "--ranks",
                            "2", "-o", str(file)], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            status, output, _ = mpirun.run(MPIRUN, 2, [ATHANOR, "measure", "--backend", "mpi", "--algorithm", str(file),
                                                       "--sizes", "4KiB", "--iterations", "4", "--csv"])
        self.assertEqual(status, 0, output)
        rows = re.findall(r"^all_reduce,(\w+),1,2,4096,.*,mpi,.*,0$", output, re.MULTILINE)
        self.assertEqual(rows, ["all_reduce_butterfly_2"] * len(rows), output)
        self.assertGreater(len(rows), 0, output)

    def test_a_file_that_is_missing_ends_all_processes_with_the_code_for_files(self):
        status, output, _ = mpirun.run(MPIRUN, 2, [ATHANOR, "measure", "--backend", "mpi", "--algorithm", "none.xml"])
        self.assertEqual(status, 4, output)
        self.assertEqual(output.count("none.xml"), 1, output)


@unittest.skipIf(MPIRUN is None, "needs the paths of mpirun, mpi_backend_program and athanor")
class Failures(unittest.TestCase):
    def assert_ended(self, outcome, message, within):
        status, output, seconds = outcome
        self.assertNotEqual(status, 0, output)
        self.assertRegex(output, message)
        self.assertLess(seconds, within)

    def test_a_process_that_stops_in_silence_ends_the_run(self):
        self.assert_ended(run(2, "stop"), r"athanor: error: MPI process 0: not (ended after 1 s|all MPI processes)", 50)

    def test_an_error_of_the_process_that_measures_alone_ends_the_others(self):
        self.assert_ended(run(2, "broken"), "athanor: error: MPI process 0: the local backend has broken down", 30)

    def test_an_error_of_one_process_outside_of_mpi_is_printed_and_ends_the_others(self):
        self.assert_ended(run(2, "alone"), "error: a file that one process cannot write", 30)

    def test_an_error_of_all_processes_ends_them_in_order(self):
        status, output, _ = run(2, "alike")
        self.assertEqual(status, 3, output)
        # mpirun may end the second process when the first has ended with an error, before it has said so itself.
        self.assertIn("error: what all processes refuse", output)


if __name__ == "__main__":
    unittest.main()
