"""docs/command_line.md is what tools/scripts/documents/command_line writes, and has every command.

    command_line_page_test.py PATH_OF_ATHANOR
"""

import pathlib
import re
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class CommandLinePage(unittest.TestCase):
    def test_the_page_says_what_the_program_says(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/command_line", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_command_has_a_section_with_its_usage_and_an_example(self):
        page = tree.text("docs/command_line.md")
        usage = subprocess.run([ATHANOR, "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^  (\w+) +", usage.partition("commands:")[2].partition("help ")[0], flags=re.MULTILINE)
        self.assertIn("run", commands)
        for command in commands:
            with self.subTest(command):
                section = page.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
                self.assertIn(f"athanor {command} [OPTION...]", section)
                self.assertRegex(section, f"For example:\n\n```(sh|text)\nathanor {command} ?")


if __name__ == "__main__":
    unittest.main()
