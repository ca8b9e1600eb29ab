"""The result file of `athanor run --json`, read for plotting."""

import collections

import foreign

REQUIRED = ("collective", "algorithm", "ranks", "bytes", "time_us", "busbw_gbps")


class ResultError(Exception):
    """The file is not a result file; the message says what is wrong with it."""


def document_of(path):
    """What the file holds: results, or a comparison."""
    try:
        document = foreign.load_printable(path)
    except OSError as error:
        raise ResultError(error.strerror) from error
    except ValueError as error:
        raise ResultError(f"not JSON: {error}") from error
    if isinstance(document, dict) and ("alternatives" in document or isinstance(document.get("results"), list)):
        return document
    raise ResultError('expected {"results": [...]} as written by `athanor run --json FILE`, a sweep, or a comparison')


def of_sweep(rows):
    return any(isinstance(row.get("parameters"), dict) for row in rows)


def done(rows):
    """The points of a sweep that did not fail. Throws ResultError where all did."""
    found = [row for row in rows if not isinstance(row.get("error"), dict)]
    if rows and not found:
        raise ResultError(f"all {len(rows)} points failed; the first: {rows[0]['error'].get('message', '')}")
    return found


def steps_of(rows):
    """The steps of training, and the traces, among them: what of their time goes where is known."""
    return [row for row in rows if "step_time_s" in row and "breakdown" in row]


def sizes_of(rows):
    """The collectives that can be drawn: with a time and a size above zero (an axis of powers of two has no zero)."""
    found = [(number, row) for number, row in enumerate(rows) if "collective" in row and "jobs" not in row]
    if rows and not found:
        raise ResultError("collectives, steps of training and traces are drawn, and here are none; `athanor report` makes a "
                          "table of any results")
    for number, row in found:
        missing = [key for key in REQUIRED if row.get(key) is None]
        if missing:
            raise ResultError(f"/results/{number} has no {', '.join(missing)}")
    drawable = [row for _, row in found if row["bytes"] > 0 and row["time_us"] > 0]
    if not drawable:
        raise ResultError("no result has a size and a time above zero, so there is nothing to draw")
    return drawable


def by_case(rows):
    """Rows of each case, in the order of the file, each sorted by size."""
    cases = collections.OrderedDict()
    for row in rows:
        cases.setdefault(case_name(row), []).append(row)
    return {name: sorted(group, key=lambda row: row["bytes"]) for name, group in cases.items()}


def case_name(row):
    return row.get("case") or row["collective"].replace("_", "-")


def by_algorithm(rows):
    """Rows of each algorithm, in alphabetical order, so that a colour does not hang on which size came first."""
    names = sorted({row["algorithm"] for row in rows})
    return {name: [row for row in rows if row["algorithm"] == name] for name in names}


def best(rows):
    """The fastest row of each size."""
    fastest = {}
    for row in rows:
        if row["bytes"] not in fastest or row["time_us"] < fastest[row["bytes"]]["time_us"]:
            fastest[row["bytes"]] = row
    return [fastest[size] for size in sorted(fastest)]


def with_key(rows, key):
    return [row for row in rows if row.get(key)]


def bandwidth_at(row, time_key):
    """Bus bandwidth that another time for the same payload means."""
    return row["busbw_gbps"] * row["time_us"] / row[time_key]
