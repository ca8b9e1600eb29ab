"""The plots are drawn from any result file that `athanor run` can write, and say what is wrong with any other."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import made_up_results

PLOT = pathlib.Path(__file__).resolve().parents[3] / "tools/plot/python/plot_results.py"


def plot(content, *, raw=False):
    """(exit status, stderr, names of the files written) of a run over `content`."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = pathlib.Path(folder) / "result.json", pathlib.Path(folder) / "out"
        source.write_text(content if raw else json.dumps(content), encoding="utf-8")
        done = subprocess.run([sys.executable, PLOT, source, "--out", out], capture_output=True, text=True, check=False)
        written = sorted(path.name for path in out.glob("*")) if out.exists() else []
        empty = [path for path in out.glob("*") if path.stat().st_size < 2000] if out.exists() else []
        assert not empty, f"suspiciously small: {empty}"
        assert sorted(pathlib.Path(line).name for line in done.stdout.split("\n") if line) == written
        return done.returncode, done.stderr, written


class Plots(unittest.TestCase):
    def test_each_case_has_a_figure_and_unmeasured_cases_are_compared(self):
        status, stderr, written = plot(made_up_results.document(range(10, 34)))
        self.assertEqual((status, stderr), (0, ""))
        stems = {pathlib.Path(name).stem for name in written}
        self.assertEqual(stems, {"one-node-ring-tree-or-nvls", "fat-tree-4-1-oversubscribed", "3d-torus",
                                 "comparison-all-reduce"})
        self.assertEqual(len(written), 2 * len(stems))

    def test_cases_of_a_single_size_are_drawn(self):
        status, stderr, written = plot(made_up_results.document([30]))
        self.assertEqual((status, stderr), (0, ""))
        self.assertIn("comparison-all-reduce.png", written)

    def test_a_row_with_only_the_keys_that_are_always_there_is_drawn(self):
        row = {"collective": "broadcast", "algorithm": "ring", "ranks": 2, "bytes": 8, "time_us": 1.0,
               "busbw_gbps": 0.008, "measured_time_us": None, "error": None}
        self.assertEqual(plot({"results": [row]}), (0, "", ["broadcast.png", "broadcast.svg"]))

    def test_intervals_are_drawn_over_several_sizes_and_at_one(self):
        for sizes in ([2 ** 20, 2 ** 24], [2 ** 20]):
            rows = [made_up_results.row("a", "ring", size, 8, 10.0, 1.0) | {"time_low_us": 8.0, "time_high_us": 15.0} for size in sizes]
            self.assertEqual(plot({"results": rows}), (0, "", ["a.png", "a.svg"]))

    def test_cases_whose_names_make_the_same_file_name_are_kept_apart(self):
        rows = [made_up_results.row(case, "ring", 8, 2, 1.0, 0.5, 1.0) for case in ("a b", "a-b")]
        self.assertEqual(plot({"results": rows})[2], ["a-b-2.png", "a-b-2.svg", "a-b.png", "a-b.svg"])


def step(case, seconds, measured=None):
    row = {"scenario": "scenarios/a.json", "case": case, "model": "GPT-2", "step_time_s": seconds,
           "breakdown": {"computing": 0.7, "bubble": 0.1, "exposed_TP": 0.15, "exposed_DP": 0.0, "stragglers": 0.05}}
    return row if measured is None else row | {"measured_time_s": measured, "error": seconds / measured - 1}


class Steps(unittest.TestCase):
    def test_steps_of_training_are_drawn_with_what_their_time_went_to(self):
        self.assertEqual(plot({"results": [step("a", 1.5), step("b", 0.2)]}), (0, "", ["steps.png", "steps.svg"]))

    def test_steps_have_intervals(self):
        rows = [step("a", 1.5) | {"step_time_low_s": 1.2, "step_time_high_s": 1.7}, step("b", 0.2)]
        self.assertEqual(plot({"results": rows}), (0, "", ["steps.png", "steps.svg"]))

    def test_a_trace_is_drawn_as_a_step(self):
        trace = {"trace": "a.json", "case": "", "step_time_s": 0.2, "breakdown": {"computing": 0.7, "waiting": 0.3}}
        self.assertEqual(plot({"results": [trace]}), (0, "", ["steps.png", "steps.svg"]))

    def test_measured_steps_are_held_against_simulated_ones(self):
        status, stderr, written = plot({"results": [step("a", 1.5, 1.4), step("b", 0.2)]})
        self.assertEqual((status, stderr), (0, ""))
        self.assertEqual(written, ["steps-measured.png", "steps-measured.svg", "steps.png", "steps.svg"])


class BadFiles(unittest.TestCase):
    def check(self, content, message, raw=False):
        status, stderr, written = plot(content, raw=raw)
        self.assertEqual((status, written), (4, []))
        self.assertIn(message, stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)

    def test_what_is_not_json_is_refused(self):
        self.check('{"results": [', "not JSON", raw=True)

    def test_json_of_another_kind_is_refused(self):
        self.check([1, 2], "expected")
        self.check({"rows": []}, "expected")

    def test_a_row_without_its_time_is_named(self):
        row = made_up_results.row("a", "ring", 8, 2, 1.0, 0.5)
        del row["time_us"]
        self.check({"results": [row]}, "/results/0 has no time_us")

    def test_a_file_with_nothing_to_draw_is_refused(self):
        self.check({"results": []}, "nothing to draw")
        self.check({"results": [made_up_results.row("a", "ring", 8, 2, 1.0, 0.5) | {"bytes": 0}]}, "nothing to draw")

    def test_kinds_that_have_no_picture_are_refused_with_those_that_have(self):
        for row in ({"traffic": "incast", "bytes": 8, "time_us": 1}, {"update": "synchronous", "bytes": 8, "time_us": 1},
                    {"collective": "all_reduce", "bytes": 8, "time_us": 1, "jobs": []}):
            self.check({"results": [row]}, "collectives, steps of training and traces are drawn, and here are none")


if __name__ == "__main__":
    unittest.main()
