"""No two files define a type of one name: all share one namespace, where two of a name make a program of neither.

Types in an anonymous namespace are a file's own. Tests that share one executable are held to the same.
"""

import collections
import re
import unittest

import tree

DEFINITION = re.compile(r"^(?:template <.*> )?(?:struct|class|enum class|enum|union) (\w+)\b(?!::)[^;]*$")
FOLDERS = ("sim", "topologies", "algorithms", "models", "tools")


def types_of(text):
    """Names of the types that a text defines at the top of a named namespace, which clang-format does not indent."""
    anonymous = False
    for line in text.splitlines():
        if line == "namespace {":
            anonymous = True
        elif line == "}  // namespace":
            anonymous = False
        found = DEFINITION.match(line)
        if found and not anonymous and "{" in line:
            yield found.group(1)


def twice(texts):
    files = collections.defaultdict(set)
    for path, text in texts.items():
        for name in types_of(text):
            files[name].add(path)
    return {name: sorted(paths) for name, paths in files.items() if len(paths) > 1}


class OneDefinition(unittest.TestCase):
    def test_no_two_files_define_a_type_of_one_name(self):
        texts = {str(path): tree.text(path) for path in tree.files(".hpp", ".cpp") if path.parts[0] in FOLDERS}
        self.assertGreater(sum(1 for text in texts.values() for _ in types_of(text)), 300)
        self.assertEqual(twice(texts), {})

    def test_a_second_definition_is_found_and_an_anonymous_one_is_not(self):
        texts = {"a.hpp": "namespace athanor {\nstruct Link {\n};\n}\n",
                 "b.cpp": "namespace athanor {\nclass Link : public Base {\n};\n}\n",
                 "c.cpp": "namespace athanor {\nnamespace {\nstruct Link {\n};\n}  // namespace\n}\n",
                 "d.hpp": "struct Link;\n"}
        self.assertEqual(twice(texts), {"Link": ["a.hpp", "b.cpp"]})


if __name__ == "__main__":
    unittest.main()
