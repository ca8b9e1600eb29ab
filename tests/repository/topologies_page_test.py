"""docs/topologies.md is what tools/scripts/documents/topologies writes, its pictures are small, and its examples too.

    topologies_page_test.py PATH_OF_ATHANOR
"""

import json
import pathlib
import subprocess
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
PICTURES = tree.ROOT / "docs/images/topologies"
EXAMPLES = tree.ROOT / "scenarios/topologies"
MOST_BYTES = 60_000
MOST_ENDPOINTS = 40


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class TopologiesPage(unittest.TestCase):
    def test_the_page_says_what_the_catalog_says_and_every_topology_has_a_picture(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/topologies", "--check", "--athanor", ATHANOR],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_pictures_are_small(self):
        self.assertTrue(list(PICTURES.glob("*.svg")))
        for picture in PICTURES.glob("*.svg"):
            with self.subTest(picture.name):
                self.assertLess(picture.stat().st_size, MOST_BYTES)

    def test_examples_are_small_run_and_show_the_default_routing(self):
        for example in EXAMPLES.glob("*.json"):
            with self.subTest(example.name):
                described = subprocess.run([ATHANOR, "describe", example, "--json"], capture_output=True, text=True,
                                           check=True).stdout
                self.assertLessEqual(json.loads(described)["results"][0]["endpoints"], MOST_ENDPOINTS)
                subprocess.run([ATHANOR, "run", example, "--quiet"], capture_output=True, check=True)

    def test_listed_routings_are_those_that_the_fabric_takes(self):
        listed = json.loads(subprocess.run([ATHANOR, "list", "topologies", "--json"], capture_output=True, text=True,
                                           check=True).stdout)["results"]
        every = {routing for topology in listed for routing in topology["routings"]}
        for topology in listed:
            for routing in sorted(every):
                with self.subTest(topology=topology["name"], routing=routing):
                    done = subprocess.run([ATHANOR, "validate", EXAMPLES / f"{topology['name']}.json", "--set",
                                           f'/network={{"routing": "{routing}"}}'], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0 if routing in topology["routings"] else 3, done.stderr)


if __name__ == "__main__":
    unittest.main()
