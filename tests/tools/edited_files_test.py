"""Files that come back in, with random edits: however they are damaged, the program ends with a status, and says why.

    edited_files_test.py PATH_OF_ATHANOR          EDITS=1000 in the environment: so many of each kind
"""

import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import tempfile
import unittest

from defect_files import PYTHON, SWEEP, Files


def edited(data, chance):
    """A few bytes replaced, removed, repeated or swapped for what often breaks readers."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data))
        length = chance.choice((1, 1, 2, 4, 16, 200))
        piece = chance.choice((bytes([chance.randrange(256)]), b"", b"null", b"-1", b"1e308", b"[]", b"{}", b'"', b"\xff\xff\xff\xff",
                               b"99999999999999999999", bytes(data[place:place + length]) * 2, b'"x"', b"true"))
        data[place:place + length] = piece
    return bytes(data)


def edited_row(path, chance):
    """One value of a sweep replaced by one of another kind or size."""
    values = (None, -1, 0, 7, 2 ** 62, 1e300, float("inf"), "", "x", "[]", "{}", "null", "[" * 150, b"\x00\xff", "9" * 400,
              '{"message": 5}', '[null]', '{"bytes": -1}', '{"case": {}}', '{"parameters": 5}', '{"notes": [1]}')
    with sqlite3.connect(path) as database:
        table, column = chance.choice((("sweep", "value"), ("points", "error"), ("points", "warnings"), ("points", "parameters"),
                                       ("points", "point"), ("points", "scenario_case"), ("results", "result"), ("results", "line"),
                                       ("results", "point"), ("inputs", "hash"), ("executions", "host"), ("executions", "seconds"),
                                       ("executions", "point")))
        rows = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        key = database.execute(f"SELECT * FROM {table} LIMIT 1 OFFSET {chance.randrange(rows)}").fetchone()[0]
        name = {"sweep": "key", "inputs": "path"}.get(table, "point")
        try:
            database.execute(f"UPDATE {table} SET {column} = ? WHERE {name} = ?", (chance.choice(values), key))
        except (sqlite3.Error, OverflowError):
            return  # SQLite itself refuses it


class Edits(Files):
    """Random edits of files of all kinds."""

    def setUp(self):
        super().setUp()
        self.edits = int(os.environ.get("EDITS", "40"))
        (self.folder / "s.json").write_text(json.dumps(SWEEP))
        self.succeed("sweep", "-q", "s.json", "--vary", "/seed=1,2,3", "-o", "s.sqlite")
        self.succeed("run", "-q", "s.json", "--json=r.json")
        self.succeed("compare", "s.sqlite", "--by", "seed", "--json=c.json")

    def check(self, data, name, words):
        (self.folder / name).write_bytes(data)
        status, _, err = self.run_in([*words, name])
        if status not in (0, 2, 3, 4) or "Traceback" in err or re.search("defect of athanor", err):
            kept = pathlib.Path(tempfile.gettempdir()) / ("edited-" + name)
            kept.write_bytes(data)
            self.fail(f"{words} ends with {status} on {kept}: {err[-2000:]}")

    def test_edited_results_end_with_a_status(self):
        chance = random.Random(1)
        whole = (self.folder / "r.json").read_bytes()
        for _ in range(self.edits):
            self.check(edited(whole, chance), "e.json", ["compare", "s.sqlite"])

    def test_edited_sweeps_end_with_a_status(self):
        chance = random.Random(2)
        whole = (self.folder / "s.sqlite").read_bytes()
        for _ in range(self.edits):
            self.check(edited(whole, chance), "e.sqlite", chance.choice((["export", "sweep"], ["compare"])))

    def test_edited_rows_of_sweeps_end_with_a_status(self):
        chance = random.Random(3)
        for _ in range(self.edits):
            shutil.copy(self.folder / "s.sqlite", self.folder / "e.sqlite")
            for _ in range(chance.randint(1, 2)):
                edited_row(self.folder / "e.sqlite", chance)
            data = (self.folder / "e.sqlite").read_bytes()
            self.check(data, "e.sqlite", chance.choice((["export", "sweep"], ["compare"], ["export", "sweep", "--format", "json"])))
            status, _, err = self.run_in(["sweep", "-q", "s.json", "--vary", "/seed=1,2,3", "-o", "e.sqlite", "--resume"])
            self.assertIn(status, (0, 1, 4), err)
            self.assertNotIn("defect of athanor", err)

    @unittest.skipUnless(PYTHON, "no Python with matplotlib")
    def test_edited_files_are_drawn_or_refused(self):
        chance = random.Random(4)
        for _ in range(max(2, self.edits // 20)):
            for name in ("r.json", "c.json"):
                data = edited((self.folder / name).read_bytes(), chance)
                self.check(data, "e.json", ["plot", "--out", "plots"])


if __name__ == "__main__":
    unittest.main()
