"""docs/algorithms.md is what tools/scripts/documents/algorithms writes, and its pictures are small.

    algorithms_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
PICTURES = tree.ROOT / "docs/images/algorithms"
MOST_BYTES = 60_000


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class AlgorithmsPage(unittest.TestCase):
    def test_the_page_says_what_the_catalog_says_and_every_algorithm_has_a_picture(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/algorithms", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_pictures_are_small(self):
        for picture in PICTURES.glob("*.svg"):
            with self.subTest(picture.name):
                self.assertLess(picture.stat().st_size, MOST_BYTES)


if __name__ == "__main__":
    unittest.main()
