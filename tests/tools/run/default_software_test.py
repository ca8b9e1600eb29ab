"""GPUs without a profile take what a pool expects of their parts, a scenario may say which parts, and times have intervals.

    default_software_test.py PATH_OF_ATHANOR
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ATHANOR = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[3]
FOUR_NODES = {"node": "DGX-H100", "nodes": 4, "fabric": {"kind": "rail_optimized", "switch": "QM9700", "nodes_per_group": 4}}


class Runs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def athanor(self, *words):
        return subprocess.run([ATHANOR, *map(str, words)], capture_output=True, text=True, cwd=ROOT, check=False, timeout=120)

    def written(self, scenario):
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(scenario))
        return path

    def scenario(self, cluster="DGX-H100", sizes=("8B", "1GiB"), algorithm=None, **keys):
        collective = {"kind": "all_reduce", "sizes": list(sizes)}
        if algorithm:
            collective["algorithm"] = algorithm
        node = {"node": cluster} if isinstance(cluster, str) else cluster
        return self.written({"cluster": node, "collective": collective, **keys})

    def rows(self, *arguments, **keys):
        ended = self.athanor("run", self.scenario(*arguments, **keys), "--json", "-q")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout)["results"]

    def times(self, *arguments, **keys):
        return [row["time_us"] for row in self.rows(*arguments, **keys)]

    def refused(self, says, *arguments, **keys):
        ended = self.athanor("run", self.scenario(*arguments, **keys))
        self.assertEqual(ended.returncode, 3, ended.stdout)
        self.assertIn(says, ended.stderr)


class Default(Runs):
    def test_gpus_have_software_and_ideal_must_be_asked_for(self):
        for row, ideal in zip(self.rows(), self.rows(profile="ideal")):
            self.assertEqual((row["profile"], ideal["profile"]), ("nccl", "ideal"))
            self.assertGreater(row["time_us"], ideal["time_us"])

    def test_where_nobody_measured_the_software_the_header_says_what(self):
        gaudi = {"node": {"gpus": 4, "gpu": "Gaudi-3"}}
        for says, keys in (("schedules that NCCL does not choose", {"algorithm": "halving_doubling"}),
                           ("ranks that are no GPUs of NVIDIA's or AMD's", {"cluster": gaudi})):
            ended = self.athanor("run", self.scenario(**keys))
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn("# profile      ideal: nobody measured the software of " + says, ended.stdout)
            self.assertNotIn("interval", ended.stdout.split("#       size")[1].splitlines()[0])

    def test_what_carries_messages_is_the_operators_choice(self):
        fabric = {"nodes": 2, "fabric": {"kind": "star", "link": {"rate": "100GB/s", "latency": "100ns"}}}
        for node, transport in (("GCP-A3-High", "tcpx"), ("GCP-A3-Mega", "tcpxo"), ("GCP-A4", "gib"), ("DGX-H100", "ib"),
                                ({"preset": "GCP-A4", "transport": "roce"}, "roce"), ({"preset": "GCP-A4", "nic": "CX7-400GbE"}, "roce")):
            ended = self.athanor("run", self.scenario({"node": node, **fabric}, ("8B",)))
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn(f"over nvlink and {transport}, ", ended.stdout)
        self.refused("'tcpy' is none that is known", {"node": {"preset": "GCP-A4", "transport": "tcpy"}, **fabric}, ("8B",))

    def test_each_of_several_jobs_has_an_interval(self):
        collective = {"kind": "all_reduce", "ranks": 8, "sizes": ["1MiB"], "jobs": 2}
        ended = self.athanor("run", self.written({"cluster": FOUR_NODES, "collective": collective}), "--json", "-q")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        jobs = json.loads(ended.stdout)["results"][0]["jobs"]
        self.assertEqual(len(jobs), 2)
        for job in jobs:
            self.assertLess(job["time_low_us"], job["time_us"])
            self.assertGreater(job["time_high_us"], job["time_us"])

    def test_the_table_says_what_was_assumed(self):
        out = self.athanor("run", self.scenario(FOUR_NODES)).stdout
        self.assertRegex(out, r"# profile +nccl: what .* tell of NCCL on hopper over nvlink and ib, a process for each GPU")

    def test_amds_gpus_run_rccl(self):
        out = self.athanor("run", self.scenario("HGX-MI300X")).stdout
        self.assertRegex(out, "# profile .* tell of RCCL on cdna3 over xgmi")

    def test_hosts_and_schedules_of_the_user_cost_no_software(self):
        star = {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}}
        for row in self.rows(star) + self.rows(algorithm="halving_doubling"):
            self.assertEqual(row["profile"], "ideal")


class Software(Runs):
    def test_each_part_changes_times(self):
        usual = self.times(FOUR_NODES)
        for software in {"transport": "efa"}, {"launch": "process_per_node"}:
            self.assertNotEqual(self.times(FOUR_NODES, software=software), usual, software)
        self.assertEqual(self.times(FOUR_NODES, software={"transport": "ib"}), usual)

    def test_a_pool_may_be_a_file_beside_the_scenario(self):
        pool = json.loads((ROOT / "scenarios/profiles/pools/nccl.json").read_text())
        pool["launch"]["typical"] = "100us"
        (self.folder / "pool.json").write_text(json.dumps(pool))
        self.assertGreater(self.times(software={"pool": "pool.json"})[0], self.times()[0] + 50)

    def test_what_it_does_not_go_with_is_refused_by_name(self):
        self.refused("\"profile\" has figures", profile="ideal", software={})
        self.refused("'transport' has no effect here", software={"transport": "ib"})
        self.refused("there is no pool 'other'", software={"pool": "other"})
        self.refused("says a version, too", software={"nccl": "2.20"}, nccl={"version": "2.21"})
        self.refused("no GPUs that NCCL or RCCL", {"nodes": 2, "fabric": {"kind": "star", "link": {"rate": "1GB/s", "latency": "1us"}}},
                     software={})

    def test_a_resolved_scenario_has_the_same_results(self):
        target = self.folder / "resolved.json"
        for software in ({}, {"transport": "efa", "launch": "process_per_node"}):
            expected = self.rows(FOUR_NODES, software=software)
            ended = self.athanor("validate", self.folder / "scenario.json", f"--resolved={target}")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            found = json.loads(self.athanor("run", target, "--json", "-q").stdout)["results"]
            self.assertEqual([row["time_us"] for row in found], [row["time_us"] for row in expected])


class Intervals(Runs):
    def test_times_lie_within_them_and_more_is_known_where_they_are_narrower(self):
        pooled = self.rows()
        fitted = self.rows(profile="nccl-h100-nvswitch")
        for row, other in zip(pooled, fitted):
            self.assertEqual((row["known"], other["known"]), ("nothing", "sizes"))
            self.assertLess(row["time_low_us"], row["time_high_us"])
            self.assertLess(other["time_high_us"] / other["time_low_us"], row["time_high_us"] / row["time_low_us"])

    def test_a_profile_of_another_transport_knows_nothing_of_these_nodes(self):
        two = {"node": "DGX-H100", "nodes": 2, "fabric": {"kind": "star", "switch": "QM9700"}}
        for profile, known in (("nccl-hopper-ib", "sizes"), ("nccl-h200-roce", "sizes"), ("nccl-efa", "nothing"), ("nccl-tcpxo", "nothing")):
            row = self.rows(two, profile=profile)[-1]
            self.assertEqual((profile, row["known"], row["extrapolated"]), (profile, known, known == "nothing"))
        self.assertFalse(self.rows(two, software={"transport": "efa"})[-1]["extrapolated"])

    def test_no_interval_is_narrower_than_what_the_profiles_own_calibration_says(self):
        for stack in "nccl-b200-vultr", "nccl-tcpx", "nccl-slingshot-a100", "rccl-mi300x-roce":
            calibration = json.loads((ROOT / f"scenarios/profiles/{stack}.json").read_text())["calibration"]
            ended = self.athanor("verify", "--all", "--directory", self.only(stack), "--json", "-q")
            self.assertIn(ended.returncode, (0, 5), ended.stderr)
            document = json.loads(ended.stdout)
            table_of = {(case["scenario"], case["case"]): each["table"] for each in document["tables"] for case in each["cases"]}
            self.assertGreater(len(document["results"]), 10)
            for row in document["results"]:
                band = 0 if row["bytes"] < 1 << 20 else 1 if row["bytes"] < 1 << 26 else 2
                least = max(calibration[key][table_of[row["scenario"], row["case"]]][band] for key in ("fit", "hold_out_sizes"))
                self.assertGreaterEqual(row["time_high_us"] / row["time_us"], 0.999 / (1 - least), row)
                if row["efficiency"] < 0.9 / (1 + least):  # else no measured time can be so much less
                    self.assertLessEqual(row["time_low_us"], 1.001 * row["time_us"] / (1 + least), row)

    def only(self, stack):
        """A directory with the validation of one stack."""
        directory = self.folder / stack
        directory.mkdir()
        shutil.copy(ROOT / f"scenarios/validation/{stack}.json", directory)
        return directory

    def test_a_bias_that_the_calibration_knows_lies_within(self):
        document = json.loads(self.athanor("verify", "--all", "--directory", self.only("nccl-b200-vultr"), "--json", "-q").stdout)
        within = {each["table"]: each["within_interval"] for each in document["tables"]}
        self.assertEqual(within["b200_vultr_2n_ndr400x8_alltoall"], 1)  # 36 % too fast from 1 MiB on
        self.assertGreater(within["b200_vultr_2n_ndr400x8_allreduce"], 0.7)

    def test_a_worse_calibration_widens_a_better_one_narrows(self):
        widths = []
        profile = json.loads((ROOT / "scenarios/profiles/nccl-h100-nvswitch.json").read_text())
        for off in 0.01, None, 0.5:
            for errors in profile["calibration"]["fit"], profile["calibration"]["hold_out_sizes"]:
                errors.update({table: [off] * 3 for table in errors} if off else {})
            (self.folder / f"p{off}.json").write_text(json.dumps(profile))
            row = self.rows(profile=f"./p{off}.json" if off else "nccl-h100-nvswitch")[-1]
            widths.append(row["time_high_us"] / row["time_low_us"])
        self.assertLess(widths[0], widths[1])
        self.assertLess(widths[1], widths[2])
        self.assertGreater(widths[2], 2)

    def test_intervals_do_not_jump_where_bands_meet(self):
        two = {"node": "DGX-B200", "nodes": 2, "fabric": {"kind": "star", "switch": "QM9700"}}
        for keys in {"profile": "nccl-b200-vultr"}, {}:
            for edge in 1 << 20, 1 << 26:
                below, above = self.rows(two, (f"{edge - 4}B", f"{edge + 4}B"), **keys)
                ends = [[row["time_low_us"] / row["time_us"], row["time_high_us"] / row["time_us"]] for row in (below, above)]
                for end, other in zip(*ends):
                    self.assertAlmostEqual(end / other, 1, delta=0.01)

    def test_a_winner_is_as_sure_as_intervals_allow(self):
        scenario = self.written({"cases": [{"name": name, "cluster": {"node": "DGX-H100"}, "profile": profile}
                                           for name, profile in (("a", "nccl-h100-nvswitch"), ("b", "nccl-generic-hopper"))],
                                 "collective": {"kind": "all_reduce", "sizes": ["8B", "1GiB"]}})
        ended = self.athanor("compare", scenario, "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for line in json.loads(ended.stdout)["lines"]:
            self.assertTrue(line["certainty"] is None or 0.5 <= line["certainty"] <= 1, line)


class Vendors(Runs):
    GAUDI = {"node": {"gpus": 4, "gpu": "Gaudi-3"}}

    def described(self, **figures):
        return {"node": {"gpus": 4, "gpu": {"name": "X", "pcie": {"rate": "64GB/s", "latency": "500ns"}, **figures}}}

    def test_a_library_does_not_run_on_gpus_of_another_maker(self):
        path = ROOT / "scenarios/profiles/nccl-h100-hgx.json"
        for cluster, profile, says in ((self.GAUDI, "nccl-h100-hgx", "is of NCCL, which runs on GPUs from NVIDIA, and Gaudi-3 is from Intel"),
                                       (self.GAUDI, "rccl-mi300x", "is of RCCL, which runs on GPUs from AMD, and Gaudi-3 is from Intel"),
                                       (self.GAUDI, str(path), "is of NCCL"), ("HGX-MI300X", str(path), "and MI300X is from AMD"),
                                       ("DGX-H100", "rccl-mi300x", "and H100-SXM-80GB is from NVIDIA"),
                                       (self.described(vendor="AMD"), "nccl-h100-hgx", "and X is from AMD"),
                                       (self.described(vendor="other"), "nccl-h100-hgx", "and X is from another maker")):
            self.refused(says, cluster, profile=profile)
            self.refused("scenario.json:1:", cluster, profile=profile)
            self.refused("at /profile", cluster, profile=profile)

    def test_the_error_says_what_goes(self):
        self.refused("take one of rccl-mi300x, rccl-mi300x-roce, or leave", "HGX-MI300X", profile="nccl-h100-hgx")
        self.refused("nccl-h100-nvswitch, ", "DGX-H100", profile="rccl-mi300x")
        self.refused('write "ideal"', self.GAUDI, profile="nccl-h100-hgx")
        for profile in "ideal", None:
            keys = {"profile": profile} if profile else {}
            self.assertEqual(self.rows(self.GAUDI, **keys)[0]["profile"], "ideal")

    def test_one_of_several_kinds_of_nodes_is_enough(self):
        mixed = {"nodes": [{"node": "DGX-H100", "count": 1}, {"node": "HGX-MI300X", "count": 1}],
                 "fabric": {"kind": "star", "switch": "QM9700"}}
        self.refused("MI300X is from AMD", mixed, profile="nccl-h100-hgx")

    def test_a_described_gpu_of_nobody_takes_any_profile(self):
        for profile in "nccl-h100-hgx", "rccl-mi300x":
            self.assertEqual(self.rows(self.described(), profile=profile)[0]["profile"], profile)

    def test_a_maker_that_other_figures_contradict_is_refused(self):
        self.refused('"compute_capability" is of GPUs from NVIDIA, and "vendor" says AMD', self.described(vendor="AMD", compute_capability=9.0))
        self.refused('"architecture" is of GPUs from AMD, and "vendor" says Intel',
                     {"node": {"gpus": 4, "gpu": {"preset": "Gaudi-3", "architecture": "gfx942"}}})
        self.refused("vendor", self.described(vendor="Nvidia"))

    def test_every_command_refuses_it(self):
        path = self.scenario(self.GAUDI)
        for words in (("run",), ("validate",), ("explain",), ("compare",), ("describe",), ("sweep", "-o", self.folder / "s.sqlite", "--vary", "/profile=nccl-h100-hgx")):
            setting = () if words[0] == "sweep" else ("--set", "/profile=nccl-h100-hgx")
            ended = self.athanor(words[0], path, *words[1:], *setting)
            self.assertNotEqual(ended.returncode, 0, words)
            self.assertIn("Gaudi-3 is from Intel", ended.stderr, words)
        step = self.written({"cluster": {"node": "HGX-MI300X", "nodes": 1, "fabric": {"kind": "star", "switch": "QM9700"}}, "profile": "nccl-h100-hgx",
                             "training": {"model": "GPT-2", "global_batch": 16, "sequence": 1024}})
        for command in "run", "plan":
            self.assertIn("MI300X is from AMD", self.athanor(command, step).stderr, command)


class Steps(Runs):
    def step(self, model="GPT-3-175B", gpu=None, **training):
        """A step of four layers on one node, and what is said of it."""
        node = {"preset": "DGX-H100", **({"gpu": gpu} if gpu else {})}
        path = self.written({"cluster": {"node": node, "nodes": 1, "fabric": {"kind": "star", "switch": "QM9700"}},
                             "training": {"model": {"preset": model, "layers": 4}, "global_batch": 16, "sequence": 2048,
                                          "parallel": {"tensor": 8}, **training}})
        ended = self.athanor("run", path, "--json", "-q")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout)["results"][0]

    def width(self, row):
        self.assertLess(row["step_time_low_s"], row["step_time_s"] * 1.2)
        return row["step_time_high_s"] / row["step_time_low_s"]

    def test_what_is_not_said_is_what_measured_steps_tell_of_gpu_and_precision(self):
        pooled = self.step()
        self.assertEqual((pooled["compute"], pooled["known"]), ("steps", "nothing"))
        self.assertFalse(any("extrapolated" in note for note in pooled.get("notes", [])), pooled)
        self.assertLess(self.step(precision="fp8")["step_time_s"], pooled["step_time_s"])

    def test_a_fitted_profile_knows_more_and_most_of_its_own_models(self):
        widths = [self.width(row) for row in (self.step(), self.step("GPT-3-175B", compute="nemo-2411-h100-bf16"),
                                              self.step("Llama-2-7B", compute="nemo-2411-h100-bf16"))]
        self.assertLess(widths[1], widths[0])
        self.assertLess(widths[1], widths[2])
        self.assertLess(widths[2], widths[0])

    def test_a_library_without_the_pool_says_what_is_missing(self):
        shutil.copytree(ROOT / "scenarios/presets", self.folder / "library/presets")
        path = self.written({"cluster": {"node": "DGX-H100", "nodes": 1, "fabric": {"kind": "star", "switch": "QM9700"}},
                             "training": {"model": "GPT-2", "global_batch": 16, "sequence": 1024}})
        ended = self.athanor("run", path, "--data", self.folder / "library")
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("the library has no pool that tells how fast GPUs compute", ended.stderr)

    def test_figures_of_ones_own_and_gpus_that_nobody_measured_claim_nothing(self):
        self.assertNotIn("step_time_low_s", self.step(compute={"gemm": {"share": 0.6}}))
        self.assertNotIn("step_time_low_s", self.step(compute="hopper"))
        other = self.step(gpu={"preset": "H100-SXM-80GB", "tflops": {"bf16": 500}})
        self.assertTrue(any("extrapolated" in note for note in other["notes"]), other)
        self.assertEqual(other["known"], "nothing")


unittest.main(verbosity=2)
