"""The tables of docs/training.md are what the simulator says now, as far as a minute shows.

    training_page_test.py PATH_OF_ATHANOR

All that the page says of profiles and fabrics is checked, the summary against the table of all steps, and of the steps of
each scenario one. `tools/scripts/documents/training --check` checks every step.
"""

import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import unittest

import tree

ATHANOR = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
PAGE = tree.ROOT / "docs/training.md"


def page_program():
    """tools/scripts/documents/training as a module."""
    sys.path.insert(0, str(tree.ROOT / "tools/scripts/documents"))
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("training", str(tree.ROOT / "tools/scripts/documents/training"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("training", loader))
    loader.exec_module(module)
    return module


def part(name):
    text = PAGE.read_text(encoding="utf-8")
    return re.search(f"<!-- {name}: begin -->\n\n(.*?)\n\n<!-- {name}: end -->", text, re.DOTALL).group(1)


def cells(name):
    """The lines of a table, below its head."""
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in part(name).splitlines()[2:]]


def steps_by_scenario():
    found = {}
    for line in cells("steps"):
        found.setdefault(line[0].split(":")[0], []).append(line)
    return found


def percentage(cell):
    return float(cell.removesuffix(" %"))


class TrainingPage(unittest.TestCase):
    def setUp(self):
        self.page = page_program()

    def test_profiles_are_what_fits_wrote(self):
        self.assertEqual(part("profiles"), self.page.profiles(None))

    def test_the_summary_follows_from_the_steps(self):
        steps = steps_by_scenario()
        for name, _, _, count, median, last, _ in cells("scenarios"):
            name = re.match(r"\[(\w+)\]", name).group(1)
            errors = [abs(percentage(line[3])) for line in steps.pop(name)]
            self.assertEqual(len(errors), int(count), name)
            self.assertAlmostEqual(self.page.nearest_rank(errors, 0.5), percentage(median), delta=0.11, msg=name)
            self.assertAlmostEqual(self.page.nearest_rank(errors, 0.9), percentage(last), delta=0.11, msg=name)
        self.assertEqual(steps, {})

    @unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
    def test_fabrics_are_simulated_so(self):
        self.assertEqual(part("fabrics"), self.page.fabrics(ATHANOR))

    @unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
    def test_one_process_and_one_for_each_gpu_are_simulated_so(self):
        self.assertEqual(part("data_parallel"), self.page.data_parallel(ATHANOR))
        self.assertEqual(part("data_parallel_published"), self.page.data_parallel_published(ATHANOR))

    @unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
    def test_mixed_machines_are_simulated_so(self):
        self.assertEqual(part("mixed"), self.page.mixed(ATHANOR))
        self.assertEqual(part("mixed_published"), self.page.mixed_published(ATHANOR))

    @unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
    def test_steps_that_no_fit_has_seen_are_simulated_so(self):
        self.assertEqual(part("held_out"), self.page.held_out(ATHANOR))

    @unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
    def test_a_step_of_each_scenario_is_simulated_so(self):
        for name, lines in steps_by_scenario().items():
            case = lines[0][0].split(": ", 1)[1]
            row = self.page.run(ATHANOR, f"training/{name}.json", "--case", case)[0]
            self.assertEqual(self.page.step_cells(name, row), lines[0])


if __name__ == "__main__":
    unittest.main()
