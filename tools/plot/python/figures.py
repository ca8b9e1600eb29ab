"""The figures: one per case, and one that compares the cases of a collective."""

from matplotlib import pyplot

import axes as look
import results

LARGE = 2 ** 30


ACRONYMS = {"nvls", "sharp", "collnet", "msccl"}


def words(name):
    """An identifier as prose: ring, double binary tree, NVLS."""
    return " ".join(part.upper() if part in ACRONYMS else part for part in name.split("_"))


def collective_title(collective):
    return collective.replace("_", "-").capitalize()


def colours(names):
    """Colour and marker of each name; the same names get the same ones in every panel."""
    return {name: (look.PALETTE[index % len(look.PALETTE)], look.MARKERS[index % len(look.MARKERS)])
            for index, name in enumerate(names)}


def draw_series(panel, rows, value, colour, marker, **options):
    panel.plot([row["bytes"] for row in rows], [value(row) for row in rows], color=colour, marker=marker, **options)


def draw_simulated(panel, rows, value):
    """Each candidate as a thin line, the fastest of each size as a thick one in the colour of who it is."""
    fastest = results.best(rows)
    looks = colours(results.by_algorithm(rows))
    for name, candidate in results.by_algorithm(rows).items():
        if len(candidate) > 1 and len(rows) > len(fastest):
            draw_series(panel, candidate, value, looks[name][0], None, linewidth=1, alpha=0.6, zorder=1)
    for left, right in zip(fastest, fastest[1:]):
        draw_series(panel, [left, right], value, looks[right["algorithm"]][0], None, zorder=3)
    for name, chosen in results.by_algorithm(fastest).items():
        draw_series(panel, chosen, value, *looks[name], linestyle="none", zorder=3)
        panel.plot([], [], color=looks[name][0], marker=looks[name][1], label=f"Simulated: {words(name)}")


def draw_references(panel, rows, simulated_key):
    """The hardware bound and the measurement, as times or as the bus bandwidths that these times mean."""
    def value(key):
        return (lambda row: row[key]) if simulated_key == "time_us" else (lambda row: results.bandwidth_at(row, key))

    bounded, measured = results.with_key(rows, "bound_time_us"), results.with_key(rows, "measured_time_us")
    if bounded:
        panel.plot([row["bytes"] for row in bounded], list(map(value("bound_time_us"), bounded)),
                   marker="_" if len(bounded) == 1 else None, markersize=16, label="Hardware bound", **look.BOUND)
    if measured:
        panel.plot([row["bytes"] for row in measured], list(map(value("measured_time_us"), measured)),
                   label="Measured", **look.MEASURED)


def draw_interval(panel, rows, simulated_key):
    """Where eight of ten measured times are expected: a band over sizes, of one size a bar."""
    known = results.with_key(rows, "time_low_us")
    if not known:
        return
    ends = [[row[key] if simulated_key == "time_us" else results.bandwidth_at(row, key) for row in known]
            for key in ("time_low_us", "time_high_us")]
    low, high = map(list, zip(*map(sorted, zip(*ends))))
    sizes = [row["bytes"] for row in known]
    if len(known) == 1:
        panel.vlines(sizes, low, high, label=look.INTERVAL_NAME, **{**look.INTERVAL, "linewidth": 6})
    else:
        panel.fill_between(sizes, low, high, label=look.INTERVAL_NAME, **look.INTERVAL)


def agreement(rows):
    """How far simulation and measurement are apart where bandwidth decides, in words; empty without both."""
    errors = [abs(row["error"]) for row in rows if row.get("error") is not None and row["bytes"] >= LARGE]
    return f"; within {100 * max(errors):.1f} % of the measurement from 1 GiB on" if errors else ""


def subtitle(rows):
    row = rows[0]
    network = f", {row['network']} network" if row.get("network") else ""
    return f"{collective_title(row['collective'])} over {row['ranks']:,} ranks{network}{agreement(results.best(rows))}"


def legend_below(figure, panel):
    handles, labels = panel.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda index: (labels[index] == "Hardware bound", index))
    figure.legend([handles[index] for index in order], [labels[index] for index in order],
                  loc="upper center", bbox_to_anchor=(0.5, 0.01), ncol=len(labels) if len(labels) <= 5 else 3, frameon=False)


def title(figure, headline, line):
    figure.suptitle(headline, x=0.01, y=0.995, ha="left", va="top", fontsize=15, fontweight="bold")
    figure.text(0.01, 0.925, line, ha="left", va="top", fontsize=11.5, color="#444444")


def case_figure(name, rows):
    """Time and bus bandwidth over size for one case, beside its hardware bound and its measurement."""
    figure, (time_panel, bandwidth_panel) = pyplot.subplots(1, 2, figsize=(12.5, 5.4))
    fastest = results.best(rows)
    for panel, key in ((time_panel, "time_us"), (bandwidth_panel, "busbw_gbps")):
        draw_interval(panel, fastest, key)
        draw_references(panel, fastest, key)
        draw_simulated(panel, rows, lambda row, key=key: row[key])
        look.size_axis(panel, [row["bytes"] for row in rows], "Message size")
    look.time_axis(time_panel)
    look.bandwidth_axis(bandwidth_panel)
    title(figure, name, subtitle(rows))
    figure.subplots_adjust(left=0.07, right=0.985, top=0.85, bottom=0.17, wspace=0.2)
    legend_below(figure, time_panel)
    return figure


def comparison_lines(cases):
    figure, panel = pyplot.subplots(figsize=(9.5, 5.8))
    looks = colours(cases)
    for place, (name, rows) in enumerate(cases.items()):
        thickness = max(1.0, 1.75 - 0.25 * place)  # where lines coincide, the ones below still show
        draw_series(panel, rows, lambda row: row["busbw_gbps"], *looks[name], label=name, linewidth=1.8 * thickness,
                    markersize=5 * thickness)
    look.size_axis(panel, [row["bytes"] for rows in cases.values() for row in rows], "Message size")
    look.bandwidth_axis(panel)
    figure.subplots_adjust(left=0.09, right=0.98, top=0.86, bottom=0.16)
    figure.legend(*panel.get_legend_handles_labels(), loc="upper center", bbox_to_anchor=(0.5, 0.01),
                  ncol=2, frameon=False)
    return figure


def comparison_bars(cases):
    """Where every case has one size, a line over sizes would be a single point: bars show it better."""
    figure, panel = pyplot.subplots(figsize=(9.5, 1.8 + 0.55 * len(cases)))
    names = list(reversed(cases))
    values = [cases[name][0]["busbw_gbps"] for name in names]
    bars = panel.barh(names, values, color=look.PALETTE[0], height=0.6)
    panel.bar_label(bars, labels=[f"{value:.4g}" for value in values], padding=4)
    panel.set_xlabel(f"Bus bandwidth at {look.size_label(cases[names[0]][0]['bytes'])} (GB/s)")
    panel.margins(x=0.12)
    panel.grid(axis="y", visible=False)
    figure.subplots_adjust(left=0.25, right=0.98, top=1 - 0.85 / figure.get_figheight(), bottom=0.6 / figure.get_figheight())
    return figure


def without_software(cases):
    """Names of cases whose times have no costs of software, where those of others have them; in words, or nothing."""
    without = [name for name, rows in cases.items() if rows[0].get("profile") == "ideal"]
    return "" if len(without) in (0, len(cases)) else f"; without any software, and so no match: {', '.join(without)}"


def comparison_figure(collective, cases):
    """Bus bandwidth of several cases of one collective: over size, or as bars where all have one and the same size."""
    fastest = {name: results.best(rows) for name, rows in cases.items()}
    sizes = {row["bytes"] for rows in fastest.values() for row in rows}
    figure = comparison_bars(fastest) if len(sizes) == 1 else comparison_lines(fastest)
    ranks = sorted({row["ranks"] for rows in fastest.values() for row in rows})
    count = f"{ranks[0]:,}" if len(ranks) == 1 else f"{ranks[0]:,} to {ranks[-1]:,}"
    figure.suptitle(f"{collective_title(collective)}: {len(cases)} cases compared", x=0.01, y=0.995, ha="left", va="top", fontsize=15,
                    fontweight="bold")
    figure.text(0.01, 0.995 - 0.36 / figure.get_figheight(), f"{count} ranks, the fastest algorithm at each size{without_software(fastest)}",
                ha="left", va="top", fontsize=11.5, color="#444444")
    return figure
