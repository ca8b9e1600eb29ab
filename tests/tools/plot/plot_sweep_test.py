"""Sweeps are drawn by what they vary: lines over numbers, bars of words, maps of two parameters; comparisons as fronts."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools/plot/python/plot_results.py"
sys.path.insert(0, str(ROOT / "tools/plot/python"))
import interpreter  # noqa: E402

interpreter.require_module("matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.text import Text  # noqa: E402

import figure_keys  # noqa: E402
import pareto  # noqa: E402
import results  # noqa: E402
import sweep_axes  # noqa: E402
import sweep_figures  # noqa: E402


def column(key, axis, **more):
    return {"key": key, "axis": axis, "share": False, "time": False, "rate": False, "beside_time": False} | more


ENDS = {"of": "time_us", "low": "time_low_us", "high": "time_high_us"}
COLUMNS = [column("time_us", "Time", time=True, microseconds=1, **ENDS),
           column("busbw_gbps", "Bus bandwidth (GB/s)", rate=True, beside_time=True, **ENDS),
           column("step_time_s", "Time of a step", time=True, microseconds=1e6),
           column("mfu", "Model FLOP/s utilisation (%)", share=True, rate=True, beside_time=True)]
DECLARED = figure_keys.Figures(COLUMNS)


def row(parameters, size, time, *, case="", algorithm="ring", **more):
    return {"parameters": {name: str(value) for name, value in parameters.items()}, "case": case, "collective": "all_reduce",
            "algorithm": algorithm, "ranks": 8, "bytes": size, "time_us": time, "busbw_gbps": size / time / 1e3,
            "scenario": "s.json"} | more


def failed(parameters):
    return {"parameters": {name: str(value) for name, value in parameters.items()},
            "error": {"code": "scenario", "message": "99 ranks, but the cluster has 8"}}


def sweep(sizes, **axes):
    """Every combination of two axes or one; the time is the product of the numbers in it and the size."""
    points = [{}]
    for name, labels in axes.items():
        points = [{**point, name: label} for point in points for label in labels]
    times = [[1 + list(axes[name]).index(label) for name, label in point.items()] for point in points]
    return [row(point, size, size / 1024 * (places[0] + 10 * sum(places[1:]))) for point, places in zip(points, times)
            for size in sizes]


def drawn(rows, key=None):
    """name -> all texts of each figure."""
    found = {}
    for name, figure in sweep_figures.of_sweep(rows, DECLARED, key):
        figure.canvas.draw()
        found[name] = [text.get_text() for text in figure.findobj(Text)]
        pyplot.close(figure)
    return found


class Axes(unittest.TestCase):
    def test_labels_with_equal_units_are_numbers_whatever_their_prefixes(self):
        for label, number in (("8", (8, "")), ("100 Gb/s", (1e11, "b/s")), ("1.5us", (1.5e-6, "s")), ("64KiB", (65536, "B")),
                              ("4:1", (4, ":")), ("8 GPUs", (8, "GPUs")), ("1e3", (1000, "")), ("fat tree", None),
                              ("3D torus 4x4", None), ("4:0", None)):
            self.assertEqual(sweep_axes.number_of(label), number, label)
        self.assertTrue(sweep_axes.Axis("rate", ["1 Tb/s", "100 Gb/s"]).numeric)
        self.assertEqual(sweep_axes.Axis("rate", ["1 Tb/s", "100 Gb/s"]).labels, ["100 Gb/s", "1 Tb/s"])
        for labels in (["1 GB/s", "2 us"], ["1", "many"], ["1", "1.0"], ["8"]):
            self.assertFalse(sweep_axes.Axis("x", labels).numeric, labels)

    def test_values_that_grow_by_factors_are_drawn_over_their_logarithm(self):
        for labels, logarithmic in ((["2", "4", "8"], True), (["8", "18", "36", "72"], True), (["2", "3", "4", "5"], False),
                                    (["0", "2", "8"], False), (["1", "2"], False)):
            self.assertEqual(sweep_axes.Axis("x", labels).logarithmic, logarithmic, labels)

    def test_json_is_called_by_its_name_and_equal_names_are_numbered(self):
        labels = ['{"kind":"star"}', '{"kind":"torus","name":"big"}', '{"kind":"star","tiers":2}', "x" * 99]
        self.assertEqual(sweep_axes.shown(labels)[:3], ["star #1", "big", "star #3"])
        self.assertLessEqual(len(sweep_axes.shown(labels)[3]), sweep_axes.MOST_LETTERS)

    def test_of_many_values_the_ends_and_those_between_are_drawn(self):
        self.assertEqual(sweep_axes.spread(list(range(100)), 4), [0, 33, 66, 99])
        self.assertEqual(sweep_axes.spread([1, 2], 4), [1, 2])


class Kinds(unittest.TestCase):
    def test_a_number_alone_is_an_axis_and_of_many_sizes_a_line_each(self):
        self.assertEqual(list(drawn(sweep([1024, 4096], ranks=[2, 4, 8]))), ["over-ranks"])
        many = drawn(sweep([2 ** power for power in range(10, 18)], ranks=[2, 4, 8]))
        self.assertEqual(list(many), ["over-ranks", "over-size"])
        self.assertIn("Bus bandwidth (GB/s)", many["over-size"])
        self.assertIn("Message size", many["over-size"])

    def test_words_are_bars_with_their_values_or_lines_over_many_sizes(self):
        texts = drawn(sweep([1024], fabric=["star", "torus"]))
        self.assertEqual(list(texts), ["by-fabric"])
        self.assertTrue({"star", "torus", "1 µs", "2 µs"} <= set(texts["by-fabric"]))
        self.assertEqual(list(drawn(sweep([1024, 2048, 4096], fabric=["star", "torus"]))), ["over-size"])

    def test_each_case_has_its_bars(self):
        rows = [row({"fabric": fabric}, 1024, time, case=case) for fabric, time in (("star", 3), ("torus", 4))
                for case in ("small", "large")]
        self.assertTrue({"small", "large"} <= set(drawn(rows)["by-fabric"]))

    def test_steps_of_training_are_drawn_with_what_they_reach(self):
        rows = [{"parameters": {"tensor": str(tensor)}, "case": "", "model": "GPT", "step_time_s": 1.5 / tensor, "mfu": 0.1 * tensor}
                for tensor in (1, 2, 4)]
        texts = drawn(rows)["over-tensor"]
        self.assertTrue({"Time of a step", "Model FLOP/s utilisation (%)", "Steps of training over tensor"} <= set(texts))

    def test_sizes_that_were_varied_are_sizes(self):
        rows = [row({"sizes": f"{size} B", "ranks": ranks}, size, size * ranks) for size in (1024, 2048, 4096) for ranks in (2, 4)]
        self.assertEqual(list(drawn(rows)), ["over-ranks"])
        self.assertEqual(drawn(rows[::2]), {})  # drawn as results, over their sizes

    def test_what_varies_nothing_has_no_figure_and_what_has_no_such_key_is_refused(self):
        self.assertEqual(drawn(sweep([1024], ranks=[2])), {})
        with self.assertRaisesRegex(results.ResultError, "no result has a number 'mfu'"):
            drawn(sweep([1024], ranks=[2, 4]), "mfu")


class Maps(unittest.TestCase):
    def test_two_parameters_are_a_map_with_the_figure_in_each_cell(self):
        texts = drawn(sweep([1024], ranks=[2, 4, 8], rate=["1 GB/s", "2 GB/s"]))
        self.assertEqual(list(texts), ["over-ranks", "map"])
        for value in ("11 µs", "12 µs", "13 µs", "21 µs", "22 µs", "23 µs"):
            self.assertEqual(texts["map"].count(value), 1, value)

    def test_a_cell_has_the_best_of_what_was_simulated_there(self):
        rows = sweep([1024], ranks=[2, 4, 8], rate=["1 GB/s", "2 GB/s"])
        rows += [dict(each, time_us=each["time_us"] / 2, busbw_gbps=each["busbw_gbps"] * 2, algorithm="tree") for each in rows]
        self.assertIn("5.5 µs", drawn(rows)["map"])
        self.assertNotIn("13 µs", drawn(rows)["map"])
        self.assertIn("0.1862", drawn(rows, "busbw_gbps")["map"])
        self.assertIn("s.json; the fastest algorithm at each point", drawn(rows)["map"])

    def test_of_many_values_some_are_lines_and_colours_tell_the_cells_and_both_are_said(self):
        texts = drawn(sweep([1024], ranks=range(2, 34), rate=[f"{n} GB/s" for n in range(1, 21)]))
        self.assertIn("s.json; 1 KiB; 8 of 20 values of rate", texts["over-ranks"])
        self.assertNotIn("11 µs", texts["map"])  # a cell
        self.assertIn("100 µs", texts["map"])  # of the colours
        self.assertLess(len(texts["map"]), 32 * 20)

    def test_a_third_parameter_leaves_its_best(self):
        texts = drawn(sweep([1024], ranks=[2, 4], rate=["1 GB/s", "2 GB/s"], channels=[1, 2]))
        self.assertIn("s.json; the best over channels", texts["map"])
        self.assertIn("21 µs", texts["map"])
        self.assertNotIn("41 µs", texts["map"])

    def test_points_that_failed_leave_their_place_empty(self):
        rows = sweep([1024], ranks=[2, 4, 8], rate=["1 GB/s", "2 GB/s"]) + [failed({"ranks": 99, "rate": "1 GB/s"})]
        texts = drawn(rows)
        self.assertEqual(texts["map"].count("none"), 2)
        self.assertIn("99", texts["over-ranks"])


class Figures(unittest.TestCase):
    def test_times_are_in_microseconds_shares_in_percent_and_what_nobody_declares_is_as_it_is(self):
        row = {"step_time_s": 1.5, "mfu": 0.25, "bill_usd": 3, "odd": 4}
        for key, value, label in (("step_time_s", 1.5e6, "Time of a step"), ("mfu", 25, "Model FLOP/s utilisation (%)"),
                                  ("bill_usd", 3, "Price of the cluster ($)"), ("odd", 4, "odd")):
            self.assertEqual((DECLARED.of(key).value(row), DECLARED.of(key).label), (value, label))

    def test_the_first_time_and_the_first_rate_that_are_not_zero_are_drawn(self):
        for row, keys in (({"time_us": 1, "busbw_gbps": 2}, ["time_us", "busbw_gbps"]), ({"time_us": 1, "busbw_gbps": 0}, ["time_us"]),
                          ({"step_time_s": 1, "mfu": 0.5}, ["step_time_s", "mfu"]), ({"mfu": 0.5}, [])):
            self.assertEqual([figure.key for figure in DECLARED.usual([row])], keys, row)


def known(rows, low=0.8, high=1.5):
    """With the ends of an interval."""
    return [dict(row, time_low_us=low * row["time_us"], time_high_us=high * row["time_us"]) for row in rows]


class IntervalEnds(unittest.TestCase):
    def test_a_time_has_its_ends_and_a_rate_is_in_inverse_proportion_to_them(self):
        row = known(sweep([1024], ranks=[2]))[0]
        time, rate, other = (DECLARED.of(key) for key in ("time_us", "busbw_gbps", "mfu"))
        self.assertEqual(time.interval(row), (0.8, 1.5))
        low, high = rate.interval(row)
        self.assertAlmostEqual(low * 1.5, row["busbw_gbps"])
        self.assertAlmostEqual(high * 0.8, row["busbw_gbps"])
        self.assertIsNone(other.interval(dict(row, mfu=0.5)))  # nobody declares one

    def test_what_is_missing_null_or_no_time_is_no_interval(self):
        row = known(sweep([1024], ranks=[2]))[0]
        for change in ({"time_low_us": None}, {"time_high_us": None}, {"time_low_us": 0}, {"time_us": 0}, {"time_us": None}):
            self.assertIsNone(DECLARED.of("time_us").interval({**row, **change}), change)


class Intervals(unittest.TestCase):
    def panels(self, rows, key=None):
        """name -> (paths of bands as (lowest, highest) over all places, texts), of the first panel."""
        found = {}
        for name, figure in sweep_figures.of_sweep(rows, DECLARED, key):
            figure.canvas.draw()
            bands = [path.vertices[:, 1] for drawn in figure.axes[0].collections for path in drawn.get_paths() if len(path.vertices)]
            found[name] = ([(min(band), max(band)) for band in bands], [text.get_text() for text in figure.findobj(Text)])
            pyplot.close(figure)
        return found

    def test_a_band_is_around_each_line_that_has_one_and_the_legend_says_80_percent(self):
        rows = sweep([1024, 4096], ranks=[2, 4, 8])
        bands, texts = self.panels(known(rows))["over-ranks"]
        self.assertEqual(sorted((round(low, 6), round(high, 6)) for low, high in bands), [(0.8, 4.5), (3.2, 18.0)])
        self.assertEqual([text for text in texts if "80 %" in text], ["Eight of ten measurements (80 %)"])
        self.assertEqual([text for text in self.panels(rows)["over-ranks"][1] if "80 %" in text], [])

    def test_a_point_without_an_interval_ends_the_band_and_one_alone_is_a_bar(self):
        rows = sweep([1024], ranks=[2, 4, 8, 16])
        bands, _ = self.panels([*known(rows[:2]), rows[2], *known(rows[3:])])["over-ranks"]
        self.assertEqual(sorted((round(low, 6), round(high, 6)) for low, high in bands), [(0.8, 3.0), (3.2, 6.0)])

    def test_a_single_line_has_no_name_in_the_legend_but_its_band_has(self):
        texts = self.panels(known(sweep([1024], ranks=[2, 4, 8])))["over-ranks"][1]
        self.assertIn("Eight of ten measurements (80 %)", texts)
        self.assertNotIn("Message size", texts)

    def test_axes_hold_all_of_a_band(self):
        for name, figure in sweep_figures.of_sweep(known(sweep([1024], ranks=[2, 4, 8]), high=9), DECLARED):
            figure.canvas.draw()
            self.assertGreaterEqual(figure.axes[0].get_ylim()[1], 27, name)
            pyplot.close(figure)

    def test_bars_have_lines_over_their_ends_and_values_behind_both(self):
        rows = known(sweep([1024], fabric=["star", "torus"]))
        _, figure = next(sweep_figures.of_sweep([rows[0], sweep([1024], fabric=["star", "torus"])[1]], DECLARED))
        figure.canvas.draw()
        panel = figure.axes[0]
        lines = [segment for drawn in panel.collections for segment in drawn.get_segments()]
        self.assertEqual([(round(line[0][0], 6), round(line[1][0], 6)) for line in lines], [(0.8, 1.5)])
        places = {text.get_text(): text.xy[0] for text in panel.texts}
        self.assertAlmostEqual(places["1 µs"], 1.5)
        self.assertAlmostEqual(places["2 µs"], 2)
        self.assertIn("Eight of ten measurements (80 %)", [text.get_text() for text in figure.findobj(Text)])
        pyplot.close(figure)


class Front(unittest.TestCase):
    CONTEST = {"by": "case", "figure": "time_us", "against": "bill_switches", "more_is_better": False,
               "alternatives": ["a", "b", "c", "d"], "base": "a",
               "lines": [{"bytes": 1024, "values": [10, 20, 30, 5], "against": [4, 2, 4, None], "front": ["a", "b"]}]}

    def test_names_and_costs_of_all_that_have_both_are_drawn(self):
        figure = pareto.figure_of(self.CONTEST, DECLARED)
        texts = [text.get_text() for text in figure.findobj(Text)]
        pyplot.close(figure)
        self.assertTrue({"a", "b", "c", "Switches", "1 KiB"} <= set(texts))
        self.assertNotIn("d", texts)

    def test_the_line_goes_from_corner_to_corner_of_what_nothing_beats(self):
        points = [("a", 4, 10, True), ("b", 2, 20, True), ("c", 4, 30, False)]
        self.assertEqual(pareto.front_line(points, False, (0, 9), (0, 40)),
                         [(2, 40), (2, 20), (4, 20), (4, 10), (9, 10)])
        more = [("a", 4, 30, True), ("b", 2, 20, True)]
        self.assertEqual(pareto.front_line(more, True, (0, 9), (0, 40)), [(2, 0), (2, 20), (4, 20), (4, 30), (9, 30)])

    def test_names_do_not_cover_each_other(self):
        line = {"bytes": 1024, "values": [10, 10.1, 10.2, 10.3], "against": [4, 4.01, 4.02, 4.0], "front": ["a"]}
        figure = pareto.figure_of({**self.CONTEST, "lines": [line]}, DECLARED)
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
        pyplot.close(figure)
        self.assertEqual(len(boxes), 4)
        for number, box in enumerate(boxes):
            self.assertFalse([other for other in boxes[:number] if pareto.overlap(box, other) > 0])

    def test_equal_points_share_a_name_and_without_costs_there_is_no_figure(self):
        line = {"bytes": 1024, "values": [10, 10, 20, 30], "against": [4, 4, 2, 1], "front": ["a", "b", "c", "d"]}
        self.assertEqual(pareto.merged(pareto.points_of({**self.CONTEST, "lines": [line]}, line, DECLARED.of("time_us")))[0][0], "a, b")
        self.assertIsNone(pareto.figure_of({**self.CONTEST, "against": ""}, DECLARED))


class Command(unittest.TestCase):
    def plot(self, document, *words):
        """(exit status, stderr, names of the files written)."""
        with tempfile.TemporaryDirectory() as folder:
            source, out = pathlib.Path(folder) / "sweep.json", pathlib.Path(folder) / "out"
            source.write_text(json.dumps(document), encoding="utf-8")
            done = subprocess.run([sys.executable, PLOT, source, "--out", out, *words], capture_output=True, text=True, check=False)
            return done.returncode, done.stderr, sorted(path.name for path in out.glob("*")) if out.exists() else []

    def test_a_sweep_and_a_comparison_are_written_as_both_kinds_of_picture(self):
        self.assertEqual(self.plot({"figures": COLUMNS, "results": sweep([1024], ranks=[2, 4], rate=["1 GB/s", "2 GB/s"])})[2],
                         ["map.png", "map.svg", "over-ranks.png", "over-ranks.svg"])
        self.assertEqual(self.plot({"figures": COLUMNS, **Front.CONTEST}), (0, "", ["pareto.png", "pareto.svg"]))

    def test_a_sweep_of_one_point_is_drawn_as_results(self):
        self.assertEqual(self.plot({"figures": COLUMNS, "results": sweep([1024, 2048], ranks=[2])}), (0, "", ["all-reduce.png", "all-reduce.svg"]))

    def refused(self, document, problem, *words):
        status, stderr, written = self.plot(document, "--label", "mine.sqlite", *words)
        self.assertEqual((status, written), (4, []))
        self.assertIn(problem, stderr)
        self.assertIn("mine.sqlite", stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)

    def test_what_cannot_be_drawn_is_refused_in_one_line(self):
        self.refused({"results": [failed({"ranks": 99})]}, "all 1 points failed; the first: 99 ranks")
        self.refused({"results": sweep([1024], ranks=[2, 4])}, "no result has a number 'nonsense'", "--figure", "nonsense")
        plain = [{key: value for key, value in row({}, 8, 1.0).items() if key != "parameters"}]
        self.refused({"results": plain}, "--figure is for sweeps", "--figure", "time_us")
        self.refused({**Front.CONTEST, "against": ""}, "compare --pareto KEY")


if __name__ == "__main__":
    unittest.main()
