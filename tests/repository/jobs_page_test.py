"""The pictures of docs/jobs.md say what tools/scripts/documents/jobs draws now, and are small.

    jobs_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve()
PICTURES = tree.ROOT / "docs/images/jobs"
sys.path.insert(0, str(tree.ROOT / "tools/plot/python"))
import interpreter  # noqa: E402

PYTHON = interpreter.with_module("matplotlib")


class JobsPage(unittest.TestCase):
    @unittest.skipIf(PYTHON is None, "needs matplotlib")
    def test_pictures_are_what_would_be_drawn(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/jobs", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}\nrun tools/scripts/documents/jobs and commit it")

    def test_each_picture_is_shown_and_small(self):
        page = (tree.ROOT / "docs/jobs.md").read_text(encoding="utf-8")
        pictures = sorted(PICTURES.glob("*.svg"))
        self.assertTrue(pictures)
        for picture in pictures:
            self.assertIn(f"images/jobs/{picture.name})", page)
            self.assertLess(picture.stat().st_size, 60_000, picture.name)


unittest.main(verbosity=2)
