"""The program of docs/library.md compiles against what `meson install` installs, and runs a scenario.

    library_test.py BUILD_DIRECTORY
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import tree

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
PAGE = "docs/library.md"
PACKAGE_OF = {"fmt": "fmt", "pugixml.hpp": "pugixml"}  # of what headers include of others
RUN_FOR_REAL = {"cuda_runtime.h", "mpi.h"}  # of programs on GPUs and processes, which the library does not have


def included_from_others():
    """Of all headers that are installed, what they include beside our own and the standard library: "fmt", "pugixml.hpp"."""
    texts = [tree.text(path) for path in tree.files(".hpp") if path.parts[0] in {"sim", "topologies", "algorithms", "models"}]
    return {name.split("/")[0] for text in texts for name in re.findall(r"^#include <([^>]*[/.][^>]*)>", text, re.MULTILINE)}


def program():
    return re.search(r"```cpp\n(.*?)```", tree.text(PAGE), re.DOTALL).group(1)


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


@unittest.skipIf(BUILD is None, "needs the build directory as its argument")
class Library(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def installed(self):
        run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--destdir", str(self.folder / "root")])
        return next((self.folder / "root").rglob("athanor.pc"))

    def test_the_program_of_the_page_runs_a_scenario_with_what_is_installed(self):
        package = self.installed()
        root = self.folder / "root"
        environment = dict(os.environ, PKG_CONFIG_PATH=str(package.parent), PKG_CONFIG_SYSROOT_DIR=str(root))
        flags = run(["pkg-config", "--cflags", "--libs", "--static", "athanor"], env=environment).split()
        # The other libraries are the system's: only what is ours lies below the root of this test.
        flags = [flag.replace(str(root), "") if "athanor" not in flag and "local" not in flag else flag for flag in flags]
        source = program().replace("/usr/local/share/athanor/scenarios", str(tree.ROOT / "scenarios"))
        source = source.replace('"quickstart.json"', json.dumps(str(tree.ROOT / "scenarios" / "quickstart.json")))
        (self.folder / "first.cpp").write_text(source, encoding="utf-8")
        run(["c++", "-std=c++20", str(self.folder / "first.cpp"), *flags, "-o", str(self.folder / "first")])
        rows = [json.loads(line) for line in run([str(self.folder / "first")]).splitlines()]
        self.assertGreater(len(rows), 1)
        self.assertTrue(all(row["time_us"] > 0 for row in rows))

    def test_it_asks_of_a_program_what_headers_and_library_need_and_nothing_that_only_we_compile_with(self):
        text = self.installed().read_text(encoding="utf-8")
        required = set(re.search(r"^Requires: (.*)", text, re.MULTILINE).group(1).split(", "))
        foreign = included_from_others() - RUN_FOR_REAL
        self.assertLessEqual({PACKAGE_OF[name] for name in foreign}, required)
        self.assertFalse([word for word in ("BOOST", "boost", "nlohmann", "-I/usr") if word in text], text)

    def test_the_page_keeps_its_promise_of_ten_lines(self):
        lines = [line for line in program().splitlines() if line.strip() and not line.startswith("#include")]
        self.assertLessEqual(len(lines), 10)


if __name__ == "__main__":
    unittest.main()
