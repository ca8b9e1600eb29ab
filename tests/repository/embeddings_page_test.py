"""The tables of docs/embeddings.md are what tools/scripts/documents/embeddings writes now.

    embeddings_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve()


class EmbeddingsPage(unittest.TestCase):
    def test_tables_are_what_would_be_written(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/embeddings", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}\nrun tools/scripts/documents/embeddings and commit it")


unittest.main(verbosity=2)
