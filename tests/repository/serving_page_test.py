"""The tables of docs/serving.md are what tools/scripts/documents/serving writes now, and published figures are met.

    serving_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import re
import statistics
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve()
ERROR = re.compile(r"\(([+-][\d.]+) %\)")


class ServingPage(unittest.TestCase):
    def test_tables_are_what_would_be_written(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/serving", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}\nrun tools/scripts/documents/serving and commit it")

    def test_published_throughputs_are_met_within_a_tenth_in_the_median(self):
        page = (tree.ROOT / "docs/serving.md").read_text(encoding="utf-8")
        table = page.partition("<!-- published: begin -->")[2].partition("<!-- published: end -->")[0]
        errors = [abs(float(error)) for error in ERROR.findall(table)]
        self.assertEqual(len(errors), 60)
        self.assertLess(statistics.median(errors), 10)
        self.assertLess(max(errors), 20)


unittest.main(verbosity=2)
