"""The tables of docs/numerics.md are what `athanor numerics` prints now.

    numerics_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import re
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
EXAMPLE = re.compile(r"^```sh\nathanor ([^\n]*)\n```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(text):
    """(arguments, table) of each command that is followed by what it prints."""
    return [(match[1].split(), match[2]) for match in EXAMPLE.finditer(text)]


def without_version(table):
    return "".join(line for line in table.splitlines(keepends=True) if not line.startswith("# athanor "))


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class NumericsPage(unittest.TestCase):
    def test_every_table_is_up_to_date(self):
        found = examples(tree.text("docs/numerics.md"))
        self.assertEqual(len(found), 6)
        for arguments, table in found:
            with self.subTest(arguments=arguments):
                done = subprocess.run([ATHANOR, *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(without_version(done.stdout), table)


class TheCheckItself(unittest.TestCase):
    def test_commands_are_found_with_their_tables_and_others_are_not(self):
        page = "```sh\nathanor x --y 1\n```\n\n```text\n# a\n  b\n```\n\n```sh\nathanor z\n```\n\nNo table.\n"
        self.assertEqual(examples(page), [(["x", "--y", "1"], "# a\n  b\n")])

    def test_the_version_does_not_count(self):
        self.assertEqual(without_version("# athanor 0.1.0 (abc)\n# a\n"), "# a\n")


if __name__ == "__main__":
    unittest.main()
