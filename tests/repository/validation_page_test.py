"""The tables of docs/validation.md are what the simulator says now.

    validation_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class ValidationPage(unittest.TestCase):
    def test_every_table_is_up_to_date(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/validation", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
