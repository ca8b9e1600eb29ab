"""How busy the links of a drawn fabric were: colours from pale to dark, and a line for each direction."""

import math

import matplotlib
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import FancyArrowPatch

import axes
import figures

IDLE = "#D0D0D0"
# Lightness falls evenly, so that busier is darker in grey, too; the palest part is left out, which white paper hides.
COLOURS = LinearSegmentedColormap.from_list("busy", matplotlib.colormaps["inferno_r"]([0.14 + 0.008 * n for n in range(101)]))
FULL_SCALES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
MOST_PAIRS = 400  # cables; of more, two lines each are not told apart
EQUAL = 0.002  # of the time: directions that differ by less are drawn as one


class Use:
    """Shares of the time, by (device, device) for what is drawn and by device for what is inside of it."""

    def __init__(self, document, drawing):
        given = document["use"]
        self.busiest, self.most = given["busiest"], max(given["shares"])
        self.what = (f"{figures.collective_title(given['collective'])} of {axes.size_label(given['bytes'])} by "
                     f"{given['ranks']:,} ranks: {figures.words(given['algorithm'])}, {axes.time_label(given['time_us'])}")
        self.between, self.inside = drawing.use_between, drawing.use_inside
        self.scale = Normalize(0, next((scale for scale in FULL_SCALES if self.most <= scale), self.most))

    def colour(self, share):
        return COLOURS(self.scale(share)) if share > 0 else IDLE

    def directions(self, ends):
        return self.between.get(ends, 0), self.between.get(ends[::-1], 0)

    def pairs(self, cables):
        """Whether each direction has a line of its own."""
        return len(cables) <= MOST_PAIRS and any(abs(there - back) > EQUAL for there, back in
                                                 (self.directions(cable.ends) for cable in cables))


def width_of(share, use):
    return 1.0 + 1.6 * use.scale(share) if share > 0 else 0.8


def beside(start, end, distance):
    """A line to the right of the way from start to end."""
    (x0, y0), (x1, y1) = start, end
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    right = (y1 - y0) / length * distance, -(x1 - x0) / length * distance
    return (x0 + right[0], y0 + right[1]), (x1 + right[0], y1 + right[1])


def lines_of(drawing, cable, use, pairs, distance):
    """(start, end, bend, share) of each line that stands for the cable."""
    one, other = (drawing.places[end] for end in cable.ends)
    there, back = use.directions(cable.ends)
    if not pairs:
        return [(one, other, cable.bend, max(there, back))]
    if cable.bend:
        return [(one, other, cable.bend - 0.03, there), (other, one, -cable.bend - 0.03, back)]
    return [(*beside(one, other, distance), 0, there), (*beside(other, one, distance), 0, back)]


def draw_cables(panel, drawing, cables, use, inches_per_unit):
    pairs = use.pairs(cables)
    distance = 1.5 / 72 / inches_per_unit
    lines = [line for cable in cables for line in lines_of(drawing, cable, use, pairs, distance)]
    lines.sort(key=lambda line: line[3])  # the busiest on top
    straight = [line for line in lines if not line[2]]
    panel.add_collection(LineCollection([line[:2] for line in straight], zorder=1, capstyle="butt",
                                        colors=[use.colour(line[3]) for line in straight],
                                        linewidths=[width_of(line[3], use) for line in straight]))
    for start, end, bend, share in lines:
        if bend:
            panel.add_patch(FancyArrowPatch(start, end, arrowstyle="-", connectionstyle=f"arc3,rad={bend}", zorder=1,
                                            color=use.colour(share), linewidth=width_of(share, use)))


def colour_bar(figure, use):
    """Below the picture, in the lowest 0.75 inches."""
    width, height = figure.get_size_inches()
    length = min(5.0, 0.7 * width)
    place = figure.add_axes([0.5 - length / width / 2, 0.5 / height, length / width, 0.11 / height])
    bar = figure.colorbar(ScalarMappable(Normalize(0, 100 * use.scale.vmax), COLOURS), cax=place, orientation="horizontal")
    bar.set_label("share of the time in which a link was busy (%); grey: it carried nothing", fontsize=8.5, labelpad=1)
    bar.ax.tick_params(labelsize=8.5, pad=1)
    bar.outline.set_visible(False)


def explanation(use, cables, drawing):
    """How to read the picture."""
    words = [f"Busiest: {use.busiest}, {100 * use.most:.1f} %."]
    if use.pairs(cables):
        words.append("A line for each direction, which keeps to the right.")
    elif any(abs(there - back) > EQUAL for there, back in (use.directions(cable.ends) for cable in cables)):
        words.append("Of two directions the busier.")
    if any(count > 1 for count in drawing.cables.values()):
        words.append("Of cables side by side the busiest.")
    if any(share > 0 for share in use.inside.values()):
        words.append("A node's circle: the busiest link inside of it.")
    return " ".join(words)
