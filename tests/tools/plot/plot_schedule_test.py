"""Schedules are drawn in every kind of file, small or large, and what is no schedule is refused."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools/plot/python/plot_schedule.py"
sys.path.insert(0, str(ROOT / "tools/plot/python"))
import schedule as schedules  # noqa: E402


def message(number, sender, receiver, *, part=0, adds=False, carries=()):
    return {"round": number, "from": sender, "to": receiver, "part": part, "elements": len(carries), "adds": adds,
            "carries": list(carries)}


def ring(ranks, parts=1):
    """A ring all-reduce of as many pieces as ranks, several times side by side."""
    messages = [message(number, rank, (rank + 1) % ranks, part=part, adds=number < ranks,
                        carries=[{"first": (rank - number) % ranks, "count": 1, "terms": min(number, ranks)}])
                for part in range(parts) for number in range(1, 2 * ranks - 1) for rank in range(ranks)]
    return {"collective": "all_reduce", "algorithm": "ring", "engine": "none", "ranks": ranks, "agents": ranks,
            "count": ranks, "rounds": 2 * ranks - 2, "parts": parts, "messages": messages}


def draw(content, ending, raw=False):
    """(exit status, stderr, the picture's bytes) of drawing `content`."""
    with tempfile.TemporaryDirectory() as folder:
        source, picture = pathlib.Path(folder) / "schedule.json", pathlib.Path(folder) / ("picture" + ending)
        source.write_text(content if raw else json.dumps(content), encoding="utf-8")
        done = subprocess.run([sys.executable, PLOT, source, "--output", picture], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr, picture.read_bytes() if picture.exists() else b""


class Pictures(unittest.TestCase):
    def test_each_ending_gives_its_kind_of_file(self):
        for ending, begin in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
            status, stderr, picture = draw(ring(3), ending)
            self.assertEqual((status, stderr), (0, ""))
            self.assertTrue(picture.startswith(begin), ending)

    def test_a_picture_is_small_and_the_same_each_time(self):
        first, second = draw(ring(8), ".svg")[2], draw(ring(8), ".svg")[2]
        self.assertEqual(first, second)
        self.assertLess(len(first), 60_000)
        self.assertIn(b"8 ranks, 14 rounds, 112 messages", first)

    def test_many_ranks_are_drawn_without_labels_and_the_picture_says_so(self):
        picture = draw(ring(40), ".svg")[2]
        self.assertIn(b"Columns are too narrow", picture)

    def test_parts_are_left_out_where_arrows_would_hide_each_other_and_the_picture_says_so(self):
        self.assertIn(b"Drawn: 1 part of 4", draw(ring(8, parts=4), ".svg")[2])
        self.assertIn(b"4 parts that never wait for each other", draw(ring(3, parts=4), ".svg")[2])

    def test_a_schedule_without_messages_is_drawn(self):
        alone = {**ring(2), "ranks": 1, "agents": 1, "rounds": 0, "messages": []}
        self.assertEqual(draw(alone, ".svg")[:2], (0, ""))


class Labels(unittest.TestCase):
    def test_numbers_become_spans(self):
        self.assertEqual(schedules.spans([7, 0, 1, 2]), "0-2,7")
        self.assertEqual(schedules.spans([]), "")

    def test_messages_between_the_same_two_become_one_arrow(self):
        pair = [message(1, 0, 1, part=part, carries=[{"first": part, "count": 1, "terms": 1}]) for part in (0, 1)]
        arrow, = schedules.arrows_of({**ring(2), "parts": 2}, pair)
        self.assertEqual((arrow["label"], arrow["colour"]), ("0-1", schedules.MIXED))

    def test_blocks_of_an_all_to_all_are_named_by_sender_and_receiver(self):
        exchange = {**ring(4), "collective": "all_to_all", "count": 4}
        self.assertEqual(schedules.label(exchange, [{"origin": 2, "first": 3, "count": 1, "terms": 1}]), "2>3")
        self.assertEqual(schedules.label(exchange, [{"origin": 2, "first": 0, "count": 3, "terms": 1}]), "3 blocks")


class BadFiles(unittest.TestCase):
    def test_what_is_no_schedule_is_refused_in_one_line(self):
        for content, raw, problem in (("{", True, "not JSON"), ({"results": []}, False, "it has no collective")):
            status, stderr, picture = draw(content, ".svg", raw)
            self.assertEqual((status, picture), (4, b""))
            self.assertIn(problem, stderr)
            self.assertEqual(stderr.count("\n"), 1, stderr)


if __name__ == "__main__":
    unittest.main()
