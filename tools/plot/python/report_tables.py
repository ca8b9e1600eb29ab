"""What reports show of results: tables that sort, and figures of comparisons and of training steps."""

import collections
import html
import math

from matplotlib import pyplot

import axes as look

NOT_CONDITIONS = {"values", "intervals", "ratios", "algorithms", "winners", "certainty", "mixes_software", "against",
                  "front"}  # of a line of a comparison


def by_case(records):
    cases = collections.OrderedDict()
    for record in records:
        name = record.get("case") or record.get("model") or (record.get("collective") or "results").replace("_", "-")
        cases.setdefault(name, []).append(record)
    return cases


def cell(text, value=None):
    """`value`: what columns sort by, where it is not the text."""
    sort = "" if value is None else f' data-value="{value}"'
    kind = "" if value is None else ' class="number"'
    return f"<td{kind}{sort}>{html.escape(str(text))}</td>"


def figure_cell(record, column):
    value = record.get(column["key"])
    if not isinstance(value, (int, float)):
        return cell("")
    is_size = column["key"] == "bytes"
    return cell(look.size_label(value) if is_size else f"{value * column['factor']:,.{column['decimals']}f}", value)


def rows_table(heads, rows):
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{row}</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def told_apart(records, columns):
    """Those that differ, and those that are the same everywhere."""
    present = [(key, head) for key, head in columns if any(record.get(key) not in (None, "", "none") for record in records)]
    common = [(key, head) for key, head in present if len({str(record.get(key)) for record in records}) == 1]
    return [each for each in present if each not in common], common


def heads_of(columns):
    return [(column["key"], column["head"]) for column in columns]


def table(records, figures):
    """All records with the columns that some of them have; words that are the same everywhere stand above it. `figures`:
    figure_keys.Figures."""
    parameters = list(dict.fromkeys(name for record in records for name in record.get("parameters", {})))
    cases = len({record.get("case") for record in records}) > 1 and bool(parameters)
    words, common = told_apart(records, [each for each in heads_of(figures.in_reports("word")) if each[0] not in parameters])
    remarks, more = told_apart(records, heads_of(figures.in_reports("remark")))
    common += more
    numbers = [column for column in figures.in_reports("figure")
               if any(isinstance(record.get(column["key"]), (int, float)) for record in records)]
    heads = (parameters + (["case"] if cases else []) + [head for _, head in words] + [column["head"] for column in numbers] +
             [head for _, head in remarks])
    rows = []
    for record in records:
        row = "".join(cell(record.get("parameters", {}).get(name, "")) for name in parameters)
        row += cell(record.get("case", "")) if cases else ""
        row += "".join(cell(record.get(key, "")) for key, _ in words)
        row += "".join(figure_cell(record, column) for column in numbers)
        rows.append(row + "".join(cell(record.get(key, "")) for key, _ in remarks))
    notes = sorted({note for record in records for note in record.get("notes", [])})
    said = ", ".join(f"{head} {record_value(records[0], key)}" for key, head in common)
    return ((f'<p class="common">{html.escape(said)}</p>' if said else "") + rows_table(heads, rows) +
            "".join(f'<p class="note">{html.escape(note)}</p>' for note in notes[:12]))


def record_value(record, key):
    return f"{record[key]:,}" if isinstance(record[key], int) else record[key]


def failures(records):
    rows = [cell(", ".join(f"{name} {value}" for name, value in record.get("parameters", {}).items())) +
            cell(record["error"].get("message", "")) for record in records]
    return rows_table(["point", "error"], rows)


def manifest(facts):
    rows = [cell(key) + cell(value if isinstance(value, str) else ", ".join(map(str, value)) if isinstance(value, list) and
                             not any(isinstance(part, dict) for part in value) else value)
            for key, value in facts.items() if value not in ([], "", None)]
    return f"<details><summary>Manifest</summary>{rows_table(['fact', 'value'], rows)}</details>" if rows else ""


def value_cell(value, interval):
    """Of a comparison: a figure and, as far as anybody knows, where eight of ten measurements are expected."""
    if value is None:
        return cell("", 0)
    between = f" ({interval[0]:,.4g} to {interval[1]:,.4g})" if interval else ""
    return cell(f"{value:,.6g}{between}", value)


def best_text(line, certain_from):
    """Who wins, and how sure that is; no winner where intervals leave it open."""
    best = ", ".join(line["winners"]) or ("unlike" if line.get("mixes_software") else "equal")
    certainty = line.get("certainty")
    if certainty is None:
        return best
    sure = f"{best} {min(99, math.floor(certainty * 100))} %"  # nothing is certain by a model
    return sure if certainty >= certain_from else f"open ({sure})"


def comparison(contest):
    """What `athanor compare --json` says, as a table and sentences."""
    names = contest["alternatives"]
    conditions = [key for key in contest["lines"][0] if key not in NOT_CONDITIONS]
    against = contest.get("against")
    heads = conditions + names + [f"{name} / base" for name in names if name != contest["base"]] + ["best"]
    heads += [f"{name} {against}" for name in names] + ["front"] if against else []
    rows = []
    for line in contest["lines"]:
        row = "".join(cell(look.size_label(line[key]), line[key]) if key == "bytes" and line[key] else cell(line[key])
                      for key in conditions)
        row += "".join(value_cell(*each) for each in zip(line["values"], line.get("intervals") or [None] * len(names)))
        row += "".join(cell("", 0) if ratio is None else cell(f"{ratio:.3f}", ratio)
                       for name, ratio in zip(names, line["ratios"]) if name != contest["base"])
        row += cell(best_text(line, contest.get("certain_from", 0)))
        if against:
            row += "".join(cell("not known", 0) if cost is None else cell(f"{cost:,.10g}", cost) for cost in line["against"])
            row += cell(", ".join(line["front"]))
        rows.append(row)
    said = [f"{name}: best at {wins} of {len(contest['lines'])}" +
            (f"; {ratio:.3f} of the base on average (geometric mean)" if ratio > 0 and name != contest["base"] else "")
            for name, wins, ratio in zip(names, contest["wins"], contest["mean_ratios"])]
    said += [f"{name}: no software is counted, of others it is: it can lose to them, but not win"
             for name in contest.get("without_software", [])]
    said += [f"{name}: {count} results are extrapolated: outside of what their profile was fitted on"
             for name, count in zip(names, contest.get("extrapolated", [])) if count]
    said += [f"{each['after']} overtakes {each['before']} at about {look.size_label(each['at_bytes'])}"
             for each in contest["crossovers"]] + contest.get("differences", [])
    known = any(interval for line in contest["lines"] for interval in line.get("intervals", []))
    intervals = "; in brackets: eight of ten measurements (80 %)" if known else ""
    return (f'<p class="common">{html.escape(contest["figure"])}; the base is {html.escape(contest["base"])}{intervals}</p>' +
            rows_table(heads, rows) + "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in said) + "</ul>")


def comparison_figure(contest, figures):
    """The ratio of each alternative to the base over size; none where lines differ in more than the size."""
    lines = contest["lines"]
    keys = {key for line in lines for key in line} - NOT_CONDITIONS
    if keys != {"bytes"} or len(lines) < 2 or not all(line["bytes"] for line in lines):
        return None
    figure, panel = pyplot.subplots(figsize=(9.5, 4.6))
    for index, name in enumerate(contest["alternatives"]):
        points = [(line["bytes"], line["ratios"][index]) for line in lines if line["ratios"][index]]
        panel.plot(*zip(*points), label=name, color=look.PALETTE[index % len(look.PALETTE)],
                   marker=look.MARKERS[index % len(look.MARKERS)])
    look.size_axis(panel, [line["bytes"] for line in lines], "Message size")
    label = figures.of(contest["figure"]).label
    panel.set_title(f"{label}, as a multiple of {contest['base']}", loc="left", fontweight="bold")
    panel.set_ylabel("Ratio")
    panel.set_ylim(bottom=0)
    panel.legend(frameon=False)
    return figure
