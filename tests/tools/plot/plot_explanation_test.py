"""Explanations are drawn in every kind of file, with and without a pipeline and channels; what is none is refused."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools/plot/python/plot_explanation.py"


def candidate(algorithm, simulated, *, predicted=None, chosen=False):
    return {"algorithm": algorithm, "protocol": "Simple", "simulated_us": simulated, "predicted_us": predicted,
            "chosen": chosen, "obstacle": None if simulated else "it cannot"}


def explanation(**changes):
    way = {"first": 0, "last": 1, "gpus": [0, 2, 1], "enters": 0, "leaves": 3}
    return {"cluster": "two nodes", "collective": "all_reduce of 1 MiB", "limited_by": "latency",
            "candidates": [candidate("Ring", 20.0, predicted=12.0, chosen=True), candidate("Tree", 30.0),
                           candidate("PAT", None)],
            "chosen": {"algorithm": "ring", "protocol": "Simple", "time_us": 20.0},
            "phases_us": {"launch": 5.0, "fill": 4.0, "steady": 8.0, "drain": 3.0, "host": 0.0},
            "links": [{"class": "network nic->leaf", "used": 4, "mean_percent": 40.0, "most_percent": 61.5},
                      {"class": "pcie nic->gpu", "used": 0, "mean_percent": 0.0, "most_percent": 0.0}],
            "sending": [0.1, 0.2, 0.4, 0.3], "ways": [way, {**way, "first": 2, "last": 2, "enters": None}]} | changes


def draw(content, ending):
    """(exit status, stderr, the picture's bytes) of drawing `content`."""
    with tempfile.TemporaryDirectory() as folder:
        source, picture = pathlib.Path(folder) / "why.json", pathlib.Path(folder) / ("picture" + ending)
        source.write_text(json.dumps(content), encoding="utf-8")
        done = subprocess.run([sys.executable, PLOT, source, "--output", picture], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr, picture.read_bytes() if picture.exists() else b""


class Pictures(unittest.TestCase):
    def test_each_ending_gives_its_kind_of_file(self):
        for ending, begin in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
            status, stderr, picture = draw(explanation(), ending)
            self.assertEqual((status, stderr), (0, ""))
            self.assertTrue(picture.startswith(begin), ending)

    def test_the_picture_names_candidates_phases_and_channels_and_is_the_same_each_time(self):
        picture = draw(explanation(), ".svg")[2]
        self.assertEqual(picture, draw(explanation(), ".svg")[2])
        for word in ("ring Simple", "tree Simple", "steady state", "NCCL's own prediction", "NIC 3", "GPU 2", "network nic-&gt;leaf", "61.5 %"):
            self.assertIn(word.lower(), picture.decode().lower())
        self.assertNotIn("PAT Simple", picture.decode())
        self.assertNotIn("pcie", picture.decode())  # it carried nothing

    def test_the_time_that_is_explained_has_its_interval_where_it_has_one(self):
        chosen = {**explanation()["chosen"], "time_low_us": 15.0, "time_high_us": 60.0, "known": "nothing"}
        self.assertIn("Eight of ten measurements (80 %)", draw(explanation(chosen=chosen), ".svg")[2].decode())
        for unknown in (explanation(), explanation(chosen={**chosen, "time_low_us": None})):
            self.assertNotIn("80 %", draw(unknown, ".svg")[2].decode())

    def test_what_is_not_known_is_left_out(self):
        picture = draw(explanation(phases_us=None, sending=[], ways=[], links=[]), ".svg")[2].decode()
        self.assertNotIn("steady state", picture)
        self.assertNotIn("GPU", picture)
        self.assertNotIn("busy", picture)

    def test_what_is_no_explanation_is_refused_without_a_traceback(self):
        for content in ({}, [], {"candidates": 3}, explanation(chosen=None)):
            status, stderr, picture = draw(content, ".svg")
            self.assertEqual((status, picture), (4, b""))
            self.assertNotIn("Traceback", stderr)


if __name__ == "__main__":
    unittest.main()
