"""Who may include whom: sim <- topologies, sim <- algorithms, {sim, topologies, algorithms} <- models <- tools <- tests."""

import re
import subprocess
import sys
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


def circle(graph, node):
    """The shortest way from `node` back to itself, as a list that starts and ends with it, or None."""
    before, waiting = {}, [node]
    for at in waiting:
        for target in sorted(graph.get(at, ())):
            if target == node:
                way = [at]
                while way[-1] != node:
                    way.append(before[way[-1]])
                return way[::-1] + [node]
            if target not in before:
                before[target] = at
                waiting.append(target)
    return None


def circles(graph, nodes):
    """The circle through each of `nodes` that lies on one."""
    return [" -> ".join(found) for node in sorted(nodes) if (found := circle(graph, node))]


def edges(pairs, name):
    """The graph of `pairs` with both ends renamed by `name`, without edges from a node to itself."""
    graph = {}
    for path, included in pairs:
        source, target = name(path), name(included)
        if source != target:
            graph.setdefault(source, set()).add(target)
    return graph


def part(folders):
    """How a file is named among the parts of the house: files of a folder without sub-folders are one part; beside
    sub-folders each header, with its source, is a part of its own: a catalog above them, an interface below them."""
    def name(path):
        folder = path.rsplit("/", 1)[0]
        return unit(path) if any(other.startswith(folder + "/") for other in folders) else folder
    return name


def module(path):
    """The second-level folder that a file is in, with all its sub-folders; a file of a first-level folder is a module
    of its own, with the header or source beside it."""
    folders = path.split("/")
    return "/".join(folders[:2]) if len(folders) > 2 else unit(path)


def reached(graph, node):
    """Everything that includes lead to from `node`."""
    found, waiting = set(), [node]
    while waiting:
        for target in graph.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def knots(graph):
    """The largest sets of nodes of which each reaches every other, each sorted."""
    reach = {node: reached(graph, node) for node in graph}
    return sorted({tuple(sorted(other for other in reach[node] if node in reach.get(other, ())))
                   for node in graph if node in reach[node]})


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
                   if not any((tree.ROOT / (included + made)).is_file() for made in ("", ".in"))]
        self.assertEqual(missing, [])

    def test_no_folder_is_part_of_a_circle_of_includes(self):
        folders = {path.rsplit("/", 1)[0] for path, _ in self.named}
        self.assertEqual(circles(edges(self.named, part(folders)), folders), [])

    def test_modules_do_not_include_each_other_in_a_circle(self):
        self.assertEqual(knots(edges(self.named, module)), [])

    def test_headers_do_not_include_each_other_in_a_circle(self):
        headers = [(path, included) for path, included in self.named if path.endswith(".hpp")]
        self.assertEqual(circles(edges(headers, unit), {unit(path) for path, _ in headers}), [])

    def test_every_header_is_guarded_once(self):
        unguarded = [str(path) for path in tree.files(".hpp")
                     if "#pragma once" not in tree.text(path) and path.parent.name != "precompiled"]
        self.assertEqual(unguarded, [])


class TheCheckItself(unittest.TestCase):
    def test_a_step_upward_is_found(self):
        path = tree.pathlib.PurePosixPath("topologies/fabric/fabric.hpp")
        self.assertEqual(forbidden([(path, "algorithms/schedule/schedule.hpp")]),
                         ["topologies/fabric/fabric.hpp includes algorithms/schedule/schedule.hpp"])

    def test_a_circle_is_found_and_told_in_order(self):
        self.assertEqual(circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}, "abc"), ["b -> c -> b", "c -> b -> c"])

    def test_a_folder_without_sub_folders_is_one_part_and_files_beside_sub_folders_are_parts_of_their_own(self):
        name = part({"a", "a/b"})
        self.assertEqual([name("a/b/x.cpp"), name("a/b/y.hpp"), name("a/x.cpp"), name("a/x.hpp")],
                         ["a/b", "a/b", "a/x", "a/x"])

    def test_a_module_is_a_second_level_folder_with_its_sub_folders_or_a_file_beside_them(self):
        self.assertEqual([module(path) for path in ("a/b/c/x.cpp", "a/b/y.hpp", "a/z.cpp")], ["a/b", "a/b", "a/z"])

    def test_a_circle_over_sub_folders_is_a_knot_of_their_modules(self):
        pairs = [("a/b/c/x.hpp", "a/d/y.hpp"), ("a/d/e/z.cpp", "a/b/w.hpp"), ("a/f.cpp", "a/b/w.hpp")]
        self.assertEqual(knots(edges(pairs, module)), [("a/b", "a/d")])

    def test_a_diamond_is_no_circle(self):
        self.assertEqual(knots({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}), [])
        self.assertEqual(circles({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}, "abcd"), [])


class Picture(unittest.TestCase):
    def test_the_picture_of_folders_is_that_of_the_tree(self):
        done = subprocess.run([sys.executable, tree.ROOT / "tools/scripts/documents/folders", "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
