"""Every scenario that is shipped fits the schema that `athanor schema` prints, and the schema refuses what is not one.

    scenarios_test.py PATH_OF_ATHANOR
"""

import json
import re
import subprocess
import sys
import unittest

import tree

sys.path.insert(0, str(tree.ROOT / "tools/plot/python"))
import interpreter  # noqa: E402

if interpreter.with_module("jsonschema"):
    interpreter.require_module("jsonschema")
    import jsonschema
else:
    jsonschema = None

ATHANOR = sys.argv.pop(1) if len(sys.argv) > 1 else None
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text):
    return STRING_OR_COMMENT.sub(lambda match: match.group() if match.group()[0] == '"' else "", text)


def scenarios():
    return [path for path in tree.files(".json") if path.parts[0] == "scenarios"
            and (len(path.parts) == 2 or path.parts[1] in ("topologies", "published", "recommenders", "serving", "layouts", "sweeps", "training",
                                                             "validation"))]


def count(size):
    number, unit = re.fullmatch(r"(\d+)([KMG]i)?B", size).groups()
    return int(number) << {None: 0, "Ki": 10, "Mi": 20, "Gi": 30}[unit]


def swept(sizes):
    """The bytes of "8B..1GiB", which doubles, or of a single size."""
    ends = [count(end) for end in sizes.split("..")]
    swept_sizes = [ends[0]]
    while swept_sizes[-1] < ends[-1]:
        swept_sizes.append(2 * swept_sizes[-1])
    return swept_sizes


def errors(schema, document):
    return [f"/{'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in jsonschema.Draft7Validator(schema).iter_errors(document)]


@unittest.skipIf(jsonschema is None, "no Python with jsonschema: python3-jsonschema on Debian")
@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        printed = subprocess.run([ATHANOR, "schema"], capture_output=True, text=True, check=True).stdout
        cls.schema = json.loads(printed)

    def test_the_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(self.schema)

    def test_every_shipped_scenario_fits_the_schema(self):
        self.assertIn("quickstart.json", {path.name for path in scenarios()})
        for path in scenarios():
            with self.subTest(scenario=str(path)):
                self.assertEqual(errors(self.schema, json.loads(without_comments(tree.text(path)))), [])

    def test_every_shipped_measurement_fits_the_schema_of_measurements(self):
        printed = subprocess.run([ATHANOR, "schema", "measurement"], capture_output=True, text=True, check=True).stdout
        schema = json.loads(printed)
        jsonschema.Draft7Validator.check_schema(schema)
        paths = [path for path in tree.files(".json") if path.parts[:2] == ("scenarios", "measurements")]
        self.assertGreaterEqual(len(paths), 2)
        for path in paths:
            with self.subTest(measurement=str(path)):
                self.assertEqual(errors(schema, json.loads(tree.text(path))), [])

    def test_an_unknown_key_does_not_fit_at_any_depth(self):
        scenario = json.loads(without_comments(tree.text("scenarios/quickstart.json")))
        self.assertNotEqual(errors(self.schema, scenario | {"colective": {}}), [])
        self.assertNotEqual(errors(self.schema, {"cluster": {"nodse": 2}}), [])

    def test_a_quantity_without_its_unit_does_not_fit(self):
        self.assertNotEqual(errors(self.schema, {"collective": {"kind": "all_reduce", "chunk": 4096}}), [])


class Validation(unittest.TestCase):
    """scenarios/validation holds what `athanor verify --all` simulates: one file for each stack of software."""

    @staticmethod
    def cases():
        for path in scenarios():
            if path.parts[1] != "validation":
                continue
            document = json.loads(without_comments(tree.text(path)))
            for case in document["cases"]:
                yield path, case

    def test_every_table_of_nccl_tests_and_every_collective_in_it_has_a_case(self):
        held = {case["verify"]["measurement"] for _, case in self.cases()}
        for path in tree.files(".json"):
            if path.parts[:2] != ("scenarios", "measurements"):
                continue
            table = json.loads(tree.text(path))
            if table["kind"] in ("nccl-tests", "points"):
                self.assertIn(table["id"], held)

    def test_the_sizes_of_a_case_are_those_of_its_table(self):
        for path, case in self.cases():
            with self.subTest(scenario=str(path), case=case["name"]):
                table = json.loads(tree.text(f"scenarios/measurements/{case['verify']['measurement']}.json"))
                self.assertEqual(swept(case["collective"]["sizes"]), sorted({row["bytes"] for row in table["rows"]}))

    def test_no_profile_and_no_pool_was_fitted_on_a_table_that_stands_among_the_unseen(self):
        unseen = {case["verify"]["measurement"] for path, case in self.cases() if path.parts[2] == "unseen"}
        self.assertGreaterEqual(len(unseen), 2)
        for path in tree.files(".json"):
            if path.parts[:2] == ("scenarios", "profiles"):
                named = set(re.findall(r"[a-z][a-z0-9_]+", tree.text(path)))
                self.assertEqual(unseen & named, set(), str(path))

    def test_tables_that_no_fit_has_seen_are_simulated_without_a_profile(self):
        for path in scenarios():
            if path.parts[1:3] == ("validation", "unseen"):
                self.assertNotIn("profile", json.loads(without_comments(tree.text(path))))

    def test_no_two_cases_have_one_name_in_a_file(self):
        names = [(path, case["name"]) for path, case in self.cases()]
        self.assertEqual(len(names), len(set(names)))


class TheCheckItself(unittest.TestCase):
    def test_sizes_are_swept_by_doubling(self):
        self.assertEqual(swept("512B..2KiB"), [512, 1024, 2048])
        self.assertEqual(swept("4GiB"), [4 << 30])

    def test_comments_go_and_strings_stay(self):
        self.assertEqual(json.loads(without_comments('{"a": "//b" /* c */, // d\n "e": "\\"/*"}')),
                         {"a": "//b", "e": '"/*'})


if __name__ == "__main__":
    unittest.main()
