"""tools/plot/python/plot_jobs.py draws what `athanor run --per-job` lists, and names what it cannot draw."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools/plot/python/plot_jobs.py"
sys.path.insert(0, str(PLOT.parent))
import interpreter  # noqa: E402
import job_list  # noqa: E402

PYTHON = interpreter.with_module("matplotlib")
HEAD = "case,seed,job,name,user,queue,gpus,state,submitted_s,started_s,ended_s,duration_s,wait_s,ran_s,starts,nodes\n"
# Two on one node beside each other, one on two nodes behind them, one that never starts.
JOBS = (",1,0,a,,,4,completed,0,0,100,100,0,100,1,0:4\n"
        ",1,1,b,,,4,completed,0,0,50,50,0,50,1,0:4\n"
        ",1,2,c,,,16,completed,10,100,300,200,90,200,1,0:8 1:8\n"
        ",1,3,d,,,99,waiting,20,,,10,,0,0,\n")


@unittest.skipIf(PYTHON is None, "needs matplotlib")
class PlotJobs(unittest.TestCase):
    def draw(self, text, ending=".svg"):
        with tempfile.TemporaryDirectory() as folder:
            jobs, picture = pathlib.Path(folder, "jobs.csv"), pathlib.Path(folder, "jobs" + ending)
            jobs.write_text(text, encoding="utf-8")
            done = subprocess.run([PYTHON, PLOT, jobs, "--output", picture], capture_output=True, text=True)
            return done, picture.read_text(encoding="utf-8") if picture.exists() else ""

    def test_the_picture_says_what_its_axes_are(self):
        done, drawn = self.draw(HEAD + JOBS)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("Node", "GPUs in use", "Jobs waiting", "Time (minutes)", "Slowdown", "Share of jobs"):
            self.assertIn(words, drawn)

    def test_what_is_no_list_of_jobs_is_named(self):
        for text, words in (("a,b\n1,2\n", "no column 'case'"), (HEAD, "no job"), (HEAD + JOBS.replace("100,100,0", "x,100,0"), "'x'")):
            with self.subTest(text=text):
                done, _ = self.draw(text)
                self.assertEqual(done.returncode, 4)
                self.assertIn(words, done.stderr)
                self.assertTrue(done.stderr.startswith("plot_jobs.py: "), done.stderr)

    def test_levels_count_what_happens_at_once_as_one_step(self):
        self.assertEqual(job_list.steps([(0, 4), (100, -4), (100, 16), (300, -16)]), ([0, 100, 300], [4, 16, 0]))


if __name__ == "__main__":
    unittest.main()
