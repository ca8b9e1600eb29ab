"""Runs the program on inputs that once broke it: each ends with its status, its message and in good time.

    defects_inputs_test.py ATHANOR
"""

import gzip
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

ATHANOR = sys.argv.pop(1)
INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "defects_inputs")
SECONDS = 60  # of a busy machine; all of them end within one
BYTES = 2 << 30

REFUSED, FILE = 3, 4

EXPORT = ["export", "trace"]
SLURM = ["import", "--link-rate", "100Gb/s", "--link-latency", "1us"]

# File, command before it, status, what is said.
TABLE = [
    ("trace_endpoint_overflow.json", EXPORT, REFUSED, r"4294967295 is out of range \(at /channels/0/pairs/0/1\); expected from 0 to 999999"),
    ("trace_endpoint_overflow_scenario.json", ["run"], REFUSED, r"trace_endpoint_overflow.json:1:\d+: 4294967295"),
    ("kineto_repeated_rank.json", EXPORT, REFUSED, r"event 1 of traceEvents.*rank 1 stands twice"),
    ("kineto_repeated_rank_scenario.json", ["run"], REFUSED, r"event 1 of traceEvents.*rank 1 stands twice"),
    ("kineto_group_size.json", EXPORT, REFUSED, r"event 1 of traceEvents.*'Group size' is 100000000000; up to 1000000"),
    ("kineto_world_size.json", EXPORT, REFUSED, r"world_size 4294967295; up to 1000000 ranks"),
    ("kineto_time_overflow.json", EXPORT, REFUSED, r"event 2 of traceEvents \('k'\): a time is 9223372036854775"),
    ("kineto_time_text.json", EXPORT, REFUSED, r"event 2 of traceEvents \('k'\): a time is '1.abc'"),
    ("simai_messages.simai.txt", EXPORT, REFUSED, r"simai.txt:1:1: vpp x ga asks for 1000000000000 messages"),
    ("slurm_hostlist_wrap.conf", SLURM, REFUSED, r"conf:1:1: .*neither a number up to 999999999999"),
    ("slurm_many_hosts.conf", SLURM, REFUSED, r"conf:2:1: up to this line the file names more than 1048576"),
]


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))


def run(words):
    return subprocess.run([ATHANOR, *words], capture_output=True, timeout=SECONDS, preexec_fn=limited, check=False)


class DefectInputs(unittest.TestCase):
    def check(self, words, status, pattern):
        done = run(words)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        self.assertEqual(done.returncode, status, said[:2000])
        self.assertRegex(said, re.compile(pattern, re.DOTALL))
        self.assertNotIn("defect of athanor", said)

    def made(self, name, content):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_each_file_ends_as_it_should(self):
        for name, command, status, pattern in TABLE:
            with self.subTest(name):
                self.check([*command, os.path.join(INPUTS, name)], status, pattern)

    def test_what_is_compressed_may_not_grow_without_a_limit(self):
        path = self.made("bomb.json.gz", gzip.compress(b'{"workload_graph": [' + b" " * (3 << 20) + b"]}"))
        self.check([*EXPORT, path, "--set", '/limit="1MiB"'], REFUSED,
                   r"bomb.json.gz: more than 1 MiB come out of the .* of this file when it is decompressed.*\"limit\"")
        self.check([*EXPORT, path, "--set", '/limit="4MiB"'], REFUSED, "nothing that could be replayed")

    def test_without_a_word_the_limit_is_a_gibibyte(self):
        # One gigabyte of blanks in a member that stands there often: each says 64 MiB.
        member = gzip.compress(b" " * (64 << 20))
        path = self.made("bomb.json.gz", gzip.compress(b'{"workload_graph": [') + member * 20 + gzip.compress(b"]}"))
        self.check([*EXPORT, path], REFUSED, r"more than 1 GiB come out of")

    def test_ranks_of_a_binary_program_have_bytes_of_their_own(self):
        ranks = 60000
        blob = struct.pack("<II", 0, 20000) + bytes(80000)
        start = 6 + 16 * ranks
        table = struct.pack("<QQ", start, start + len(blob)) * ranks
        path = self.made("ranks.bin", struct.pack("<QIH", 4223, ranks, 0) + table + blob)
        self.check([*EXPORT, path], REFUSED, r"rank 1[0-9]*: it lies within the bytes of other ranks")

    def test_ranks_of_a_program_have_to_fit_into_its_text(self):
        path = self.made("ranks.goal", b"num_ranks 1000000\nrank 0 {\n}\n")
        self.check([*EXPORT, path], REFUSED, r"1000000 ranks do not fit into a file of 29 bytes")

    def test_streams_do_not_wrap(self):
        streams = ",".join(f'{{"name": "s{i}"}}' for i in range(65537))
        operation = '{"kind": "compute", "time": "1ms", "stream": 65536}'
        text = f'{{"athanor_trace": 1, "workers": [{{"streams": [{streams}], "operations": [{operation}]}}]}}'
        self.check([*EXPORT, self.made("streams.json", text.encode())], REFUSED,
                   r"a worker has 65536 streams at most \(at /workers/0/streams/65536\)")

    def test_names_that_are_not_utf8_are_written_as_json_all_the_same(self):
        path = os.path.join(INPUTS, "trace_not_utf8.txt")
        done = run([*EXPORT, path, "--set", '/unit="1us"', "--set", "/ranks=8", "--set", "/model_ranks=2"])
        self.assertIn(done.returncode, (0, REFUSED))
        self.assertNotIn(b"defect", done.stderr)

    # Laws that do not hold in general (docs/reliability.md says why); how far these inputs break them.

    def results(self, name, *more):
        done = run(["run", os.path.join(INPUTS, name), "--json", *more])
        self.assertEqual(done.returncode, 0, done.stderr[:2000])
        return json.loads(done.stdout)["results"]

    def test_a_job_beside_others_is_hardly_faster_than_alone(self):
        for job in self.results("job_faster_than_alone.json")[0]["jobs"]:
            self.assertGreater(job["slowdown"], 0.9)

    def test_lower_latency_is_hardly_slower(self):
        slow = self.results("lower_latency_slower.json", "--sizes", "4KiB..256KiB")
        fast = self.results("lower_latency_slower.json", "--sizes", "4KiB..256KiB",
                            "--set", "/cluster/fabric/link/latency=25ns")
        for before, after in zip(slow, fast):
            self.assertLess(after["time_us"], 1.25 * before["time_us"])

    def test_twice_the_speed_is_half_the_time_up_to_ties(self):
        fast = self.results("scaling_by_two.json", "--sizes", "4KiB..256KiB")
        slow = self.results("scaling_by_two_b.json", "--sizes", "4KiB..256KiB")
        for once, twice in zip(fast, slow):
            self.assertLess(abs(2 * once["time_us"] / twice["time_us"] - 1), 0.02)


if __name__ == "__main__":
    unittest.main()
