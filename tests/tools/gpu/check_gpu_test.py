"""tools/check_gpu: what it says of a machine without GPUs, and all of it on GPUs that are emulated or made up."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools" / "check_gpu"
EMULATED = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None

ATHANOR = """#!/bin/sh
case "$1" in --version) echo athanor made up; exit 0 ;; esac
case "$*" in *"{broken}"*) echo "athanor: element 3 of rank 1 is 5 instead of 4" >&2; exit 1 ;; esac
for word; do target=$word; done
case "$1" in
  calibrate) echo '{{"gpus": {{"memory_rate": "1500 GB/s"}}}}' >"$target" ;;
  *) echo '{{"rows": [{{"algorithm": "ring", "ranks": 2, "bytes": 8, "time_us": 5, "busbw_gbps": 1}},' \\
          '{{"algorithm": "ring", "ranks": 2, "bytes": 64, "time_us": 6, "busbw_gbps": 2.5}}]}}' >"$target" ;;
esac
"""


class CheckGpu(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def with_gpus(self, count):
        rows = "".join(f"echo 'NVIDIA H100 80GB HBM3, 550.54.15, 81559 MiB'\n" for _ in range(count))
        self.program("nvidia-smi", "#!/bin/sh\n" + rows + ("" if count else "exit 9\n"))

    def check(self, *options, environment=None):
        path = f"{self.folder}:/usr/bin:/bin:/usr/sbin:/sbin"
        done = subprocess.run([sys.executable, SCRIPT, "--output", self.folder / "results", *options], capture_output=True,
                              text=True, env=os.environ | {"PATH": path} | (environment or {}))
        summary = self.folder / "results" / "summary.json"
        return done, json.loads(summary.read_text()) if summary.exists() else None

    def test_a_machine_without_gpus_is_told_so_with_a_status_of_its_own(self):
        self.with_gpus(0)
        done, summary = self.check()
        self.assertEqual((done.returncode, done.stdout, summary), (77, "", None))
        self.assertEqual(done.stderr, "there is no GPU here that nvidia-smi shows: nothing was run\n")

    def test_all_that_is_right_is_summed_up_under_the_name_of_the_machine(self):
        self.with_gpus(2)
        done, summary = self.check("--athanor", self.program("athanor", ATHANOR.format(broken="nothing")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(summary["machine"], "2x-nvidia-h100-80gb-hbm3")
        self.assertEqual(summary["gpus"][1], {"name": "NVIDIA H100 80GB HBM3", "driver": "550.54.15", "memory": "81559 MiB"})
        self.assertTrue(summary["right"])
        self.assertEqual(summary["steps"]["calibration"]["results"], {"memory_rate": "1500 GB/s"})
        ring = summary["steps"]["ranks on one GPU"]["results"]["largest"]["ring 2"]
        self.assertEqual((ring["bytes"], ring["busbw_gbps"]), (64, 2.5))
        self.assertIn("ring 2: 2.5 GB/s", done.stdout)
        self.assertIn("scenarios/measurements as 2x-nvidia-h100-80gb-hbm3_*.json", done.stdout)

    def test_every_collective_is_checked_and_one_gpu_has_no_step_for_several(self):
        self.with_gpus(1)
        _, summary = self.check("--athanor", self.program("athanor", ATHANOR.format(broken="nothing")))
        steps = list(summary["steps"])
        for kind in ("all_reduce", "reduce_scatter", "all_to_all_v", "barrier", "scatter"):
            self.assertIn(f"right {kind}", steps)
        self.assertNotIn("beside NCCL", steps)
        self.assertNotIn("a GPU for each rank", steps)

    def test_a_wrong_result_fails_and_is_named_and_the_other_steps_are_done(self):
        self.with_gpus(1)
        done, summary = self.check("--athanor", self.program("athanor", ATHANOR.format(broken="--collective gather")))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(summary["failed"], ["right gather"])
        self.assertEqual(summary["steps"]["right gather"]["error"], "athanor: element 3 of rank 1 is 5 instead of 4")
        self.assertEqual(summary["steps"]["right scatter"]["status"], "right")

    def test_what_the_time_does_not_allow_is_left_out_and_said(self):
        self.with_gpus(1)
        done, summary = self.check("--minutes", "0", "--athanor", self.program("athanor", ATHANOR.format(broken="nothing")))
        self.assertEqual(set(summary["left_out"]), set(summary["steps"]))
        self.assertIn("no time was left", done.stdout)

    def test_a_file_that_cannot_be_read_fails_its_step(self):
        self.with_gpus(1)
        athanor = self.program("athanor", "#!/bin/sh\nfor word; do target=$word; done\necho '{\"rows\": [7]}' >\"$target\"\n")
        done, summary = self.check("--athanor", athanor)
        self.assertEqual(done.returncode, 1)
        self.assertIn("what it wrote cannot be read", summary["steps"]["right gather"]["error"])

    @unittest.skipUnless(EMULATED, "no athanor on emulated GPUs was named")
    def test_one_step_of_each_kind_runs_on_emulated_gpus(self):
        for words in (["--collective", "reduce_scatter", "--algorithm", "all", "--ranks", "4", "--sizes", "1KiB,1008B",
                       "--type", "bfloat16,int8", "--reduction", "maximum,average"],
                      ["--collective", "scatter", "--algorithm", "all", "--ranks", "3", "--sizes", "1200B"]):
            target = self.folder / "rows.json"
            done = subprocess.run([EMULATED, "measure", "--backend", "cuda", *words, "--warm-up", "0", "--iterations", "1",
                                   "--quiet", "--output", target], capture_output=True, text=True,
                                  env=os.environ | {"ATHANOR_EMULATED_GPUS": "2"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertGreater(len(json.loads(target.read_text())["rows"]), 3)


if __name__ == "__main__":
    unittest.main()
