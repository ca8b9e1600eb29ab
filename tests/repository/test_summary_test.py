"""The counts that end tools/check: no failure is lost, whatever a test program does before it ends."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

import tree

sys.path.insert(0, str(tree.ROOT / "tools/scripts"))
import test_summary  # noqa: E402


def entry(stdout, result="OK", stderr=""):
    return {"name": "t", "stdout": stdout, "stderr": stderr, "result": result, "returncode": 0, "duration": 0.1}


def doctest(passed, failed, skipped=0):
    return (f"[doctest] test cases: {passed + failed:4} | {passed:4} passed | {failed:4} failed | {skipped} skipped\n"
            f"[doctest] assertions: 100 | 99 passed | 1 failed |\n")


def summary(*entries):
    """(exit status, printed text) for a log of these entries."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "testlog.json"
        log.write_text("".join(json.dumps(line) + "\n" for line in entries), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            status = test_summary.main(log)
    return status, printed.getvalue()


class Counts(unittest.TestCase):
    def test_cases_of_doctest_and_unittest_are_added(self):
        status, text = summary(entry(doctest(5, 0)), entry("", stderr="Ran 3 tests in 0.1s\n\nOK\n"))
        self.assertEqual((status, text.splitlines()[-1]), (0, "8 passed, 0 failed"))

    def test_colours_of_a_terminal_do_not_hide_the_counts(self):
        coloured = "[doctest] test cases: \x1b[0m 2 | \x1b[32m 2 passed\x1b[0m | 0 failed\x1b[0m | 0 skipped\n"
        self.assertEqual(test_summary.judge(entry(coloured)), (2, 0, 0))

    def test_failed_cases_are_counted_and_their_output_is_printed(self):
        failed = entry(doctest(4, 1) + "the reason", "FAIL")
        ran = entry("", "FAIL", "Ran 4 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n")
        status, text = summary(failed, ran)
        self.assertEqual((status, text.splitlines()[-1]), (1, "5 passed, 3 failed"))
        self.assertIn("the reason", text)

    def test_a_program_that_dies_is_a_failure_with_or_without_a_summary(self):
        for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT"):
            self.assertEqual(test_summary.judge(entry("", result)), (0, 1, 0))
            self.assertEqual(test_summary.judge(entry(doctest(5, 0), result)), (5, 1, 0))

    def test_skipped_cases_are_told_and_neither_passed_nor_failed(self):
        status, text = summary(entry(doctest(5, 0, 2)), entry("", "SKIP"))
        self.assertEqual((status, text.splitlines()[-2:]), (0, ["3 skipped; each program says why", "5 passed, 0 failed"]))

    def test_a_log_without_a_single_passed_case_fails(self):
        self.assertEqual(summary()[0], 1)
        self.assertEqual(summary(entry("", "SKIP"))[0], 1)

    def test_a_program_without_a_summary_is_one_case(self):
        self.assertEqual(test_summary.judge(entry("fine")), (1, 0, 0))


if __name__ == "__main__":
    unittest.main()
