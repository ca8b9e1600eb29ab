"""What GPU hours of a run were: of all GPUs, by what was lost to what, and by groups of nodes."""

from matplotlib.ticker import FuncFormatter, MaxNLocator

import axes as look
import workload_shares

PARTS = (("work", "#0072B2"), ("checkpoints", "#56B4E9"), ("starting", "#CC79A7"), ("failed, not yet seen", "#E69F00"),
         ("without lost tasks", "#F0E442"), ("work lost", "#D55E00"), ("down", "#222222"), ("idle", "#DDDDDD"))
NODE_PARTS = (("used", "#0072B2"), ("down", "#222222"), ("idle", "#DDDDDD"))
MOST_BARS = 64
SPREADS = (1, 2, 4, 8, 16, 32, 64, 128)


def has_losses(run):
    return sum(run.gpu_hours.get(part, 0) for part, _ in PARTS if part not in ("work", "idle")) > 0


def draw_parts(area, runs):
    """A bar for each run."""
    left = [0.0] * len(runs)
    for place, run in enumerate(runs):
        if sum(run.gpu_hours.values()) == 0:
            area.text(1, place, "no job ever starts", va="center", fontsize=9.5, color="#555555")
    for part, colour in PARTS:
        widths = [100 * run.gpu_hours.get(part, 0) / (sum(run.gpu_hours.values()) or 1) for run in runs]
        if max(widths) <= 0:
            continue
        area.barh(range(len(runs)), widths, left=left, height=0.62, color=colour, edgecolor="white", linewidth=0.5, label=part)
        for place, width in enumerate(widths):
            if width >= 5:
                area.text(left[place] + width / 2, place, f"{width:.0f} %", ha="center", va="center", fontsize=9.5,
                          color="#111111" if part in ("idle", "checkpoints", "failed, not yet seen", "without lost tasks") else "white")
        left = [start + width for start, width in zip(left, widths)]
    area.set_yticks(range(len(runs)), [run.case or "all GPUs" for run in runs])
    area.set(ylim=(len(runs) - 0.5, -0.5), xlim=(0, 100), xlabel="Share of the hours of all GPUs (%)")
    area.grid(axis="y", visible=False)
    area.tick_params(axis="y", length=0)
    handles, _ = area.get_legend_handles_labels()
    look.legend_below(area, 4 if len(handles) > 4 else len(handles), handles=handles)


def draw_parts_of(area, run):
    """A bar for each part of one run."""
    total = sum(run.gpu_hours.values()) or 1
    parts = [(part, colour, 100 * run.gpu_hours.get(part, 0) / total) for part, colour in PARTS if run.gpu_hours.get(part, 0) > 0]
    bars = area.barh(range(len(parts)), [share for _, _, share in parts], height=0.66, color=[colour for _, colour, _ in parts])
    area.bar_label(bars, [f"{share:.2g} %" if share < 1 else f"{share:.1f} %" for _, _, share in parts], padding=3, fontsize=9.5)
    area.set_yticks(range(len(parts)), [part for part, _, _ in parts])
    area.set(ylim=(len(parts) - 0.5, -0.5), xlim=(0, 115), xlabel="Share of the hours of all GPUs (%)")
    area.set_xticks(range(0, 101, 20))
    area.grid(axis="y", visible=False)
    area.tick_params(axis="y", length=0)


def causes(run):
    """What cost GPU hours but work, from the most on: (name, hours)."""
    lost = dict(run.lost)
    for part in ("checkpoints", "down"):
        lost[part if part == "checkpoints" else "nodes down"] = run.gpu_hours.get(part, 0)
    starts = sum(run.gpu_hours.get(part, 0) for part in ("starting", "work lost", "failed, not yet seen", "without lost tasks"))
    lost["other starts"] = max(0.0, starts - sum(run.lost.values()))
    least = 1e-6 * sum(run.gpu_hours.values())
    return sorted(((name, hours) for name, hours in lost.items() if hours > least), key=lambda pair: -pair[1])


def draw_causes(area, run):
    rows = causes(run)[:12]
    bars = area.barh(range(len(rows)), [hours for _, hours in rows], height=0.62, color="#D55E00")
    area.bar_label(bars, [f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}" for _, hours in rows], padding=3, fontsize=9.5)
    area.set_yticks(range(len(rows)), [name for name, _ in rows])
    area.set(ylim=(max(len(rows), 1) - 0.5, -0.5), xlabel="GPU hours lost, by cause")
    area.margins(x=0.18)
    area.xaxis.set_major_locator(MaxNLocator(4))
    area.grid(axis="y", visible=False)
    area.tick_params(axis="y", length=0)
    area.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def has_domains(run):
    return len(run.domain_hours) > 1


def draw_domains(area, run):
    """A bar for each group of nodes below one switch; of many, one for several neighbours."""
    each = -(-len(run.domain_hours) // MOST_BARS)
    groups = [run.domain_hours[first:first + each] for first in range(0, len(run.domain_hours), each)]
    sums = [[sum(hours[part] for hours in group) for part in range(3)] for group in groups]
    bottom = [0.0] * len(sums)
    for part, (name, colour) in enumerate(NODE_PARTS):
        heights = [100 * hours[part] / (sum(hours) or 1) for hours in sums]
        if max(heights) > 0:
            area.bar([place * each for place in range(len(sums))], heights, width=0.86 * each, align="edge", bottom=bottom, color=colour,
                     label=name)
        bottom = [low + height for low, height in zip(bottom, heights)]
    area.set(ylim=(0, 100), ylabel="GPU hours (%)", xlabel=f"{run.tier.capitalize()} group" + (f" ({each} a bar)" if each > 1 else ""))
    area.set_xlim(-0.2 * each, each * len(sums))
    if len(run.domain_hours) <= 16:
        area.set_xticks([place + 0.43 for place in range(len(sums))], range(len(sums)))
    area.grid(axis="x", visible=False)
    look.legend_below(area, 3)


def draw_spread(area, run):
    """Over how many groups of nodes jobs lie, by the GPU hours that they have so; of jobs that have more than one node."""
    hours = {}
    for stint in run.stints:
        nodes = sum(last - first + 1 for first, last, _ in stint.places)
        if nodes < 2:
            continue
        domains = len({run.domains[node] for first, last, _ in stint.places for node in range(first, last + 1)})
        gpus = sum((last - first + 1) * gpus for first, last, gpus in stint.places)
        group = next((number for number, most in enumerate(SPREADS) if domains <= most), len(SPREADS))
        hours[group] = hours.get(group, 0) + gpus * (stint.until - stint.since)
    area.set(ylabel="GPU hours (%)", xlabel=f"{run.tier.capitalize()} groups that a job lies on")
    if not hours:
        area.set(xticks=[], yticks=[])
        return workload_shares.nothing(area, "No job has more than one node.")
    groups = range(min(hours), max(hours) + 1)
    total = sum(hours.values())
    bars = area.bar(list(groups), [100 * hours.get(group, 0) / total for group in groups], width=0.7, color="#009E73")
    area.bar_label(bars, [percent(hours.get(group, 0) / total) for group in groups], fontsize=9.5)
    area.set_xticks(list(groups), [spread_name(group) for group in groups])
    area.set_xlim(groups[0] - 1, groups[-1] + 1)
    area.set_ylim(0, 108)
    area.grid(axis="x", visible=False)
    return None


def percent(share):
    return "" if share == 0 else "< 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def spread_name(group):
    if group == len(SPREADS):
        return f"over {SPREADS[-1]}"
    least = SPREADS[group - 1] + 1 if group else 1
    return str(least) if least == SPREADS[group] else f"{least}–{SPREADS[group]}"
