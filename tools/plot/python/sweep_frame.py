"""What the figures of sweeps share: titles, legends, values as words, and axes of values."""

import math
import pathlib

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import axes as look
import figures


def size_text(size):
    return "" if size is None else look.size_label(size) if size > 0 else "0 B"


def text_of(key, value, digits=4):
    return look.time_label(value) if key.is_time else f"{value:,.{digits}g}"


def value_axis(panel, figure, values):
    """Linear from zero where values are alike, else by powers of ten."""
    low, high = min(values), max(values)
    if figure.is_time and low > 0 and high / low > 8:
        look.time_axis(panel)
    elif figure.more_is_better and low > 0 and high / low > 20:
        panel.set_yscale("log")
        subs = (1, 2, 5) if high / low < 1e3 else (1,)  # of more decades there would be none at all
        panel.yaxis.set_major_locator(LogLocator(base=10, subs=subs, numticks=12))
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.4g}"))
    else:
        panel.set_ylim(0, 1.08 * high if high > 0 else 1)
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: text_of(figure, value, 6) if value else "0"))
    panel.set_ylabel(figure.label)


def title(figure, headline, line):
    """Above the panels, which leave room for it."""
    height = figure.get_figheight()
    figure.suptitle(headline, x=0.01, ha="left", fontsize=14, fontweight="bold")
    figure.text(0.01, 1 - 0.36 / height, line, va="top", ha="left", fontsize=10.5, color="#444444")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.28 / height), w_pad=0.1)


def subject(rows):
    """What was simulated, in words."""
    collectives = list(dict.fromkeys(row["collective"] for row in rows if row.get("collective")))
    if len(collectives) == 1:
        return figures.collective_title(collectives[0])
    return "Collectives" if collectives else "Steps of training" if "step_time_s" in rows[0] else "Results"


def source(rows, *more):
    names = sorted({pathlib.Path(row["scenario"]).name for row in rows if row.get("scenario")})
    algorithms = {(row.get("case"), row.get("algorithm")) for row in rows if row.get("algorithm")}
    several = len(algorithms) > len({case for case, _ in algorithms})  # of one case
    words = [", ".join(names[:3])] + (["the fastest algorithm at each point"] if several else [])
    return "; ".join(word for word in [*words, *more] if word)


def named(axis_name):
    return {"bytes": "size", "ranks": "ranks"}.get(axis_name, axis_name)


def longest(labels):
    return max(len(str(label)) for label in labels)


def make_room(figure, inches):
    """Below all panels; returns where it begins, as a share of the figure's height."""
    x, bottom, width, height = figure.get_layout_engine().get()["rect"]
    room = inches / figure.get_figheight()
    figure.get_layout_engine().set(rect=(x, bottom + room, width, height - room))
    return bottom


def legend(figure, panels, heading):
    """Below all panels, which give way to it: lines, unless there is a single one, and below them what bands are."""
    handles = {}
    for panel in panels:
        handles.update(zip(*reversed(panel.get_legend_handles_labels())))
    interval = handles.pop(look.INTERVAL_NAME, None)
    if interval:
        place = make_room(figure, 0.3)
        figure.legend([interval], [look.INTERVAL_NAME], loc="lower center", bbox_to_anchor=(0.5, place), frameon=False)
    if len(handles) < 2:
        return
    columns = min(len(handles), max(2, int(figure.get_figwidth() / (1.0 + 0.085 * longest(handles)))))
    rows = math.ceil(len(handles) / columns) + (1 if heading else 0)
    place = make_room(figure, 0.12 + 0.22 * rows)
    figure.legend(handles.values(), handles.keys(), loc="lower center", bbox_to_anchor=(0.5, place), ncols=columns, frameon=False,
                  title=heading, title_fontsize=10.5)
