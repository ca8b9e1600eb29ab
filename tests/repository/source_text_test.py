"""What a reader of the sources can rely on: short functions, short files, nothing left half done, no machine's own paths."""

import ast
import re
import unittest

import tree

FUNCTION_LINES = 60
FILE_LINES = 400
CODE = (".hpp", ".cpp", ".py")
UNFINISHED = re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b|\bfor no[w]\b|\bnot yet implemente[d]|#if [0]\b")
# The home of a person, the temporary folder and the work folders of a build machine mean nothing to anybody else.
MACHINE_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|work|farm|tmp|mnt|Users)/\w")
PREPROCESSOR = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
SCOPE = re.compile(r"\b(?:namespace|class|struct|enum|union)\b[^()]*$|\bextern\s*$")


def cpp_functions(source):
    """(line, name, number of lines) of each function body at namespace or class scope."""
    found, stack, head, line, head_line = [], [], "", 1, 1
    for character in tree.without_comments_and_strings(PREPROCESSOR.sub("", source)):
        if character == "{":
            is_scope = bool(SCOPE.search(head.strip()))
            in_scope = all(kind == "scope" for kind, *_ in stack)
            kind = "scope" if is_scope and in_scope else "function" if in_scope and "(" in head else "block"
            stack.append((kind, head_line, head))
            head = ""
        elif character == "}":
            kind, start, signature = stack.pop() if stack else ("block", line, "")
            if kind == "function":
                name = re.search(r"([\w:~]+|operator\W+)\s*\(", signature)
                found.append((start, name.group(1) if name else "?", line - start + 1))
            head = ""
        elif character == ";":
            head = ""
        else:
            if not head.strip():
                head_line = line
            head += character
        line += character == "\n"
    return found


def python_functions(source):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(node.lineno, node.name, node.end_lineno - node.lineno + 1)
            for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def too_long(path):
    functions = python_functions if path.suffix == ".py" else cpp_functions
    return [f"{path}:{line}: {name} has {length} lines"
            for line, name, length in functions(tree.text(path)) if length > FUNCTION_LINES]


def matches(pattern, paths):
    return [f"{path}:{number}: {line.strip()}" for path in paths
            for number, line in enumerate(tree.text(path).splitlines(), 1) if pattern.search(line)]


def written_files():
    """Text that people write: no measurements, no licence, no pictures."""
    kept = [path for path in tree.files() if path.suffix in {*CODE, ".md", ".build", ".json", ".yml", ""}]
    return [path for path in kept if path.name != "LICENSE" and path.parts[:2] != ("scenarios", "measurements")]


class SourceText(unittest.TestCase):
    def test_no_function_has_more_than_60_lines(self):
        self.assertEqual([line for path in tree.files(*CODE) for line in too_long(path)], [])

    def test_no_file_has_more_than_400_lines(self):
        long_files = [f"{path}: {lines} lines" for path in tree.files(*CODE)
                      if (lines := len(tree.text(path).splitlines())) > FILE_LINES]
        self.assertEqual(long_files, [])

    def test_nothing_is_marked_as_unfinished(self):
        self.assertEqual(matches(UNFINISHED, written_files()), [])

    def test_no_path_of_one_machine_is_written_down(self):
        self.assertEqual(matches(MACHINE_PATH, written_files()), [])

    def test_every_source_line_ends_without_blanks_and_every_file_with_one_line_end(self):
        blanks = matches(re.compile(r"[ \t]+$"), tree.files(*CODE))
        ends = [str(path) for path in tree.files(*CODE) if not re.search(r"(?:[^\n]\n|^)\Z", tree.text(path))]
        self.assertEqual(blanks + ends, [])


class TheCheckItself(unittest.TestCase):
    def test_functions_are_found_in_namespaces_and_classes_with_their_length(self):
        source = ('namespace a {\nstruct S {\n  S() : x_{1} {}\n  int f() const {\n    return 1;  // }\n  }\n'
                  '  int x_{0};\n};\nint g(int b) {\n  if (b) { return 2; }\n  return \'{\';\n}\n}\n')
        self.assertEqual([(line, name, length) for line, name, length in cpp_functions(source) if name in {"f", "g"}],
                         [(4, "f", 3), (9, "g", 4)])

    def test_a_function_of_61_lines_is_too_long(self):
        body = "  x();\n" * 59
        self.assertEqual([length for *_, length in cpp_functions("void f() {\n" + body + "}\n")], [61])

    def test_a_path_of_a_machine_is_found_and_a_system_path_is_not(self):
        self.assertTrue(MACHINE_PATH.search('open("/' + 'home/x/y")'))
        self.assertFalse(MACHINE_PATH.search('"/usr/bin/python3" https://example.org/home/x'))


if __name__ == "__main__":
    unittest.main()
