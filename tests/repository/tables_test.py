"""The tables of a page of docs/ are what the simulator says now.

    tables_test.py PATH_OF_ATHANOR PAGE    as in packets: docs/packets.md, written by tools/scripts/documents/packets
"""

import pathlib
import subprocess
import sys
import unittest

import tree

PAGE = sys.argv.pop(2) if len(sys.argv) > 2 else None
ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if PAGE else None


@unittest.skipIf(PAGE is None, "needs the path of athanor and a page as its arguments")
class Tables(unittest.TestCase):
    def test_every_table_is_up_to_date(self):
        done = subprocess.run([sys.executable, tree.ROOT / f"tools/scripts/documents/{PAGE}", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}\nrun tools/scripts/documents/{PAGE} and commit it")


if __name__ == "__main__":
    unittest.main()
