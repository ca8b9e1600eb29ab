"""Published tables are drawn, with spikes apart and several cases as bars; and the curve that they are compared with fits."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import made_up_results

TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools"
sys.path.insert(0, str(TOOLS / "scripts/documents"))
import fitted_curve  # noqa: E402


def drawn(document):
    """The pictures of a document of `athanor verify --all --json`, by name."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "results.json"
        source.write_text(json.dumps(document), encoding="utf-8")
        subprocess.run([sys.executable, TOOLS / "plot/python/plot_validation.py", source, folder], check=True, capture_output=True)
        return {path.stem: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).glob("*.svg")}


def document(cases):
    rows = [row | {"scenario": "s.json"} for name, measured in cases.items()
            for row in (made_up_results.row(name, "ring", size, 8, time, 1.0, time * 1.05) for size, time in measured)]
    return {"results": rows, "tables": [{"table": "made_up", "spikes": [1024],
                                         "cases": [{"scenario": "s.json", "case": name} for name in cases]}]}


class Pictures(unittest.TestCase):
    def test_a_table_is_drawn_over_its_sizes_and_spikes_are_told_apart(self):
        pictures = drawn(document({"one": [(2 ** power, 10 + 2 ** power / 1000) for power in range(8, 20)]}))
        self.assertEqual(list(pictures), ["made_up"])
        for text in ("made_up", "simulated: ring", "measured", "isolated spike", "Message size"):
            self.assertIn(text, pictures["made_up"])
        self.assertLess(len(pictures["made_up"]), 40_000)

    def test_several_cases_of_one_size_are_bars(self):
        picture = drawn(document({"two GPUs": [(2 ** 32, 4000.0)], "eight GPUs": [(2 ** 32, 5000.0)]}))["made_up"]
        for text in ("two GPUs", "eight GPUs", "Bus bandwidth at 4 GiB"):
            self.assertIn(text, picture)


class Curve(unittest.TestCase):
    def test_a_curve_of_its_own_form_is_found_and_no_factor_is_negative(self):
        for factors in ((10.0, 0.3, 1e-3), (10.0, 0.0, 1e-3), (5.0, 0.0, 0.0)):
            points = [(2 ** power, factors[0] + factors[1] * math.sqrt(2 ** power) + factors[2] * 2 ** power)
                      for power in range(3, 31)]
            for found, factor in zip(fitted_curve.fitted(points), factors):
                self.assertAlmostEqual(found, factor, delta=1e-6 * max(1, factor))
            self.assertLess(max(error for _, error in fitted_curve.errors(points)), 1e-5)
        falling = [(2 ** power, 100.0 / power) for power in range(3, 31)]
        self.assertTrue(all(factor >= 0 for factor in fitted_curve.fitted(falling)))


if __name__ == "__main__":
    unittest.main()
