"""docs/results.md explains every key that results of each kind have, in the words of the declarations of columns.

    results_page_test.py PATH_OF_ATHANOR
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
PAGE = "docs/results.md"
# Keys within are names of what a scenario or the machine gives; those of slots have a table in docs/scenario.md.
MAPS = {"parameters", "refused", "machine", "slots", "failures", "lost_gpu_hours", "from_memory", "mttf_h", "best_interval_s", "storage_read_gb",
        "storage_written_gb", "storage_busiest_read_gbs", "storage_busiest_write_gbs"}
COSTS = '/training/costs={"node_w": 2800, "switch_w": 1700, "usd_per_kwh": 0.1, "tokens": 1e12}'
COMMANDS = [
    ["run", "scenarios/quickstart.json", "--sizes", "1MiB"],
    ["run", "scenarios/levels.json", "--sizes", "64KiB", "--set", "/seeds=3"],
    ["run", "scenarios/nccl_jobs.json", "--sizes", "1MiB"],
    ["run", "scenarios/quickstart.json", "--case", "one DGX H100", "--sizes", "1MiB", "--set", '/collective/compute="1ms"'],
    ["run", "TRAFFIC", "--set", '/network={"level": "packet"}'],
    ["run", "TRAFFIC", "--set", "/seeds=2"],
    ["run", "scenarios/in_network/atp_sharing.json"],
    ["run", "scenarios/training/parameter_server.json", "--case", "one server", "--set", "/seeds=2"],
    ["run", "scenarios/circuits.json"],
    ["run", "scenarios/replay.json"],
    ["run", "scenarios/layouts/megatron_layer.json"],
    ["run", "scenarios/jobs/llama3_interruptions.json", "--set", "/seeds=2"],
    ["run", "scenarios/jobs/coordl_caches.json", "--case", "MinIO"],
    ["run", "scenarios/training/llama3_405b.json", "--case", "16384 GPUs", "--set", COSTS],
    ["plan", "scenarios/training/megatron_sc21.json", "--case", "7.5B, 128 GPUs", "--tensor", "4", "--recompute", "none"],
    ["verify", "scenarios/quickstart.json", "--case", "one DGX H100", "--set", "/collective/algorithm=each"],
    ["sweep", "scenarios/sweeps/eight_gpus.json", "-o", "SWEEP"],
    ["measure", "--ranks", "2", "--sizes", "1KiB", "--iterations", "2"],
    ["numerics", "--ranks", "2", "--size", "1KiB"],
]


def keys(value):
    """All keys at any depth, but those within maps."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys(each) for key, each in value.items() if key not in MAPS))


def explained():
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", tree.text(PAGE)))))


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class ResultsPage(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        star = {"nodes": 8, "fabric": {"kind": "star", "link": {"rate": "100Gb/s", "latency": "1us"}}}
        traffic = {"cluster": star, "traffic": {"pattern": "incast", "senders": 3, "sizes": "64KiB"}}
        (self.folder / "traffic.json").write_text(json.dumps(traffic), encoding="utf-8")

    def document(self, command):
        places = {"TRAFFIC": self.folder / "traffic.json", "SWEEP": self.folder / "sweep.sqlite"}
        words = [ATHANOR, *(places.get(word, word) for word in command), "--json", "--quiet"]
        done = subprocess.run(words, cwd=tree.ROOT, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 5), done.stderr)
        return json.loads(done.stdout)

    def test_every_key_of_a_result_is_explained(self):
        known = explained()
        for command in COMMANDS:
            with self.subTest(command=" ".join(command)):
                document = self.document(command)
                self.assertTrue(document["results"])
                self.assertEqual(sorted(keys(document) - known), [])


class Declarations(unittest.TestCase):
    def test_columns_with_a_role_or_that_are_shown_elsewhere_are_among_the_figures(self):
        """What compares and draws results looks there alone."""
        texts = {path: tree.text(path) for path in tree.files(".hpp", ".cpp") if path.parts[:2] == ("models", "experiments")}
        named = set()
        for text in texts.values():
            for body in re.findall(r"> (?:\w+::)?(?:figures\w*|all_figures)\(\) \{(.*?)\n?\}\n\n", text, re.DOTALL):
                named |= set(re.findall(r"&(k\w+)", body))
        for path, text in texts.items():
            for name, declaration in re.findall(r"constexpr Column (k\w+)\{([^;]*);", text):
                if re.search(r"\.(role|shown) = ", declaration):
                    self.assertIn(name, named, path)

    def test_tables_are_what_columns_say_and_each_column_has_a_meaning(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/results", "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class TheCheckItself(unittest.TestCase):
    def test_keys_are_found_at_any_depth_and_not_in_maps(self):
        self.assertEqual(keys({"a": [{"b": 1}], "parameters": {"c": 2}}), {"a", "b", "parameters"})


if __name__ == "__main__":
    unittest.main()
