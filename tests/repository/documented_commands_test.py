"""Every command that a page shows works, and every error that a page shows is what the program says.

    documented_commands_test.py PATH_OF_ATHANOR

Lines of ```sh blocks that begin with `athanor` are run page by page in a copy of scenarios/, where the JSON blocks whose
introduction names a file (`my-cluster.json`) have been saved. In ```console blocks, lines after `$ athanor ...` are what
it prints.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tree

sys.path.insert(0, str(tree.ROOT / "tools/plot"))
import interpreter  # noqa: E402

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"`([\w-]+\.json)`")
COMMAND = re.compile(r"^(?:build/tools/)?(athanor\b.*)$")


def pages():
    return [page for page in tree.files(".md") if page.parts[0] == "docs" or page.name == "README.md"]


def blocks(text, language):
    """(paragraph before it, content) of each block in a language."""
    for match in BLOCK.finditer(text):
        if match[1] == language:
            yield text[:match.start()].rstrip().rpartition("\n\n")[2], match[2]


def saved_files(text):
    """File name -> content of the JSON blocks that their introductions, which end in a colon, tell to save."""
    named = ((FILE_NAME.findall(before), content) for before, content in blocks(text, "json") if before.endswith(":"))
    return {names[-1]: content for names, content in named if names}


def commands(text):
    lines = [line for _, content in blocks(text, "sh") for line in content.splitlines()]
    return [match[1] for match in map(COMMAND.match, lines) if match]


def dialogues(text):
    """(command, what it prints) of the console blocks."""
    parts = [part for _, content in blocks(text, "console") for part in re.split(r"^\$ ", content, flags=re.MULTILINE)]
    return [tuple(part.split("\n", 1)) for part in parts if part]


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class DocumentedCommands(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        shutil.copytree(tree.ROOT / "scenarios", self.scratch / "scenarios")

    def run_in_scratch(self, command):
        environment = os.environ | {"PATH": f"{ATHANOR.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
        return subprocess.run(["bash", "-c", command], cwd=self.scratch, env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)

    def save_files(self, text):
        for name, content in saved_files(text).items():
            (self.scratch / name).write_text(content, encoding="utf-8")

    def test_every_command_in_the_documentation_succeeds(self):
        can_plot = interpreter.with_module("matplotlib") is not None
        for page in pages():
            self.save_files(tree.text(page))
            for command in commands(tree.text(page)):
                if not can_plot and "athanor plot" in command:
                    continue
                with self.subTest(page=str(page), command=command):
                    done = self.run_in_scratch(command)
                    self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_error_in_the_documentation_is_what_is_printed(self):
        for page in pages():
            self.save_files(tree.text(page))
            for command, printed in dialogues(tree.text(page)):
                with self.subTest(page=str(page), command=command):
                    done = self.run_in_scratch(command)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertEqual(done.stdout, printed)

    def test_the_guide_shows_commands_files_and_errors(self):
        guide = tree.text("docs/guide.md")
        self.assertGreater(len(commands(guide)), 10)
        self.assertGreater(len(saved_files(guide)), 4)
        self.assertGreater(len(dialogues(guide)), 1)


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
        prose = re.sub(r"```.*?```", " ", tree.text("docs/scenario.md"), flags=re.DOTALL)
        explained = set(re.findall(r"[$\w]+", " ".join(re.findall(r"`([^`]+)`", prose))))
        self.assertEqual(sorted(property_names(json.loads(printed)) - explained), [])


class TheCheckItself(unittest.TestCase):
    PAGE = ("Save this as `a.json`:\n\n```json\n{}\n```\n\nAs in `b.json`.\n\n```json\n[]\n```\n\n"
            "```sh\nathanor run a.json   # a comment\nbuild/tools/athanor list presets\ntools/check\n```\n\n"
            "```console\n$ athanor x\nno\nway\n$ athanor y\n```\n")

    def test_commands_files_and_dialogues_are_found(self):
        self.assertEqual(saved_files(self.PAGE), {"a.json": "{}\n"})
        self.assertEqual(commands(self.PAGE), ["athanor run a.json   # a comment", "athanor list presets"])
        self.assertEqual(dialogues(self.PAGE), [("athanor x", "no\nway\n"), ("athanor y", "")])

    def test_keys_are_found_at_any_depth(self):
        self.assertEqual(property_names({"properties": {"a": {"items": {"properties": {"b": {}}}}}}), {"a", "b"})


if __name__ == "__main__":
    unittest.main()
