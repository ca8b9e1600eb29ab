"""What `meson install` installs is whole, and works without the source tree, Python or an environment.

    installation_test.py BUILD_DIRECTORY
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import tree

sys.path.insert(0, str(tree.ROOT / "tools/plot/python"))
import interpreter  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None


@unittest.skipIf(BUILD is None or shutil.which("meson") is None, "needs a build directory as its argument, and meson")
class Installation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.folder / "root"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.athanor = next((cls.folder / "root").rglob("bin/athanor"))
        cls.prefix = cls.athanor.parents[1]

    def run_alone(self, *words, **environment):
        """In a folder with nothing in it, and with no PATH but the program's."""
        empty = self.folder / "empty"
        empty.mkdir(exist_ok=True)
        return subprocess.run([self.athanor, *words], cwd=empty, env={"PATH": str(self.athanor.parent)} | environment,
                              capture_output=True, text=True, check=False)

    def printed(self, *words):
        done = self.run_alone(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_presets_profiles_and_measurements_are_the_installed_ones(self):
        profile = {"name": "only-here", "description": "of this installation", "launch": "1us"}
        place = self.prefix / "share/athanor/scenarios/profiles/only-here.json"
        place.write_text(json.dumps(profile), encoding="utf-8")
        self.addCleanup(place.unlink)
        self.assertIn("only-here", self.printed("list", "profiles"))

    def test_a_scenario_anywhere_is_simulated_and_verified(self):
        shutil.copy(tree.ROOT / "scenarios/quickstart.json", self.folder)
        self.assertIn("1073741824", self.printed("run", self.folder / "quickstart.json", "--sizes", "1GiB"))
        self.assertIn("simulated", self.printed("verify", self.folder / "quickstart.json"))

    def test_manual_completions_and_schema_are_what_the_program_prints(self):
        share = self.prefix / "share"
        for path, words in (("man/man1/athanor.1", ["manual"]), ("zsh/site-functions/_athanor", ["completion", "zsh"]),
                            ("bash-completion/completions/athanor.bash", ["completion", "bash"]),
                            ("athanor/scenario.schema.json", ["schema"])):
            with self.subTest(path):
                found = list(self.prefix.rglob(path.rpartition("/")[2]))
                self.assertTrue(found, sorted(share.rglob("*"))[:20])
                self.assertEqual(found[0].read_text(encoding="utf-8"), self.printed(*words))

    def test_bash_takes_the_completion(self):
        script = next(self.prefix.rglob("bash-completion/completions/*"))
        asked = (f'. "{script}"; COMP_WORDS=(athanor sweep --ret); COMP_CWORD=2; _athanor; echo "${{COMPREPLY[@]}}"')
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["--retry-failed"])

    def test_without_python_plots_are_refused_with_the_reason(self):
        done = self.run_alone("plot", "schedule", "--collective", "all_reduce", "--algorithm", "ring", "--ranks", "4", "-o",
                              "ring.svg", ATHANOR_PYTHON="/nowhere/python3")
        self.assertEqual(done.returncode, 4)
        self.assertIn("matplotlib", done.stderr)

    @unittest.skipIf(interpreter.with_module("matplotlib") is None, "no Python with matplotlib")
    def test_with_python_it_draws(self):
        picture = self.folder / "ring.svg"
        done = self.run_alone("plot", "schedule", "--collective", "all_reduce", "--algorithm", "ring", "--ranks", "4", "-o",
                              picture, ATHANOR_PYTHON=interpreter.with_module("matplotlib"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(picture.exists())
        self.assertEqual(list(self.prefix.rglob("__pycache__")), [], "an installation stays as it was installed")


if __name__ == "__main__":
    unittest.main()
