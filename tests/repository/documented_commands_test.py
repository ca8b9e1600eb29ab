"""Every command that a page shows works, and prints what the page says.

    documented_commands_test.py PATH_OF_ATHANOR

Of each page, so that it can be read alone: in a copy of scenarios/, where the JSON blocks whose introduction names a file
(`my-cluster.json`) have been saved, the lines of ```sh blocks that begin with `athanor` are run, and those of ```console
blocks behind `$ `, in their order. What follows there is all that the command prints; `...` stands for any lines.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import tree

sys.path.insert(0, str(tree.ROOT / "tools/plot/python"))
import interpreter  # noqa: E402

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"`([\w-]+\.json)`")
COMMAND = re.compile(r"^(?:build/tools/)?(athanor\b.*)$")


def pages():
    return [page for page in tree.files(".md") if page.parts[0] == "docs" or page.name == "README.md"]


def blocks(text):
    """(language, paragraph before it, content without its indentation) of each block."""
    for match in BLOCK.finditer(text):
        yield match[2], text[:match.start()].rstrip().rpartition("\n\n")[2], textwrap.dedent(match[3])


def saved_files(text):
    """File name -> content of the JSON blocks that their introductions, which end in a colon, tell to save."""
    named = ((FILE_NAME.findall(before), content) for language, before, content in blocks(text)
             if language == "json" and before.endswith(":"))
    return {names[-1]: content for names, content in named if names}


def dialogues(content):
    """(command, what it prints) of a console block."""
    parts = re.split(r"^\$ ", content, flags=re.MULTILINE)
    return [tuple(part.split("\n", 1)) for part in parts if part]


def commands(text):
    """(command, what it prints or None) in the order of the page."""
    found = []
    for language, _, content in blocks(text):
        if language == "sh":
            found += [(line[1], None) for line in map(COMMAND.match, content.splitlines()) if line]
        elif language == "console":
            found += dialogues(content)
    return found


def prints(shown, output):
    """Is `output` what a page shows, where a line `...` stands for any lines?"""
    parts = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
    return re.fullmatch(r"(?:.*\n)*?".join(map(re.escape, parts)), output) is not None


def fails(shown):
    """Does a page show an error?"""
    return shown is not None and shown.startswith("athanor: error")


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class DocumentedCommands(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def begin(self, text):
        """A fresh folder for the page, with the files that it tells to save."""
        self.scratch = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copytree(tree.ROOT / "scenarios", self.scratch / "scenarios")
        for name, content in saved_files(text).items():
            (self.scratch / name).write_text(content, encoding="utf-8")

    def run_in_scratch(self, command):
        environment = os.environ | {"PATH": f"{ATHANOR.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
        return subprocess.run(["bash", "-c", command], cwd=self.scratch, env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)

    def check(self, command, shown):
        done = self.run_in_scratch(command)
        if fails(shown):
            self.assertNotEqual(done.returncode, 0)
        else:
            self.assertEqual(done.returncode, 0, done.stdout)
        if shown is not None and not prints(shown, done.stdout):
            self.assertEqual(shown, done.stdout)

    def test_every_command_of_each_page_works_and_prints_what_is_shown(self):
        can_plot = interpreter.with_module("matplotlib") is not None
        for page in pages():
            self.begin(tree.text(page))
            for command, shown in commands(tree.text(page)):
                if not can_plot and re.match(r"athanor (plot|report)", command):
                    continue
                with self.subTest(page=str(page), command=command):
                    self.check(command, shown)

    def test_the_guide_shows_commands_files_outputs_and_errors(self):
        guide = [tree.text(page) for page in pages() if page.parent.name == "guide"]
        shown = [shown for text in guide for _, shown in commands(text)]
        self.assertGreater(len(shown), 40)
        self.assertGreater(len([each for each in shown if each]), 12)
        self.assertGreater(len(list(filter(fails, shown))), 1)
        self.assertGreater(sum(len(saved_files(text)) for text in guide), 8)


def property_names(schema):
    """All keys that a schema knows, at any depth."""
    if isinstance(schema, list):
        return set().union(*map(property_names, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(property_names, schema.values()))


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class ScenarioReference(unittest.TestCase):
    def test_every_key_of_the_schema_is_explained(self):
        printed = subprocess.run([ATHANOR, "schema"], capture_output=True, text=True, check=True).stdout
        # Kinds of schedulers, placements and logs have their keys on the page of jobs.
        pages = tree.text("docs/scenario.md") + tree.text("docs/jobs.md")
        prose = re.sub(r"```.*?```", " ", pages, flags=re.DOTALL)
        explained = set(re.findall(r"[$\w]+", " ".join(re.findall(r"`([^`]+)`", prose))))
        self.assertEqual(sorted(property_names(json.loads(printed)) - explained), [])


class TheCheckItself(unittest.TestCase):
    PAGE = ("Save this as `a.json`:\n\n```json\n{}\n```\n\nAs in `b.json`.\n\n```json\n[]\n```\n\n"
            "```sh\nathanor run a.json   # a comment\nbuild/tools/athanor list presets\ntools/check\n```\n\n"
            "```console\n$ athanor x\nno\nway\n$ athanor y\n```\n\n1. A step:\n\n   ```sh\n   athanor z\n   ```\n")

    def test_commands_files_and_dialogues_are_found(self):
        self.assertEqual(saved_files(self.PAGE), {"a.json": "{}\n"})
        self.assertEqual(commands(self.PAGE), [("athanor run a.json   # a comment", None), ("athanor list presets", None),
                                               ("athanor x", "no\nway\n"), ("athanor y", ""), ("athanor z", None)])

    def test_dots_stand_for_any_lines_and_nothing_else_may_differ(self):
        output = "head\n  1  a\n  2  b\nend\n"
        for shown in (output, "...\n", "head\n...\nend\n", "head\n...\n  1  a\n...\n", "...\n  2  b\nend\n"):
            self.assertTrue(prints(shown, output), shown)
        for shown in ("head\n", "head\n...\n  1  b\n...\n", "  2  b\n...\n", "...\n  1  a\n  3  c\n...\n"):
            self.assertFalse(prints(shown, output), shown)

    def test_keys_are_found_at_any_depth(self):
        self.assertEqual(property_names({"properties": {"a": {"items": {"properties": {"b": {}}}}}}), {"a", "b"})


if __name__ == "__main__":
    unittest.main()
