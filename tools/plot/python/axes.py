"""How Athanor's plots look: palette, fonts, and axes of sizes and times with units."""

import math

from matplotlib import pyplot
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

import output_files

# Okabe and Ito's colours, told apart with every common colour vision; black is kept for what is not simulated.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A4FA3", "#8C6D31"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
MEASURED = {"color": "#111111", "marker": "o", "markerfacecolor": "none", "markersize": 7.5, "markeredgewidth": 1.3,
            "linestyle": "none", "zorder": 4}
BOUND = {"color": "#555555", "linestyle": (0, (5, 3)), "linewidth": 1.4, "zorder": 2}
INTERVAL = {"color": "#0072B2", "alpha": 0.16, "linewidth": 0, "zorder": 0}  # where eight of ten measurements are expected
INTERVAL_NAME = "Eight of ten measurements (80 %)"
BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"]
TIME_UNITS = [(1e6, "s"), (1e3, "ms"), (1, "µs"), (1e-3, "ns")]
LABELLED_SIZES = 9


def style():
    """Sets fonts and lines for every figure, and makes SVG files the same in every run."""
    pyplot.rcParams.update({
        "font.size": 11, "axes.titlesize": 12, "axes.labelsize": 11.5, "legend.fontsize": 10.5,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
        "grid.color": "#DDDDDD", "grid.linewidth": 0.7, "lines.linewidth": 1.8, "lines.markersize": 5,
        "figure.facecolor": "white", "svg.hashsalt": "athanor",
        "text.usetex": False,
    })
    if "text.parse_math" in pyplot.rcParams:  # from matplotlib 3.6 on
        pyplot.rcParams["text.parse_math"] = False  # names of cases are no formulas


def size_label(size):
    """Bytes as people write them: 8 B, 1 KiB, 1.5 MiB; 25 MB, where that is what was written."""
    power = min(int(math.log2(size) // 10), len(BYTE_UNITS) - 1) if size >= 1 else 0
    binary = f"{size / 1024 ** power:.4g}"
    thousands = min(int(math.log10(size) // 3), len(BYTE_UNITS) - 1) if size >= 1 else 0
    decimal = f"{size / 1000 ** thousands:.4g}"
    if float(binary) * 1024 ** power != size and float(decimal) * 1000 ** thousands == size:
        return f"{decimal} {BYTE_UNITS[thousands].replace('i', '')}"
    return f"{binary} {BYTE_UNITS[power]}"


def time_label(microseconds):
    """A time in the unit that keeps it at 1 or above: 20 µs, 1.5 ms."""
    scale, unit = next(((scale, unit) for scale, unit in TIME_UNITS if microseconds >= scale * 0.9999), TIME_UNITS[-1])
    return f"{microseconds / scale:.4g} {unit}"


def size_ticks(sizes):
    """The sizes themselves where they are few; else powers of two from the smallest to the largest, evenly spaced."""
    if len(set(sizes)) <= 5:
        return sorted(set(sizes))
    first, last = math.floor(math.log2(min(sizes))), math.ceil(math.log2(max(sizes)))
    least = max(1, math.ceil((last - first) / (LABELLED_SIZES - 1)))
    # A step that divides the range puts a label at the largest size too.
    step = next((step for step in range(least, 2 * least) if (last - first) % step == 0), least)
    return [2.0 ** power for power in range(first, last + 1, step)]


def size_axis(axes, sizes, label):
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(size_ticks(sizes)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_label(size)))
    axes.tick_params(axis="x", labelrotation=30)
    for text in axes.get_xticklabels():
        text.set_horizontalalignment("right")
        text.set_rotation_mode("anchor")
    axes.set_xlabel(label)


def time_axis(axes):
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if math.ceil(math.log10(low)) >= math.floor(math.log10(high)):  # fewer than two labels: widen to whole decades
        axes.set_ylim(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)))
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=12))
    axes.yaxis.set_minor_locator(LogLocator(base=10, subs=range(2, 10), numticks=12))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda time, _: time_label(time)))
    axes.set_ylabel("Time")


def bandwidth_axis(axes):
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Bus bandwidth (GB/s)")


def legend_below(area, columns, inches=0.55, handles=None):
    """A legend below an axis and its label, for which a constrained layout leaves room."""
    below = area.transAxes + ScaledTranslation(0, -inches, area.figure.dpi_scale_trans)
    handles = handles or area.get_legend_handles_labels()[0]
    area.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, ncols=columns, frameon=False)


def save(figure, stem):
    """Writes STEM.svg and STEM.png; makes their folder; returns both paths."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(stem.name + suffix) for suffix in (".svg", ".png")]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else None
        with output_files.replacing(path) as beside:
            figure.savefig(beside, dpi=150, metadata=metadata, bbox_inches="tight", pad_inches=0.2)
    pyplot.close(figure)
    return paths
