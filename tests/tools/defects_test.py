"""Runs inputs that once broke the program: damaged files that come back in, and names that reach terminals, pages, pictures
and spreadsheets. defects/README.md says what each is.

    defects_test.py PATH_OF_ATHANOR
"""

import csv
import dataclasses
import io
import json
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest

from defect_files import ATHANOR, PATIENCE, PROJECT, PYTHON, SWEEP, Files

READS_SWEEPS = ("export sweep {file}", "compare {file}", "plot {file}", "report {file}")
READS_RESULTS = ("compare {file}", "plot {file}", "report {file}")


@dataclasses.dataclass
class Row:
    """How the program ends with a file: its status, and what it says on standard error."""

    file: str
    status: int
    says: str
    commands: tuple


ROWS = [
    Row("sq_err.sqlite", 4, r"table points, row 1, 'error':1:1: invalid literal", READS_SWEEPS),
    Row("sq_warn.sqlite", 4, r"table points, row 0, 'warnings':1:\d+: invalid literal", READS_SWEEPS),
    Row("sq_result.sqlite", 4, r"table results, row 0, line 0:1:\d+: found end of input", READS_SWEEPS),
    Row("sq_result5.sqlite", 4, r"table results, row 0, line 0:1:1: found 5, expected an object", READS_SWEEPS),
    Row("sq_textnull.sqlite", 4, r"table sweep has no row 'scenario_text'", READS_SWEEPS),
    Row("sqlite_double_free.sqlite", 4, r"sqlite_double_free\.sqlite: ", READS_SWEEPS),
    Row("sq_values_empty.sqlite", 4, r"table sweep, row 'plan':1:\d+: the list has 0 elements \(at /axes/0/values\)", READS_SWEEPS),
    Row("sq_cases.sqlite", 4, r"table sweep, row 'plan':1:\d+: the list has 0 elements \(at /cases\)", READS_SWEEPS),
    Row("sq_labels.sqlite", 4, r"table sweep, row 'plan':1:\d+: 1 labels of 7 steps \(at /axes/0/labels\)", READS_SWEEPS),
    Row("sq_cte.sqlite", 4, r"view 'results' is not as a sweep writes it", READS_SWEEPS),
    Row("sq_text.sqlite", 4, r"row 'scenario_hash': it is not that of 'scenario_text'", READS_SWEEPS),
    Row("sq_huge.sqlite", 4, r"row 'points': 7 points, but what is varied makes", READS_SWEEPS),
    Row("result_5.json", 4, r"result_5\.json:1:\d+: found 5, expected a list \(at /results\)", READS_RESULTS),
    Row("result_arr.json", 4, r"result_arr\.json:1:1: ", READS_RESULTS),
    Row("result_case.json", 4, r"result_case\.json:1:\d+: found a list, expected a string \(at /results/0/case\)", READS_RESULTS),
    Row("result_empty.json", 4, r"result_empty\.json:1:\d+: the list has 0 elements \(at /results\)", READS_RESULTS),
    Row("result_l5.json", 4, r"result_l5\.json:1:\d+: found 5, expected an object \(at /results/0\)", READS_RESULTS),
    Row("result_manifest.json", 4, r"result_manifest\.json:1:\d+: .* \(at /manifest\)", READS_RESULTS),
    Row("result_null.json", 4, r"result_null\.json:1:\d+: found null, expected an object \(at /results/0\)", READS_RESULTS),
    Row("result_scen.json", 4, r"result_scen\.json:1:\d+: .* \(at /manifest/scenarios/0\)", READS_RESULTS),
    Row("result_scen2.json", 4, r"result_scen2\.json:1:\d+: .* \(at /manifest/scenarios\)", READS_RESULTS),
    Row("result_time.json", 4, r"result_time\.json:1:\d+: found a list, expected a number \(at /results/0/time_us\)", READS_RESULTS),
    Row("result_deep.json", 4, r"result_deep\.json:1:\d+: more than 100 objects and lists", READS_RESULTS),
    Row("nccl_arr.json", 4, r"nccl_arr\.json", READS_RESULTS),
    Row("nccl_num.json", 4, r"nccl_num\.json", READS_RESULTS),
    Row("nccl_arr.json", 3, r"nccl_arr\.json:1:1: this is neither", ("import {file}",)),
    Row("nccl_num.json", 3, r"nccl_num\.json:1:1: this is neither", ("import {file}",)),
    Row("nccl_config.json", 3, r"nccl_config\.json:1:1: \"config\" lists no devices", ("import {file}",)),
    Row("nccl_size.json", 3, r"nccl_size\.json:1:1: this result has no \"size\"", ("import {file} --ranks 2",)),
    Row("nccl_wrong.json", 3, r"nccl_wrong\.json:1:1: this result has neither", ("import {file} --ranks 2",)),
    Row("nccl_config.json", 4, r"nccl_config\.json: collectives, steps of training and traces are drawn", ("plot {file}",)),
    Row("terminal_escape.json", 3, r"terminal_escape\.json:1:", ("run {file}", "run {file} --json")),
    Row("osu_not_utf8.log", 0, r"^", ("import {file} --ranks 2 --collective all_reduce -o table.json",)),
    Row("nccl_not_utf8.log", 0, r"^", ("import {file} -o table.json",)),
    Row("trace_not_utf8.txt", 0, r"^", ("export trace {file} --set /unit=1us --set /ranks=8 --set /model_ranks=4 -o t.json",)),
]


def runs_of_rows():
    return [(row, command) for row in ROWS for command in row.commands]


class Rows(Files):
    def test_each_file_ends_with_its_status_and_a_message_that_names_the_place(self):
        (self.folder / "result_deep.json").write_text('{"results":' + "[" * 100_000 + "]" * 100_000 + "}")
        for row, command in runs_of_rows():
            with self.subTest(file=row.file, command=command):
                if row.file != "result_deep.json":
                    self.copy(row.file)
                status, out, err = self.run_in(command.format(file=row.file).split())
                self.assertEqual(status, row.status, err)
                self.assertRegex(err, row.says)
                self.assertNotIn("Traceback", err)
                self.assertNotRegex(err, "[\x00-\x08\x0b-\x1f]")
                if "--json" in command:
                    json.loads(out)

    def test_text_that_is_no_utf_8_is_written_as_json_that_is(self):
        for name, command in (("osu_not_utf8.log", "import {} --ranks 2 --collective all_reduce"), ("nccl_not_utf8.log", "import {}")):
            self.copy(name)
            out, _ = self.succeed(*command.format(name).split())
            json.loads(out)


class Sweeps(Files):
    def drop_point(self, name, point):
        with sqlite3.connect(self.folder / name) as database:
            for table in ("results", "executions", "points"):
                database.execute(f"DELETE FROM {table} WHERE point = {point}")

    def test_a_changed_input_is_noticed_however_the_scenario_is_spelled(self):
        self.copy("resume")
        folder = self.folder / "resume"
        self.succeed("sweep", "-q", "a.json", "--vary", "/seed=1,2", "-o", "a.sqlite", "-j", "1", folder=folder)
        self.drop_point("resume/a.sqlite", 1)
        (folder / "exchange.csv").write_text("0,104857600,4,8\n2048,0,0,12\n8,8,8,8\n4,4,4,0\n")
        for scenario in ("a.json", "./a.json", str(folder / "a.json"), "../resume/a.json"):
            status, _, err = self.run_in(["sweep", "-q", scenario, "--vary", "/seed=1,2", "-o", "a.sqlite", "--resume"], folder=folder)
            self.assertEqual(status, 4, scenario)
            self.assertIn("was another file when points of a.sqlite were simulated", err)

    def test_a_changed_profile_is_noticed_also_in_another_data_folder(self):
        other = self.folder / "data2"
        shutil.copytree(PROJECT / "scenarios", other, ignore=shutil.ignore_patterns("measurements", "traces"))
        (self.folder / "c.json").write_text(json.dumps({"cluster": {"node": "DGX-H100"}, "profile": "nccl-h100-nvswitch",
                                                        "collective": {"kind": "all_reduce", "sizes": "1MiB"}}))
        words = ["sweep", "-q", "c.json", "--vary", "/seed=1,2", "-o", "c.sqlite", "-j", "1", "--data"]
        self.succeed(*words, str(PROJECT / "scenarios"))
        self.drop_point("c.sqlite", 1)
        self.succeed(*words, str(other), "--resume")  # the same content elsewhere is the same input
        self.drop_point("c.sqlite", 1)
        profile = other / "profiles/nccl-h100-nvswitch.json"
        profile.write_text(profile.read_text() + "\n")
        status, _, err = self.run_in([*words, str(other), "--resume"])
        self.assertEqual(status, 4, err)
        self.assertIn("nccl-h100-nvswitch.json was another file", err)

    def test_parameters_whose_pointers_end_alike_are_told_apart_by_more_of_them(self):
        self.copy("sweep_same_names.json")
        self.succeed("sweep", "-q", "sweep_same_names.json", "-o", "s.sqlite")
        out, _ = self.succeed("export", "sweep", "s.sqlite")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(len({(row["link/rate"], row["uplink/rate"]) for row in rows}), 4)

    def test_steps_that_are_called_the_same_are_refused(self):
        (self.folder / "s.json").write_text(json.dumps(SWEEP))
        status, _, err = self.run_in(["sweep", "s.json", "--vary", "/seed=1,1"])
        self.assertEqual(status, 2)
        self.assertIn("two steps of 'seed' are called '1'", err)

    def test_what_is_no_part_of_a_sweep_is_refused_by_name(self):
        (self.folder / "s.json").write_text(json.dumps(SWEEP))
        for statement, says in (("CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM points; END", "trigger 't'"),
                                ("CREATE INDEX i ON points(warnings)", "index 'i'"),
                                ("UPDATE points SET point = 7 WHERE point = 1", "table points, row 7: there is no such point"),
                                ("UPDATE points SET warnings = x'00' WHERE point = 1", "table points, row 1: 'warnings' is no text"),
                                ("UPDATE executions SET seconds = 'x' WHERE point = 0", "'seconds' is no number"),
                                ("UPDATE results SET line = 5 WHERE point = 0 AND line = 1", "'line' is 5 after 1 lines"),
                                ("UPDATE points SET scenario_case = 'other'", "'scenario_case' is not that of this point"),
                                ("DELETE FROM results WHERE point = 1", "results or an error of each point"),
                                ("PRAGMA journal_mode = WAL", "journal_mode")):
            self.succeed("sweep", "-q", "s.json", "--vary", "/seed=1,2", "-o", "s.sqlite", "--overwrite")
            database = sqlite3.connect(self.folder / "s.sqlite", isolation_level=None)
            database.execute(statement)
            database.close()
            before = sorted(self.folder.iterdir())
            status, _, err = self.run_in(["export", "sweep", "s.sqlite"])
            self.assertEqual(status, 4, statement)
            self.assertIn(says, err)
            self.assertEqual(sorted(self.folder.iterdir()), before, "a file beside the one that was named")
            (self.folder / "s.sqlite").unlink()


class Names(Files):
    @unittest.skipUnless(PYTHON, "no Python with matplotlib")
    def test_nothing_is_imported_or_configured_from_the_working_directory(self):
        self.copy("mathtext.json")
        self.succeed("run", "-q", "mathtext.json", "--json=r.json")
        trap = "open('code_ran', 'a').write('yes')\n"
        for name in ("matplotlib.py", "json.py", "sitecustomize.py", "argparse.py"):
            (self.folder / name).write_text(trap)
        (self.folder / "matplotlibrc").write_text("figure.facecolor: red\n")
        for path in ("", ".", ":", str(self.folder)):
            self.succeed("plot", "r.json", "--out", "plots", env={"PYTHONPATH": path})
            self.assertFalse((self.folder / "code_ran").exists(), f"PYTHONPATH={path}")
        picture = next((self.folder / "plots").glob("*.svg")).read_text()
        self.assertNotIn("#ff0000", picture)

    @unittest.skipUnless(PYTHON, "no Python with matplotlib")
    def test_names_are_no_formulas_of_tex_and_no_paths(self):
        for name, pictures in (("mathtext.json", ["1000-and-foo-budget", "b"]), ("mathtext2.json", ["a-frac", "b"]),
                               ("slugs.json", ["x-y", "x-y-2", "x-y-3", "case", "case-2", "etc-x", "comparison-all-reduce"])):
            self.copy(name)
            self.succeed("run", "-q", name, "--json=r.json")
            out, _ = self.succeed("plot", "r.json", "--out", name + ".plots")
            written = {path.name for path in (self.folder / (name + ".plots")).iterdir()}
            comparison = "comparison-all-reduce" + ("-2" if name == "slugs.json" else "")
            self.assertEqual(written, {stem + ending for stem in [*pictures, comparison] for ending in (".svg", ".png")})
            self.assertEqual(len(out.splitlines()), len(written))

    @unittest.skipUnless(PYTHON, "no Python with matplotlib")
    def test_names_are_no_html(self):
        self.copy("html_inject.json")
        self.succeed("report", "html_inject.json", "-o", "r.html")
        page = (self.folder / "r.html").read_text()
        for piece in ("<script>alert", "<img src=x", "<i onmouseover", "<b>prof", "\x1b", "\x07"):
            self.assertNotIn(piece, page)
        self.assertEqual(page.count("<title>"), 1)
        self.assertIn("@body@ @title@ $\\alpha", page)

    def test_names_neither_move_a_terminal_nor_forge_a_line(self):
        self.copy("terminal_escape_name.json", "html_inject.json")
        for words in (["run", "terminal_escape_name.json"], ["run", "html_inject.json"], ["validate", "html_inject.json"],
                      ["compare", "html_inject.json"], ["describe", "html_inject.json", "--case", "<script>alert(5)</script>"]):
            status, out, err = self.run_in(words)
            self.assertIn(status, (0, 2), err)
            self.assertNotRegex(out.decode() + err, "[\x00-\x08\x0b-\x1f]")
            self.assertNotRegex(out.decode() + err, r"(?m)^# (all results were checked|forged line)")

    def test_names_are_no_formulas_of_spreadsheets_and_numbers_stay_numbers(self):
        self.copy("html_inject.json")
        out, _ = self.succeed("run", "-q", "html_inject.json", "--csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertIn('\'=HYPERLINK("http://evil","x")', {row["case"] for row in rows})
        self.assertIn("'@body@ @title@ $\\alpha", {row["case"] for row in rows})
        for row in rows:
            self.assertEqual(row["root"], "-1")
            float(row["time_us"])


def no_room():
    """Files of 1,000 bytes at most, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))


class Outputs(Files):
    def setUp(self):
        super().setUp()
        scenario = dict(SWEEP, cases=[{"name": "case number " + str(number)} for number in range(20)])
        (self.folder / "s.json").write_text(json.dumps(scenario))
        self.succeed("sweep", "-q", "s.json", "--vary", "/seed=1,2", "-o", "s.sqlite")

    def test_a_disk_without_room_leaves_the_old_file(self):
        commands = [["run", "-q", "s.json", "--json=old"], ["run", "-q", "s.json", "--csv=old"],
                    ["export", "sweep", "s.sqlite", "-o", "old"], ["export", "sweep", "s.sqlite", "--format", "jsonl", "-o", "old"],
                    ["export", "schedule", "all_reduce", "ring", "--format", "goal", "--ranks", "16", "--size", "1MiB", "-o", "old"],
                    ["export", "fabric", "s.json", "--case", "case number 1", "--format", "json", "-o", "old"],
                    ["run", "-q", "s.json", "--case", "case number 1", "--sizes", "1MiB", "--trace", "old"]]
        for words in commands:
            with self.subTest(command=words):
                (self.folder / "old").write_text("what was there")
                before = sorted(self.folder.iterdir())
                status, _, err = self.run_in(words, preexec_fn=no_room)
                self.assertEqual(status, 4, err)
                self.assertIn("cannot write old: ", err)
                self.assertEqual((self.folder / "old").read_text(), "what was there")
                self.assertEqual(sorted(self.folder.iterdir()), before)

    @unittest.skipUnless(PYTHON, "no Python with matplotlib")
    def test_pictures_and_pages_are_there_as_a_whole_or_not_at_all(self):
        sys.path.insert(0, str(PROJECT / "tools/plot/python"))
        import output_files

        old = self.folder / "old.svg"
        old.write_text("what was there")
        with self.assertRaises(OSError), output_files.replacing(old) as beside:
            beside.write_text("half of ")
            raise OSError("no space left on device")
        self.assertEqual(old.read_text(), "what was there")
        self.assertEqual([path.name for path in self.folder.glob("*old*")], ["old.svg"])

    def test_a_link_stays_a_link_and_permissions_stay(self):
        (self.folder / "target").write_text("old")
        (self.folder / "target").chmod(0o640)
        (self.folder / "link").symlink_to("target")
        self.succeed("run", "-q", "s.json", "--json=link")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertIn("results", json.loads((self.folder / "target").read_text()))
        self.assertEqual((self.folder / "target").stat().st_mode & 0o777, 0o640)

    def test_a_command_that_can_write_nothing_ends_with_a_status(self):
        for words in (["run", "-q", "s.json", "--json"], ["run", "missing.json", "--json"], ["list", "algorithms"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([ATHANOR, *words], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, check=False,
                                      timeout=PATIENCE)
            self.assertEqual(done.returncode, 4, done.stderr)


if __name__ == "__main__":
    unittest.main()
