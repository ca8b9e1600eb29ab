"""Timelines are read as they were written, and drawn in every kind of file; what is none is refused."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools/plot/python/plot_timeline.py"
sys.path.insert(0, str(ROOT / "tools/plot/python"))
import timeline  # noqa: E402


def span(process, track, name, category, begin, end):
    return {"ph": "X", "pid": process, "tid": track, "name": name, "cat": category, "ts": begin, "dur": end - begin}


def named(process, name, track=None):
    what = {"ph": "M", "pid": process, "name": "process_name" if track is None else "thread_name", "args": {"name": name}}
    return what if track is None else what | {"tid": track}


def two_stages():
    """One micro-batch through two stages; times in microseconds."""
    return [named(1, "stage 0"), named(1, "compute", 1), named(1, "send activations", 2),
            named(2, "stage 1"), named(2, "compute", 3), named(2, "receive activations", 4),
            span(1, 1, "attention forward", "compute", 0, 1000), span(1, 1, "MLP forward", "compute", 1000, 3000),
            span(1, 2, "send", "PP", 3000, 3500), span(1, 1, "MLP forward", "compute", 3000, 5000),
            span(2, 4, "wait", "wait", 0, 3000), span(2, 4, "receive", "PP", 3000, 3500),
            span(2, 3, "MLP forward", "compute", 3500, 5500), span(2, 3, "MLP backward", "compute", 5500, 9500)]


def draw(content, ending, *more):
    """(exit status, stderr, the picture's bytes)."""
    with tempfile.TemporaryDirectory() as folder:
        source, picture = pathlib.Path(folder) / "trace.json", pathlib.Path(folder) / ("picture" + ending)
        source.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        done = subprocess.run([sys.executable, PLOT, source, "--output", picture, *more], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr, picture.read_bytes() if picture.exists() else b""


class Reading(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_text(json.dumps(two_stages()), encoding="utf-8")
            self.workers = timeline.workers_of(path)

    def test_workers_know_what_they_compute_and_communicate(self):
        self.assertEqual([worker.name for worker in self.workers], ["stage 0", "stage 1"])
        self.assertEqual(self.workers[1].computing, [(3.5, 5.5, "forward"), (5.5, 9.5, "backward")])
        self.assertEqual(self.workers[1].communicating, {"PP": [(3.0, 3.5)]})
        self.assertEqual(self.workers[1].end(), 9.5)

    def test_what_follows_is_joined_up_to_where_a_message_is_sent(self):
        first = self.workers[0]
        self.assertEqual(timeline.joined(first.computing, first.cuts, 1e-6), [(0, 3.0, "forward"), (3.0, 5.0, "forward")])

    def test_labels_say_the_phase(self):
        found = [timeline.phase(label) for label in ("MLP forward", "logits backward", "gradients of weights", "optimizer", "conv")]
        self.assertEqual(found, ["forward", "backward", "weights", "optimizer", "computing"])


class Pictures(unittest.TestCase):
    def test_each_ending_gives_its_kind_of_file(self):
        for ending, begin in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
            status, stderr, picture = draw(two_stages(), ending)
            self.assertEqual((status, stderr), (0, ""))
            self.assertTrue(picture.startswith(begin), ending)

    def test_the_picture_names_workers_phases_and_uses(self):
        text = draw(two_stages(), ".svg", "--title", "Two stages")[2].decode()
        for word in ("Two stages", "stage 1", "forward", "backward", "PP communication", "waiting", "Time (ms)"):
            self.assertIn(f">{word}<", text)
        self.assertNotIn("DP communication", text)

    def test_what_is_no_timeline_of_a_workload_is_refused(self):
        for content in ("[", "{}", [named(1, "rank 0"), span(1, 1, "send", "send", 0, 1)]):
            status, stderr, _ = draw(content, ".svg")
            self.assertEqual(status, 4)
            self.assertTrue(stderr.startswith("plot_timeline.py: "), stderr)
        self.assertEqual(draw(two_stages(), ".svg", "--from", "5", "--to", "5")[0], 4)


if __name__ == "__main__":
    unittest.main()
