"""A resolved scenario is its own resolved form, and gives the results of the one that it was made from, to the last bit.

    resolved_test.py PATH_OF_ATHANOR
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ATHANOR = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ["", "crosscheck", "in_network", "jobs", "published", "recommenders", "serving", "layouts", "sweeps", "topologies", "training", "validation", "validation/unseen"]
SECONDS = 3  # what runs longer is resolved and read only


class Resolved(unittest.TestCase):
    """All shipped scenarios, in a copy of their folder."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scenarios = pathlib.Path(scratch.name) / "scenarios"
        shutil.copytree(ROOT / "scenarios", self.scenarios)

    def athanor(self, *words, seconds=120):
        return subprocess.run([ATHANOR, *map(str, words), "-q", "--data", self.scenarios], capture_output=True, text=True,
                              timeout=seconds, check=False)

    def resolve(self, path, *words):
        target = path.with_suffix(".resolved.json")
        ended = self.athanor("validate", path, f"--resolved={target}", *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return target

    def rows(self, path, *words):
        try:
            ended = self.athanor("run", path, "--json", *words, seconds=SECONDS)
        except subprocess.TimeoutExpired:
            return None
        rows = json.loads(ended.stdout).get("results", []) if ended.returncode == 0 else [ended.stderr]
        for row in rows:
            if isinstance(row, dict):
                row.pop("scenario", None)
        return rows

    def test_all_shipped_scenarios(self):
        ran = 0
        for folder in FOLDERS:
            for path in sorted((self.scenarios / folder).glob("*.json")):
                with self.subTest(path.name):
                    once = self.resolve(path)
                    self.assertEqual(once.read_text(), self.resolve(once).read_text())
                    rows = self.rows(path)
                    again = self.rows(once) if rows is not None else None
                    if again is not None:
                        ran += 1
                        self.assertEqual(rows, again)
        self.assertGreater(ran, 10)

    def test_changes_of_the_command_line_are_in_it(self):
        path = self.scenarios / "quickstart.json"
        changes = ("--sizes", "64KiB", "--seed", "7")
        resolved = self.resolve(path, *changes)
        self.assertEqual(json.loads(resolved.read_text()).get("seed", 7), 7)
        self.assertEqual(self.rows(path, *changes), self.rows(resolved))

    def test_defaults_and_profiles_are_written_out(self):
        path = self.scenarios / "of_a_test.json"
        path.write_text(json.dumps({
            "cluster": {"node": "DGX-H100", "nodes": 2, "fabric": {"kind": "rail_optimized", "switch": "QM9700"}},
            "profile": "nccl-hopper-ib", "collective": {"kind": "all_reduce", "sizes": "1MiB"}}))
        resolved = json.loads(self.resolve(path).read_text())
        self.assertEqual(resolved["network"]["level"], "flow")
        self.assertEqual(resolved["profile"]["name"], "nccl-hopper-ib")
        self.assertIn("nccl", resolved["profile"])
        self.assertEqual(resolved["cluster"]["node"], "DGX-H100")
        self.assertNotIn("transport", resolved["network"])  # at this level it has no effect


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
