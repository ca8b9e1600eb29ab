"""The traces in scenarios/traces are what tools/scripts/make_example_traces writes, and small."""

import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tree

MOST_BYTES = 200_000


def content(path):
    """Versions of zlib compress in different ways."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


class ExampleTraces(unittest.TestCase):
    def test_the_script_writes_every_example_again(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, tree.ROOT / "tools/scripts/make_example_traces", folder], check=True)
            written = {path.name: content(path) for path in pathlib.Path(folder).iterdir()}
        kept = {path.name: content(path) for path in (tree.ROOT / "scenarios/traces").iterdir()}
        self.assertEqual(sorted(written), sorted(kept))
        self.assertEqual([name for name in kept if written[name] != kept[name]], [])
        self.assertEqual([name for name in kept if len(kept[name]) > MOST_BYTES], [])

    def test_a_wrong_command_line_is_refused(self):
        ran = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/make_example_traces", "--kineto"], check=False,
                             capture_output=True)
        self.assertEqual(ran.returncode, 2)


if __name__ == "__main__":
    unittest.main()
