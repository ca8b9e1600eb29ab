"""Labels of sizes and times."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/plot/python"))
import interpreter  # noqa: E402

interpreter.require_module("matplotlib")
import axes  # noqa: E402
import pictures  # noqa: E402


class Labels(unittest.TestCase):
    def test_sizes_are_written_in_the_largest_binary_unit_that_keeps_them_above_one(self):
        for size, label in ((1, "1 B"), (1023, "1023 B"), (1024, "1 KiB"), (3 * 2 ** 19, "1.5 MiB"), (2 ** 33, "8 GiB")):
            self.assertEqual(axes.size_label(size), label)

    def test_sizes_that_were_written_in_decimal_units_keep_them(self):
        for size, label in ((25_000_000, "25 MB"), (1_500_000_000, "1.5 GB"), (123_456_789, "117.7 MiB")):
            self.assertEqual(axes.size_label(size), label)

    def test_times_are_written_in_the_unit_that_keeps_them_above_one(self):
        for time, label in ((0.5, "500 ns"), (1, "1 µs"), (999, "999 µs"), (1000, "1 ms"), (2.5e6, "2.5 s")):
            self.assertEqual(axes.time_label(time), label)

    def test_ticks_are_powers_of_two_that_start_at_the_smallest_size_and_are_few(self):
        for last in range(8, 41):
            ticks = axes.size_ticks([2 ** power for power in range(3, last + 1)])
            self.assertEqual(ticks[0], 8)
            self.assertLessEqual(len(ticks), axes.LABELLED_SIZES)
            self.assertEqual(len({right / left for left, right in zip(ticks, ticks[1:])}), 1)
        self.assertEqual(axes.size_ticks([8, 2 ** 33])[-1], 2 ** 33)
        self.assertEqual(axes.size_ticks([64]), [64])
        self.assertEqual(axes.size_ticks([3000, 8, 8, 64]), [8, 64, 3000])  # few sizes: themselves


class Files(unittest.TestCase):
    def test_small_files_lose_digits_of_places_alone_and_not_of_words(self):
        svg = '<text x="12.345" y="6.78">1.2345 ms</text>'
        self.assertEqual(pictures.smaller(svg), '<text x="12.3" y="6.7">1.2345 ms</text>')


if __name__ == "__main__":
    unittest.main()
