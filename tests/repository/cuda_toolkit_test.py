"""What the build asks of nvcc, version by version, from what each prints; and that kernels are C++17, as CUDA 11 has it."""

import importlib.util
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

import tree

PATH = tree.ROOT / "algorithms" / "execution" / "cuda" / "toolkit.py"
SPECIFICATION = importlib.util.spec_from_file_location("toolkit", PATH)
toolkit = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(toolkit)


def listed(numbers):
    return "".join(f"compute_{number}\n" for number in numbers.split())


ARCHITECTURES = {
    "11.8": listed("35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90"),
    "12.4": listed("50 52 53 60 61 62 70 72 75 80 86 87 89 90"),
    "12.9": listed("50 52 53 60 61 62 70 72 75 80 86 87 89 90 100 101 103 120 121"),
    "13.0": listed("75 80 86 87 88 89 90 100 110 103 120 121"),
}
CODES = {
    "11.8": ["compute_60", "[sm_80,sm_90]"],
    "12.4": ["compute_60", "[sm_80,sm_90]"],
    "12.9": ["compute_60", "[sm_80,sm_90,sm_100]"],
    "13.0": ["compute_75", "[sm_80,sm_90,sm_100]"],
}


class Flags(unittest.TestCase):
    def test_each_version_makes_code_for_data_centers_and_ptx_of_the_oldest_that_has_atomics_of_the_system(self):
        for version, architectures in ARCHITECTURES.items():
            with self.subTest(version):
                flags = toolkit.architecture_flags(architectures)
                self.assertEqual([flag.split("code=")[1] for flag in flags[1::2]], CODES[version])
                self.assertEqual(set(flags[0::2]), {"-gencode"})

    def test_no_architecture_is_asked_for_that_the_version_does_not_know(self):
        for version, architectures in ARCHITECTURES.items():
            for flag in toolkit.architecture_flags(architectures)[1::2]:
                self.assertIn(flag.split(",")[0].removeprefix("arch="), architectures.split())

    def test_an_nvcc_that_knows_old_gpus_alone_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "no GPU from compute_60 on"):
            toolkit.architecture_flags(listed("30 35 50"))

    def test_the_standard_is_one_that_every_version_knows(self):
        self.assertEqual(toolkit.compile_flags(ARCHITECTURES["11.8"])[0], "-std=c++17")


class WhatNvccPrints(unittest.TestCase):
    def test_the_version_is_read(self):
        for version, build in (("11.8", "V11.8.89"), ("13.0", "V13.0.88")):
            text = f"nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release {version}, {build}\nBuild cuda_\n"
            self.assertEqual(toolkit.version_of(text), version)

    def test_folders_are_those_that_nvcc_searches(self):
        text = ('#$ TOP=/usr/local/cuda/bin/..\n#$ INCLUDES="-I/usr/local/cuda/bin/../targets/x86_64-linux/include"  \n'
                '#$ LIBRARIES=  "-L/usr/local/cuda/targets/lib/stubs" "-L/usr/local/cuda/targets/lib"\n')
        self.assertEqual(toolkit.directories(text, "INCLUDES", "-I"),
                         ["/usr/local/cuda/bin/../targets/x86_64-linux/include"])
        self.assertEqual(toolkit.directories(text, "LIBRARIES", "-L"), ["/usr/local/cuda/targets/lib"])

    def test_a_distribution_that_has_them_among_its_own_needs_none(self):
        text = "#$ LIBRARIES=  -L/usr/lib/x86_64-linux-gnu/stubs -L/usr/lib/x86_64-linux-gnu\n"
        self.assertEqual(toolkit.directories(text, "INCLUDES", "-I"), [])
        self.assertEqual(toolkit.directories(text, "LIBRARIES", "-L"), ["/usr/lib/x86_64-linux-gnu"])


class Trial(unittest.TestCase):
    def made_up_nvcc(self, folder, status):
        nvcc = pathlib.Path(folder, "nvcc")
        nvcc.write_text("#!/bin/sh\n[ \"$1\" = --list-gpu-arch ] && { echo compute_80; exit 0; }\n"
                        f"echo called >>{folder}/calls\necho unsupported GNU version >&2\nexit {status}\n")
        nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
        return nvcc

    def test_an_nvcc_that_compiles_is_tried_once(self):
        with tempfile.TemporaryDirectory() as folder:
            nvcc = self.made_up_nvcc(folder, 0)
            for _ in range(3):
                toolkit.works(nvcc, pathlib.Path(folder, "note"))
            self.assertEqual(pathlib.Path(folder, "calls").read_text(), "called\n")

    def test_one_that_does_not_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(SystemExit, "unsupported GNU version"):
                toolkit.works(self.made_up_nvcc(folder, 1), pathlib.Path(folder, "note"))


class Kernels(unittest.TestCase):
    def test_they_compile_as_cpp_17(self):
        compiler = shutil.which("c++") or shutil.which("g++")
        emulated = tree.ROOT / "tests" / "algorithms" / "execution" / "cuda" / "toolkit"
        done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-I", emulated, "-I", tree.ROOT, "-include",
                               "cuda_runtime.h", "-x", "c++", tree.ROOT / "algorithms/execution/cuda/kernels.cu"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
