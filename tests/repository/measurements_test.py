"""Each table in scenarios/measurements names its source and holds together by nccl-tests' own definitions."""

import json
import unittest

import tree

FOLDER = "scenarios/measurements"
# Bus bandwidth over algorithm bandwidth for n ranks, as nccl-tests defines it.
FACTORS = {
    "all_reduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "all_gather": lambda ranks: (ranks - 1) / ranks,
    "reduce_scatter": lambda ranks: (ranks - 1) / ranks,
    "alltoall": lambda ranks: (ranks - 1) / ranks,
    "all_to_all": lambda ranks: (ranks - 1) / ranks,
    "gather": lambda ranks: (ranks - 1) / ranks,
    "scatter": lambda ranks: (ranks - 1) / ranks,
    "barrier": lambda ranks: 0,
    "send_receive": lambda ranks: 1,
    "broadcast": lambda ranks: 1,
    "reduce": lambda ranks: 1,
}


def tables():
    paths = [path for path in tree.files(".json") if str(path).startswith(FOLDER)]
    return [(path, json.loads(tree.text(path))) for path in paths]


def ranks(table, row):
    hardware = table["hardware"]
    said = (row.get("ranks"), row.get("gpus"), table.get("ranks"), hardware.get("ranks"))
    return next((count for count in said if count), None) or hardware["gpus_per_node"] * hardware["nodes"]


def rows(table):
    return table["rows"] + table.get("rows_in_place", [])


def kind_of_row(table, row):
    """What rows of equal size must differ in."""
    keys = ("collective", "algorithm", "algo", "in_place", "type", "backend")
    return (ranks(table, row), *(row.get(key, table.get(key)) for key in keys))


def disagreements(table):
    """Rows whose bandwidths contradict their time by more than rounding and 1 %."""
    wrong = []
    for row in rows(table):
        if row["time_us"] is None:
            continue
        factor = FACTORS[row.get("collective", table.get("collective"))](ranks(table, row))
        algorithm = row["bytes"] / row["time_us"] / 1000
        for name, expected in (("algbw_gbps", algorithm), ("busbw_gbps", algorithm * factor)):
            if name in row and abs(row[name] - expected) > 0.01 * expected + 0.0101:
                wrong.append((row["bytes"], name, row[name], round(expected, 3)))
    return wrong


class Measurements(unittest.TestCase):
    def test_every_table_is_named_like_its_file_and_says_where_it_comes_from(self):
        self.assertGreaterEqual(len(tables()), 2)
        for path, table in tables():
            with self.subTest(table=str(path)):
                self.assertEqual(table["id"], path.stem)
                for key in ("source", "date", "hardware", "software"):
                    self.assertTrue(table[key], key)
                self.assertTrue(table.get("url") or table["hardware"].get("machine"), "published, or of a machine")

    def test_every_table_is_listed_with_its_source_in_the_readme(self):
        listed = tree.text(f"{FOLDER}/README.md")
        for path, table in tables():
            with self.subTest(table=str(path)):
                self.assertIn(table["id"], listed)
                self.assertIn(table.get("url", ""), listed)

    def test_sizes_rise_and_times_are_positive(self):
        for path, table in tables():
            with self.subTest(table=str(path)):
                for kind in {kind_of_row(table, row) for row in table["rows"]}:
                    sizes = [row["bytes"] for row in table["rows"] if kind_of_row(table, row) == kind]
                    self.assertEqual(sizes, sorted(set(sizes)))
                self.assertTrue(all(row["time_us"] is None or row["time_us"] > 0 for row in rows(table)))

    def test_bandwidths_follow_from_bytes_time_and_ranks(self):
        for path, table in tables():
            with self.subTest(table=str(path)):
                self.assertEqual(disagreements(table), [])

    def test_a_row_that_contradicts_itself_is_found(self):
        table = {"collective": "all_reduce", "hardware": {"gpus_per_node": 8, "nodes": 1},
                 "rows": [{"bytes": 10**9, "time_us": 10**4, "algbw_gbps": 100.0, "busbw_gbps": 100.0}]}
        self.assertEqual([row[1] for row in disagreements(table)], ["busbw_gbps"])
        table["rows"][0] |= {"collective": "broadcast"}
        self.assertEqual(disagreements(table), [])
        table["rows"][0] |= {"collective": "all_reduce", "ranks": 2}
        self.assertEqual(disagreements(table), [])


if __name__ == "__main__":
    unittest.main()
