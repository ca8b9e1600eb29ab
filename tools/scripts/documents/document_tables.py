"""What the pages that hold simulated tables share: running athanor, and renewing the tables between their marks."""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def athanor_document(athanor, *arguments):
    """All that `athanor ARGUMENTS --json` prints."""
    command = [athanor, *arguments, "--json", "--quiet", "--data", ROOT / "scenarios"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr or done.stdout}")
    return json.loads(done.stdout)


def athanor_json(athanor, *arguments):
    """The results of `athanor ARGUMENTS --json`."""
    return athanor_document(athanor, *arguments)["results"]


def run(athanor, scenario, *more):
    """The results of a scenario, by its path in scenarios/."""
    return athanor_json(athanor, "run", ROOT / "scenarios" / scenario, *more)


def table(head, rows):
    """Markdown; cells are texts."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def percent(share, digits=1):
    return f"{100 * share:.{digits}f} %"


def renewed(page, text, tables, athanor):
    """The text of the page with each table between its marks."""
    for name, make in tables.items():
        begin, end = f"<!-- {name}: begin -->\n", f"\n<!-- {name}: end -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            sys.exit(f"{page} has lost the marks of '{name}'")
        rows = make(athanor)
        text = pattern.sub(lambda _, rows=rows, begin=begin, end=end: f"{begin}\n{rows}\n{end}", text)
    return text


def parser_of(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--athanor", type=pathlib.Path, default=ROOT / "build/tools/athanor", help="the program")
    return parser


def parsed(parser):
    options = parser.parse_args()
    if not options.athanor.exists():
        sys.exit(f"there is no {options.athanor}; build it, or name it with --athanor")
    return options


def with_athanor(description, do):
    """Calls `do` with the program that the command line names."""
    do(parsed(parser_of(description)).athanor.resolve())


def main(page, tables):
    """Renews the tables of a page (its path below the root), or tells with --check whether they are up to date."""
    parser = parser_of(f"Renews the tables of {page}.")
    parser.add_argument("--check", action="store_true", help="change nothing; is the page up to date?")
    options = parsed(parser)
    old = (ROOT / page).read_text(encoding="utf-8")
    new = renewed(page, old, tables, options.athanor.resolve())
    if not options.check:
        (ROOT / page).write_text(new, encoding="utf-8")
    elif new != old:
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), page, "simulated now", lineterm="", n=0)
        sys.exit("\n".join(lines))
