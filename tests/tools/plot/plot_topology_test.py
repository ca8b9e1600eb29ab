"""Fabrics of every kind are drawn, devices stand apart, and what is no fabric is refused."""

import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "tools/plot/python/plot_topology.py"
sys.path.insert(0, str(ROOT / "tools/plot/python"))
import interpreter  # noqa: E402

interpreter.require_module("matplotlib")
import matplotlib.colors  # noqa: E402

import topology  # noqa: E402
import topology_use  # noqa: E402


def fabric(names, cables, endpoints, layout="layers", sizes=(), closed=True):
    links = [{"from": one, "to": other} for pair in cables for one, other in (pair, pair[::-1])]
    return {"description": "a graph" if layout == "layers" else f"a {layout}", "endpoints": list(endpoints), "links": links,
            "vertices": [{"name": name, "kind": name.split("/")[-1].rstrip("0123456789")} for name in names],
            "picture": {"layout": layout, "sizes": list(sizes), "closed": closed}}


def with_hosts(routers, cables, layout, sizes):
    """A host on each router; hosts come first, as generated fabrics have them."""
    names = [f"host{n}" for n in range(routers)] + [f"router{n}" for n in range(routers)]
    joined = [(routers + one, routers + other) for one, other in cables]
    return fabric(names, joined + [(n, routers + n) for n in range(routers)], range(routers), layout, sizes)


def grid(sizes, closed):
    """Neighbours are joined, without ends that meet."""
    places = list(itertools.product(*map(range, sizes)))
    cables = [(i, j) for i, j in itertools.combinations(range(len(places)), 2)
              if sum(abs(a - b) for a, b in zip(places[i], places[j])) == 1]
    return fabric([f"host{n}" for n in range(len(places))], cables, range(len(places)), "grid", sizes, closed)


SAMPLES = {
    "tree": fabric(["host0", "host1", "leaf0", "leaf1", "spine0"], [(0, 2), (1, 3), (2, 4), (3, 4)], [0, 1]),
    "nodes": fabric(["node0/gpu0", "node0/nic0", "node1/gpu0", "node1/nic0", "leaf0"], [(0, 1), (2, 3), (1, 4), (3, 4)],
                    [0, 2]),
    "inside": fabric(["node0/gpu0", "node0/gpu1", "node0/nvswitch0"], [(0, 2), (1, 2)], [0, 1]),
    "line": grid([5], False), "mesh": grid([3, 4], False), "torus": grid([2, 3, 4], True), "4D": grid([2] * 4, True),
    "5D": grid([2] * 5, False),
    "full": fabric(["host0", "host1", "host2"], [(0, 1), (0, 2), (1, 2)], range(3), "box", [3]),
    "hyperx": with_hosts(6, [(0, 1), (0, 2), (1, 2), (0, 3)], "box", [2, 3]),
    "dragonfly": with_hosts(6, [(0, 1), (2, 3), (4, 5), (0, 2), (3, 4), (1, 5)], "groups", [3, 2]),
    "slim": with_hosts(18, [(0, 1), (0, 9)], "sheets", [1, 2, 3, 3]),
}


def draw(content, ending, raw=False):
    """(exit status, stderr, the picture's bytes) of drawing `content`."""
    with tempfile.TemporaryDirectory() as folder:
        source, picture = pathlib.Path(folder) / "fabric.json", pathlib.Path(folder) / ("picture" + ending)
        source.write_text(content if raw else json.dumps(content), encoding="utf-8")
        done = subprocess.run([sys.executable, PLOT, source, "--output", picture], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr, picture.read_bytes() if picture.exists() else b""


def drawing_of(document):
    drawing = topology.Drawing(document)
    topology.place_devices(drawing)
    return drawing


class Places(unittest.TestCase):
    def test_every_device_has_a_place_and_no_two_stand_on_each_other(self):
        for name, document in SAMPLES.items():
            with self.subTest(name):
                drawing = drawing_of(document)
                self.assertEqual(set(drawing.places), set(drawing.devices))
                for one, other in itertools.combinations(drawing.places.values(), 2):
                    self.assertGreater(math.dist(one, other), 0.1)

    def test_nodes_are_one_device_each_and_alone_show_their_inside(self):
        self.assertEqual(drawing_of(SAMPLES["nodes"]).devices, ["node0", "node1", "leaf0"])
        self.assertEqual(len(drawing_of(SAMPLES["inside"]).devices), 3)

    def test_layers_are_as_far_up_as_switches_are_from_hosts(self):
        heights = {device: place[1] for device, place in drawing_of(SAMPLES["tree"]).places.items()}
        self.assertLess(heights["host0"], heights["leaf0"])
        self.assertLess(heights["leaf1"], heights["spine0"])
        self.assertEqual(heights["leaf0"], heights["leaf1"])

    def test_parallel_cables_are_counted(self):
        self.assertEqual(drawing_of(fabric(["a", "b"], [(0, 1), (0, 1)], [0, 1])).cables, {("a", "b"): 2})


class Pictures(unittest.TestCase):
    def test_of_a_wide_node_rows_have_captions_and_what_there_is_little_of_names(self):
        def node(gpus):
            names = [f"node0/gpu{n}" for n in range(gpus)] + ["node0/nvswitch0"]
            return draw(fabric(names, [(n, gpus) for n in range(gpus)], range(gpus)), ".svg")[2].decode()
        self.assertEqual(node(8).count("8 GPUs"), 1)  # above the picture
        self.assertEqual(node(72).count("72 GPUs"), 2)
        self.assertIn("72 GPUs, 1 NVSwitch.", node(72))
        for words, small, large in ((">NVSw<", 1, 1), (">GPU<", 8, 0)):
            self.assertEqual((node(8).count(words), node(72).count(words)), (small, large))

    def test_the_picture_says_what_it_counts(self):
        self.assertIn(b"6 hosts, 6 switches, 6 cables between switches.", draw(SAMPLES["dragonfly"], ".svg")[2])
        self.assertIn(b"12 hosts, 17 cables.", draw(SAMPLES["mesh"], ".svg")[2])

    def test_each_ending_gives_its_kind_of_file_and_the_same_each_time(self):
        for kind, ending, begin in (("tree", ".png", b"\x89PNG"), ("slim", ".pdf", b"%PDF"), ("hyperx", ".svg", b"<?xml")):
            status, stderr, picture = draw(SAMPLES[kind], ending)
            self.assertEqual((status, stderr), (0, ""))
            self.assertTrue(picture.startswith(begin), ending)
        self.assertEqual(picture, draw(SAMPLES["hyperx"], ".svg")[2])


def busy(document, shares):
    """The fabric after a collective that kept each of its links busy for so much of the time."""
    use = {"collective": "all_reduce", "bytes": 2 ** 20, "ranks": 4, "algorithm": "ring", "time_us": 12.5, "busiest": "a -> b",
           "shares": shares}
    return {**document, "use": use}


class Utilisation(unittest.TestCase):
    def colour_of(self, share, most=1.0):
        document = busy(SAMPLES["tree"], [most])
        return matplotlib.colors.to_hex(topology_use.Use(document, topology.Drawing(document)).colour(share))

    def test_links_have_the_colour_of_their_share_each_direction_its_own(self):
        picture = draw(busy(SAMPLES["tree"], [0.9, 0.2] + [0.0] * 6), ".svg")[2].decode()
        for words in ("All-reduce of 1 MiB by 4 ranks: ring, 12.5 µs", "Busiest: a -&gt; b, 90.0 %",
                      "A line for each direction", "share of the time in which a link was busy"):
            self.assertIn(words, picture)
        for share, lines in ((0.9, 1), (0.2, 1), (0.0, 6)):
            colour = topology_use.IDLE if share == 0 else self.colour_of(share)
            self.assertEqual(picture.count(f"stroke: {colour.lower()}"), lines, share)

    def test_equal_directions_are_one_line(self):
        picture = draw(busy(SAMPLES["tree"], [0.9, 0.9] + [0.5] * 6), ".svg")[2].decode()
        self.assertNotIn("each direction", picture)
        self.assertEqual(picture.count(f"stroke: {self.colour_of(0.5)}"), 3)

    def test_the_inside_of_a_node_that_is_drawn_as_one_thing_colours_it(self):
        picture = draw(busy(SAMPLES["nodes"], [0.8, 0.7] + [0.1] * 6), ".svg")[2].decode()
        self.assertIn("A node's circle: the busiest link inside", picture)
        self.assertEqual(picture.count(f"fill: {self.colour_of(0.8)}"), 1)

    def test_the_scale_ends_where_the_busiest_link_is_seen(self):
        self.assertEqual(self.colour_of(0.012, most=0.015), self.colour_of(0.6))
        self.assertEqual(self.colour_of(1.4, most=1.4), self.colour_of(1.0))  # shared at full speed: the ideal level

    def test_darker_is_busier(self):
        def lightness(share):
            red, green, blue = matplotlib.colors.to_rgb(self.colour_of(share))
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue
        scale = [lightness(0.01 + n / 50) for n in range(50)]
        self.assertEqual(scale, sorted(scale, reverse=True))

    def test_of_several_fabrics_shares_stay_with_their_links(self):
        document = fabric(["node0/nic0", "node1/nic0", "front/leaf0", "back/leaf0"], [(0, 2), (1, 2), (0, 3), (1, 3)], [0, 1])
        for number, link in enumerate(document["links"]):
            link["network"] = "front" if number < 4 else "back"
        document["fabrics"] = [{"name": "front", "used": False}, {"name": "back", "used": True}]
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "fabric.json"
            source.write_text(json.dumps(busy(document, [0, 0, 0, 0, 0.5, 0.25, 0.125, 1.0])), encoding="utf-8")
            _, drawing = topology.load(source)
        self.assertEqual(drawing.use_between, {("node0", "leaf0"): 0.5, ("leaf0", "node0"): 0.25, ("node1", "leaf0"): 0.125,
                                               ("leaf0", "node1"): 1.0})


class BadFiles(unittest.TestCase):
    def test_what_is_no_fabric_is_refused_in_one_line(self):
        many = fabric([f"host{n}" for n in range(1600)], [], range(1600))
        for content, raw, problem in (("{", True, "not JSON"), ({}, False, "it has no description"),
                                      (many, False, "1600 devices are more than"), ([], False, "it has no description")):
            status, stderr, picture = draw(content, ".svg", raw)
            self.assertEqual((status, picture), (4, b""))
            self.assertIn(problem, stderr)
            self.assertEqual(stderr.count("\n"), 1, stderr)


if __name__ == "__main__":
    unittest.main()
