"""The tables of docs/packets.md are what the simulator says now.

    packets_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class PacketsPage(unittest.TestCase):
    def test_every_table_is_up_to_date(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/document_packets", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
