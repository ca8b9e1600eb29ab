"""How busy the links between switches were with trainings, and how many jobs used them at once."""

import numpy

import axes as look

SHARED = (("no", "#E4E4E4"), ("one", "#56B4E9"), ("two", "#E69F00"), ("three or more", "#D55E00"))
MOST_ROWS = 64


def has_links(run):
    return bool(run.links.get("switches")) and any(sum(each["shared"][1:]) > 0 for each in run.links["switches"])


def rows_of(run):
    """Switches, or several neighbours of one layer in one row where they are many: (name, busy by span, shares)."""
    switches = run.links["switches"]
    each = -(-len(switches) // MOST_ROWS)
    rows = []
    for first in range(0, len(switches), each):
        group = switches[first:first + each]
        weights = numpy.array([switch["links"] for switch in group], dtype=float)
        busy = numpy.average([switch["busy"] for switch in group], axis=0, weights=weights)
        shared = numpy.average([switch["shared"] for switch in group], axis=0, weights=weights)
        name = group[0]["name"] if len(group) == 1 else f"{group[0]['name']} to {group[-1]['name']}"
        rows.append((name, busy, shared))
    return rows


def draw(areas, run):
    over_time, in_all = areas
    unit, name = run.unit()
    rows = rows_of(run)
    busy = 100 * numpy.array([busy for _, busy, _ in rows])
    image = over_time.imshow(busy, extent=(0, run.ended / unit, len(rows) - 0.5, -0.5), aspect="auto", interpolation="nearest",
                             cmap="YlOrRd", vmin=0, vmax=max(1.0, float(busy.max())))
    bar = over_time.figure.colorbar(image, ax=over_time, pad=0.01, fraction=0.04)
    bar.set_label("Busy (%)", fontsize=10)
    bar.outline.set_visible(False)
    over_time.set(xlabel=f"Time ({name})", ylabel="Links above")
    left = numpy.zeros(len(rows))
    for number, (word, colour) in enumerate(SHARED):
        widths = 100 * numpy.array([shared[number] for _, _, shared in rows])
        in_all.barh(range(len(rows)), widths, left=left, height=0.8, color=colour, label=word)
        left += widths
    in_all.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 100), xlabel="Time, by jobs on a link (%)", yticks=[])
    step = max(1, -(-len(rows) // 12))
    over_time.set_yticks(range(0, len(rows), step), [name for name, _, _ in rows[::step]], fontsize=9)
    for area in areas:
        area.grid(visible=False)
    look.legend_below(in_all, 2)
