"""Who may include whom: sim <- topologies, sim <- algorithms, {sim, topologies, algorithms} <- models <- tools <- tests."""

import re
import unittest

import tree

ALLOWED = {
    "sim": {"sim"},
    "topologies": {"sim", "topologies"},
    "algorithms": {"sim", "algorithms"},
    "models": {"sim", "topologies", "algorithms", "models"},
    "tools": {"sim", "topologies", "algorithms", "models", "tools"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def includes(paths):
    """(file, included path) of every include in quotes."""
    return [(path, included) for path in paths for included in INCLUDE.findall(tree.text(path))]


def forbidden(pairs):
    """The includes of `pairs` that reach a folder they may not."""
    return [f"{path} includes {included}" for path, included in pairs
            if included.split("/")[0] not in ALLOWED[path.parts[0]]]


def unit(path):
    """A header and the source beside it are one unit: foo.hpp and foo.cpp share their includes."""
    return path.rsplit(".", 1)[0]


def cycle(edges):
    """A list of nodes that ends where it starts, or None. `edges` maps a node to the nodes that it uses."""
    done, trail = set(), []

    def visit(node):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return None
        trail.append(node)
        for target in sorted(edges.get(node, ())):
            found = visit(target)
            if found:
                return found
        trail.pop()
        done.add(node)
        return None

    return next((found for found in map(visit, sorted(edges)) if found), None)


def edges(pairs, name):
    """The graph of `pairs` with both ends renamed by `name`, without edges from a node to itself."""
    graph = {}
    for path, included in pairs:
        source, target = name(path), name(included)
        if source != target:
            graph.setdefault(source, set()).add(target)
    return graph


def folder(path):
    return path.rsplit("/", 1)[0]


class Layering(unittest.TestCase):
    def setUp(self):
        paths = [path for path in tree.files(*tree.SOURCE_SUFFIXES) if path.parts[0] in ALLOWED]
        self.assertGreater(len(paths), 10, "the sources were not found")
        self.pairs = includes(paths)
        self.named = [(str(path), included) for path, included in self.pairs]

    def test_a_folder_includes_only_the_folders_below_it(self):
        self.assertEqual(forbidden(self.pairs), [])

    def test_every_include_in_quotes_is_a_path_from_the_root(self):
        missing = [f"{path} includes {included}" for path, included in self.pairs
                   if not (tree.ROOT / included).is_file()]
        self.assertEqual(missing, [])

    def test_folders_and_their_sub_folders_do_not_include_each_other_in_a_circle(self):
        self.assertIsNone(cycle(edges(self.named, folder)))

    def test_headers_do_not_include_each_other_in_a_circle(self):
        headers = [(path, included) for path, included in self.named if path.endswith(".hpp")]
        self.assertIsNone(cycle(edges(headers, unit)))

    def test_every_header_is_guarded_once(self):
        unguarded = [str(path) for path in tree.files(".hpp") if "#pragma once" not in tree.text(path)]
        self.assertEqual(unguarded, [])


class TheCheckItself(unittest.TestCase):
    def test_a_step_upward_is_found(self):
        path = tree.pathlib.PurePosixPath("topologies/fabric.hpp")
        self.assertEqual(forbidden([(path, "algorithms/schedule.hpp")]),
                         ["topologies/fabric.hpp includes algorithms/schedule.hpp"])

    def test_a_circle_is_found_and_told_in_order(self):
        self.assertEqual(cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])

    def test_a_diamond_is_no_circle(self):
        self.assertIsNone(cycle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}))


if __name__ == "__main__":
    unittest.main()
