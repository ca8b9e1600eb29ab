"""Labels of sizes and times."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/plot"))
import interpreter  # noqa: E402

interpreter.require_module("matplotlib")
import axes  # noqa: E402


class Labels(unittest.TestCase):
    def test_sizes_are_written_in_the_largest_binary_unit_that_keeps_them_above_one(self):
        for size, label in ((1, "1 B"), (1023, "1023 B"), (1024, "1 KiB"), (3 * 2 ** 19, "1.5 MiB"), (2 ** 33, "8 GiB")):
            self.assertEqual(axes.size_label(size), label)

    def test_times_are_written_in_the_unit_that_keeps_them_above_one(self):
        for time, label in ((0.5, "500 ns"), (1, "1 µs"), (999, "999 µs"), (1000, "1 ms"), (2.5e6, "2.5 s")):
            self.assertEqual(axes.time_label(time), label)

    def test_ticks_are_powers_of_two_that_start_at_the_smallest_size_and_are_few(self):
        for last in range(4, 41):
            ticks = axes.size_ticks([8, 2 ** last])
            self.assertEqual(ticks[0], 8)
            self.assertLessEqual(len(ticks), axes.LABELLED_SIZES)
            self.assertEqual(len({right / left for left, right in zip(ticks, ticks[1:])}), 1)
        self.assertEqual(axes.size_ticks([8, 2 ** 33])[-1], 2 ** 33)
        self.assertEqual(axes.size_ticks([64]), [64])


if __name__ == "__main__":
    unittest.main()
