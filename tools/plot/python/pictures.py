"""Small picture files."""

import argparse
import pathlib
import re
import sys

from matplotlib import pyplot

import axes
import foreign
import output_files


def text_stays_text():
    """Letters as text in a font that readers have, not as outlines: a tenth of the size."""
    pyplot.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]})


def smaller(svg):
    """The same picture without what drawing programs do not need: tenths of a point are fine enough."""
    svg = re.sub(r' clip-path="[^"]*"| transform="rotate\(-0 [^"]*\)"', "", svg)
    svg = re.sub(r"\s*<clipPath .*?</clipPath>", "", svg, flags=re.DOTALL)  # their names differ from run to run
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d)\d+", r"\1", tag[0]), svg)  # what stands in letters keeps its digits
    svg = re.sub(r' ?\n"', '"', svg)
    return re.sub(r"\n\s*(?=[LzCMQ] ?)", " ", re.sub(r"\n +", "\n", svg))


def save(figure, path):
    """Writes .svg (small, the same each time), .png or .pdf, as the path ends; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with output_files.replacing(path) as beside:
        figure.savefig(beside, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
        if path.suffix == ".svg":
            beside.write_text(smaller(beside.read_text(encoding="utf-8")), encoding="utf-8")
    pyplot.close(figure)


def draw_file(description, word, of_what, figure_of):
    """A program that draws one file: `word` names its argument, `of_what` says what that is; `figure_of`: by path.
    Returns its exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(word, type=pathlib.Path, help=of_what)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the picture: .svg, .png or .pdf")
    options = parser.parse_args()
    try:
        axes.style()
        text_stays_text()
        save(figure_of(getattr(options, word)), options.output)
        print(options.output)
    except (foreign.InputError, OSError) as error:
        print(f"{pathlib.Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        return 4
    return 0
