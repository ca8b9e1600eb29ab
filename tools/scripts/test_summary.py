"""Sums up a run of `meson test` in single test cases.

    test_summary.py TESTLOG.json

Prints a line per test program, the whole output of each that failed, and `N passed, N failed` at the end; exits with
1 where anything failed or nothing ran. Reads the summaries of doctest and of Python's unittest; a program that writes
neither counts as one case. A program that fails without a failed case (a crash, a sanitizer's finding, a time limit)
counts as one failure more.
"""

import json
import re
import sys

DOCTEST = re.compile(r"\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*?^(?:OK|FAILED)(?: \((.*?)\))?$", re.MULTILINE | re.DOTALL)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FINE = {"OK", "EXPECTEDFAIL", "SKIP"}


def counts(output):
    """(passed, failed, skipped) as the program's own summary says, or None where it has none."""
    doctest = DOCTEST.search(output)
    if doctest:
        _, passed, failed, skipped = map(int, doctest.groups())
        return passed, failed, skipped
    unittest = UNITTEST.search(output)
    if unittest:
        details = dict(re.findall(r"(\w+)=(\d+)", unittest.group(2) or ""))
        failed = sum(int(details.get(kind, 0)) for kind in ("failures", "errors"))
        skipped = int(details.get("skipped", 0))
        return max(0, int(unittest.group(1)) - failed - skipped), failed, skipped
    return None


def judge(entry):
    """(passed, failed, skipped) of one entry of the log."""
    fine = entry["result"] in FINE
    output = COLOUR.sub("", (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or ""))
    if entry["result"] == "SKIP":
        return 0, 0, 1
    passed, failed, skipped = counts(output) or ((1, 0, 0) if fine else (0, 1, 0))
    return passed, failed + (1 if not fine and failed == 0 else 0), skipped


def main(path):
    with open(path, encoding="utf-8") as log:
        entries = [json.loads(line) for line in log]
    total = [0, 0, 0]
    for entry in entries:
        cases = judge(entry)
        total = [sum(pair) for pair in zip(total, cases)]
        passed, failed, skipped = cases
        print(f"  {entry['name']:<44} {passed:>5} passed {failed:>3} failed"
              + (f" {skipped:>3} skipped" if skipped else "") + f" {entry['duration']:8.2f} s")
    for entry in entries:
        if judge(entry)[1]:
            print(f"\n==== {entry['name']}: {entry['result']} (exit status {entry['returncode']})")
            print((entry.get("stdout") or "") + (entry.get("stderr") or ""))
    if total[2]:
        print(f"{total[2]} skipped; each program says why")
    print(f"{total[0]} passed, {total[1]} failed")
    return 0 if total[1] == 0 and total[0] > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
