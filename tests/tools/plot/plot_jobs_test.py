"""tools/plot/python/plot_jobs.py draws workloads, few jobs and many, and names what it cannot draw."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools/plot/python/plot_jobs.py"
sys.path.insert(0, str(PLOT.parent))
import interpreter  # noqa: E402

PYTHON = interpreter.with_module("matplotlib")
HEAD = "case,seed,job,name,user,queue,gpus,state,submitted_s,started_s,ended_s,duration_s,wait_s,ran_s,starts,nodes\n"
# Two on one node beside each other, one on two nodes behind them, one that never starts.
JOBS = (",1,0,a,,,4,completed,0,0,100,100,0,100,1,0:4\n"
        ",1,1,b,,,4,completed,0,0,50,50,0,50,1,0:4\n"
        ",1,2,c,,,16,completed,10,100,300,200,90,200,1,0:8 1:8\n"
        ",1,3,d,,,99,waiting,20,,,10,,0,0,\n")


def job(number, queue, gpus, since, until):
    return {"name": f"job {number}", "user": "", "queue": queue, "gpus": gpus, "state": "completed", "submitted": max(0, since - 50),
            "started": since, "ended": until, "duration": until - since}


def run_of(case, jobs, stints, nodes=4, **more):
    """As models/experiments/shared_cluster_picture.hpp says. `more`: what not every workload has."""
    end = max(each["ended"] for each in jobs)
    columns = {key: [each[key] for each in jobs] for key in jobs[0]}
    parts = {"work": 5.0, "checkpoints": 0.0, "work lost": 0.0, "failed, not yet seen": 0.0, "starting": 0.0, "down": 0.0, "idle": 3.0}
    return {"case": case, "seeds": 0, "scheduler": "fifo", "placement": "best_fit", "ended": end, "jobs": columns, "stints": stints,
            "outages": [], "gpu_hours": parts, "lost": {}, "nodes": {"gpus": [8] * nodes, "domains": [node // 2 for node in range(nodes)]},
            "tier": "leaf", "domain_hours": [[1.0, 0.0, 1.0]] * -(-nodes // 2), "stuck": [], **more}


def small_run(case, **more):
    jobs = [job(0, "train", 16, 0, 4000), job(1, "debug", 4, 1000, 8000)]
    return run_of(case, jobs, [[0, 0, 4000, [[0, 1, 8]]], [1, 1000, 8000, [[2, 2, 4]]]], **more)


def trained_run(case):
    hours = {"work": 4.0, "checkpoints": 0.5, "work lost": 0.25, "failed, not yet seen": 0.125, "starting": 0.25, "down": 0.5, "idle": 3.0}
    links = {"width": 4000.0, "switches": [{"name": "leaf0", "links": 4, "busy": [0.5, 0.25], "busiest": 0.5, "shared": [0.5, 0.25, 0.25, 0]},
                                           {"name": "leaf1", "links": 4, "busy": [0.0, 0.0], "busiest": 0, "shared": [1, 0, 0, 0]}]}
    return small_run(case, trainings=[{"job": 0, "best": 900, "placement": 1.25, "others": 1.5}], links=links, gpu_hours=hours, lost={"cables": 0.6},
                     outages=[[3, 100, 900, "cables"]],
                     data=[{"job": 1, "fetching": 0.25, "preparing": 0.125, "hits": 0.75, "working": 7000, "read": 1e9}])


def large_run():
    jobs = [job(number, f"queue {number % 3}", 8, number, number + 900) for number in range(20_000)]
    stints = [[number, number, number + 900, [[number % 1024, number % 1024, 8]]] for number in range(20_000)]
    return run_of("many", jobs, stints, nodes=1024, outages=[[5, 100, 9000, "node"]])


class Drawing(unittest.TestCase):
    def draw(self, text, *words, name="jobs.csv"):
        with tempfile.TemporaryDirectory() as folder:
            jobs, picture = pathlib.Path(folder, name), pathlib.Path(folder, "jobs.svg")
            jobs.write_text(text, encoding="utf-8")
            done = subprocess.run([PYTHON, PLOT, jobs, "--output", picture, *words], capture_output=True, text=True)
            return done, picture.read_text(encoding="utf-8") if picture.exists() else ""

    def check_shows(self, words, drawn):
        self.assertTrue(words in drawn, words)  # assertIn would print all the picture

    def draw_runs(self, runs, *words):
        done, drawn = self.draw(json.dumps({"runs": runs}), *words, name="runs.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return drawn


@unittest.skipIf(PYTHON is None, "needs matplotlib")
class Lists(Drawing):
    def test_the_picture_says_what_its_axes_are(self):
        done, drawn = self.draw(HEAD + JOBS)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("Node", "GPUs in use", "Jobs waiting", "Time (minutes)", "Slowdown", "Share of jobs", "1 of 4 jobs have not started."):
            self.check_shows(words, drawn)

    def test_cases_of_a_list_are_drawn_side_by_side_and_one_alone(self):
        two = HEAD + "".join(case + line for case in ("first", "second") for line in JOBS.splitlines(keepends=True))
        done, drawn = self.draw(two)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_shows("first", drawn)
        self.check_shows("second", drawn)
        done, drawn = self.draw(two, "--case", "second")
        self.check_shows("second", drawn)
        self.assertFalse("first" in drawn)
        done, _ = self.draw(two, "--case", "third")
        self.assertEqual(done.returncode, 4)
        self.assertIn("there are first, second", done.stderr)

    def test_what_is_no_list_of_jobs_is_named(self):
        for text, words in (("a,b\n1,2\n", "no column 'case'"), (HEAD, "no job"), (HEAD + JOBS.replace("100,100,0", "x,100,0"), "'x'")):
            with self.subTest(text=text):
                done, _ = self.draw(text)
                self.assertEqual(done.returncode, 4)
                self.assertIn(words, done.stderr)
                self.assertTrue(done.stderr.startswith("plot_jobs.py: "), done.stderr)

    def test_a_picture_that_there_is_none_of_is_named(self):
        for figure, words in (("links", "nothing to draw for --figure links"), ("gantt", "of jobs there are nodes, levels")):
            done, _ = self.draw(HEAD + JOBS, "--figure", figure)
            self.assertEqual(done.returncode, 4)
            self.assertIn(words, done.stderr)


@unittest.skipIf(PYTHON is None, "needs matplotlib")
class Runs(Drawing):
    def test_a_page_has_what_is_known_of_a_run_and_nothing_else(self):
        plain, full = self.draw_runs([small_run("week")]), self.draw_runs([trained_run("week")])
        for words in ("week", "2 jobs on 32 GPUs of 4 nodes: fifo, best_fit", "lines: leaf", "job 0", "job 1", "Leaf groups that a job lies on"):
            self.check_shows(words, plain)
        for words in ("GPU hours lost, by cause", "cables", "node down", "by other trainings", "1.88", "leaf1", "three or more",
                      "Time that jobs wait for data"):
            self.check_shows(words, full)
            self.assertFalse(words in plain, words)

    def test_each_picture_can_be_drawn_alone(self):
        for figure in ("nodes", "levels", "waits", "hours", "domains", "trainings", "data", "links", "cases"):
            with self.subTest(figure=figure):
                self.check_shows("<svg", self.draw_runs([trained_run("week")], "--figure", figure))

    def test_several_cases_are_side_by_side(self):
        drawn = self.draw_runs([trained_run("fifo"), trained_run("sjf")])
        for words in ("fifo", "sjf", "GPUs in use", "Jobs waiting", "by other trainings", "data from caches"):
            self.check_shows(words, drawn)
        self.check_shows("the first 8 of 9 cases", self.draw_runs([small_run(f"case {number}") for number in range(9)]))

    def test_where_nobody_waits_it_says_so(self):
        run = run_of("", [dict(job(0, "", 8, 0, 90), submitted=0)], [[0, 0, 90, [[0, 0, 8]]]], nodes=1)
        drawn = self.draw_runs([run])
        self.check_shows("No job waited for its first start.", drawn)
        self.check_shows("No job was slowed down.", drawn)

    def test_waits_of_up_to_a_second_are_none_that_the_axis_shows(self):
        drawn = self.draw_runs([run_of("", [dict(job(0, "", 8, 1, 90), submitted=0)], [[0, 1, 90, [[0, 0, 8]]]], nodes=1)])
        self.check_shows("No job waited longer than a second for its first start.", drawn)

    def test_where_nothing_ran_a_second_is_shown(self):
        idle = dict(job(0, "", 99, 0, 0), submitted=0, started=None, ended=None, duration=9, state="waiting")
        run = run_of("", [dict(idle, ended=0)], [])
        run["jobs"]["ended"] = [None]
        drawn = self.draw_runs([run])
        self.check_shows("No job has started.", drawn)
        self.check_shows("0.8", drawn)
        self.assertFalse("1e" in drawn.split("</defs>")[-1] and "e\u22129" in drawn)

    def test_jobs_that_are_stuck_are_named_and_the_rest_counted(self):
        drawn = self.draw_runs([small_run("", stuck=[f"job {number} waits for ever" for number in range(5)])])
        self.check_shows("Stuck: job 2 waits for ever", drawn)
        self.check_shows("and 2 more", drawn)
        self.assertNotIn("job 3 waits", drawn)

    def test_one_case_without_a_name_has_no_legend_and_nothing_complains(self):
        with tempfile.TemporaryDirectory() as folder:
            runs, picture = pathlib.Path(folder, "runs.json"), pathlib.Path(folder, "jobs.svg")
            runs.write_text(json.dumps({"runs": [small_run("")]}), encoding="utf-8")
            command = [PYTHON, PLOT, runs, "--output", picture]
            done = subprocess.run([*command, "--figure", "cases"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = subprocess.run([*command, "--figure", "links", "--name", "s.json"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 4)
            self.assertTrue(done.stderr.startswith("plot_jobs.py: s.json: there is nothing to draw"), done.stderr)

    def test_thousands_of_jobs_make_no_large_file(self):
        drawn = self.draw_runs([large_run()])
        self.assertLess(len(drawn), 2_000_000)
        self.check_shows("<image", drawn)


@unittest.skipIf(PYTHON is None, "needs matplotlib")
class Laws(unittest.TestCase):
    """Of what pictures are made of, in a Python that has matplotlib."""

    def check(self, program):
        done = subprocess.run([PYTHON, "-c", program], cwd=PLOT.parent, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_levels_count_what_happens_at_once_as_one_step_and_averages_keep_sums(self):
        self.check("""import workload_levels as levels
assert levels.steps([(0, 4), (100, -4), (100, 16), (300, -16)]) == ([0, 100, 300], [4, 16, 0])
times, values = list(range(0, 3000, 3)), [number % 7 for number in range(1000)]
_, averages = levels.averaged(times, values, 3000)
assert len(averages) == levels.MOST_POINTS
assert abs(sum(averages) * 3000 / levels.MOST_POINTS - 3 * sum(values)) < 1e-6""")

    def test_a_job_that_lost_its_nodes_waits_again_and_one_that_never_ran_to_the_end(self):
        self.check("""import math
import workload_levels as levels, workload_run as runs
jobs = [runs.Job("a", "", "", 1, 0, 10, 100, 50), runs.Job("b", "", "", 1, 20, math.inf, math.inf, 50)]
stints = [runs.Stint(0, 10, 30, [(0, 0, 1)]), runs.Stint(0, 60, 100, [(0, 0, 1)])]
run = runs.Run("", jobs, stints, 100, [1], [0])
assert levels.waiting(run) == ([0, 10, 20, 30, 60], [1, 0, 1, 2, 1])""")

    def test_a_blended_image_has_as_much_of_a_colour_as_jobs_had_nodes(self):
        self.check("""import numpy
import workload_nodes as nodes, workload_run as runs
generator = numpy.random.default_rng(1)
for count in (3, 256, 1000):
    boxes = []
    for _ in range(200):
        first, last = sorted(generator.integers(0, count, 2))
        since, until = sorted(generator.uniform(0, 500, 2))
        boxes.append((int(generator.integers(0, 4)), since, until, first, last + 1, 2))
    run = runs.Run("", [], [], 500.0, [8] * count, [0] * count)
    rows = min(nodes.ROWS, count)
    had = nodes.covered(numpy.array(boxes, dtype=float), 4, rows, run)
    for layer in range(4):
        expected = sum((until - since) * (high - low) * gpus for which, since, until, low, high, gpus in boxes if which == layer)
        assert abs(had[layer].sum() * 500 / nodes.COLUMNS - expected) < 1e-6 * expected, (count, layer)
    assert had.min() > -1e-6""")

    def test_runs_of_nodes_are_told_from_lists_of_them(self):
        self.check("""import workload_run as runs
assert runs.places_of("0:8 1:8 2:4 5:8 5:2") == [(0, 1, 8), (2, 2, 4), (5, 5, 10)]
assert runs.places_of("0:0.46 1:0.5 1:0.5") == [(0, 0, 0.46), (1, 1, 1)]
assert runs.places_of("") == []""")

    def test_words_stand_where_the_line_does_not_end(self):
        self.check("""from matplotlib import pyplot
import workload_shares as shares
_, area = pyplot.subplots()
for level in range(11):
    shares.nothing(area, "words", level / 10)
    assert abs(area.texts[-1].get_position()[1] - level / 10) > 0.1, level""")


if __name__ == "__main__":
    unittest.main()
