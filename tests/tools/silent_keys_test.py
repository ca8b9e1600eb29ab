"""No key of a scenario is silent: for every key of the schema and every kind of case, setting the key changes a result, or
the key is refused, or it stands in EXCUSED with the reason. A new key that does nothing somewhere makes this fail.

    silent_keys_test.py PATH_OF_ATHANOR [--list]        --list: prints what is silent, for whoever extends the tables
"""

import concurrent.futures
import copy
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ATHANOR = sys.argv.pop(1)
LIST = "--list" in sys.argv and not sys.argv.remove("--list")
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "ATHANOR_DATA": str(ROOT / "scenarios")}

TREE = {"nodes": 8, "fabric": {"kind": "fat_tree", "tiers": 2, "hosts_per_leaf": 4, "spines": 2,
                               "link": {"rate": "10GB/s", "latency": "500ns"}}}
DGX = {"node": "DGX-H100", "nodes": 2, "fabric": {"kind": "rail_optimized", "switch": "QM9700"}}
ALL_REDUCE = {"kind": "all_reduce", "algorithm": "ring", "sizes": "100kB"}
PROFILE = {"launch": "5us", "protocols": [{"name": "A", "overhead": "1us"}]}
COMPUTE = {"gemm": {"share": 1, "depth": 0}, "attention": 1, "memory": 1}
LAYER = {"parameters": 100000000, "forward_flops": 10**12, "output": 1000}
TRAINING = {"model": {"layers": [LAYER, LAYER]}, "global_batch": 64, "compute": COMPUTE}
PACKETS = {"level": "packet", "transport": {"timeout": "50us"}, "switches": {}}

LONGEST = 20  # s: a value that makes a run take longer has an effect

BASES = {
    "collective": {"cluster": TREE, "collective": ALL_REDUCE},
    "ideal": {"cluster": TREE, "collective": ALL_REDUCE, "network": {"level": "ideal"}},
    "packets": {"cluster": TREE, "network": PACKETS, "collective": {**ALL_REDUCE, "kind": "all_to_all",
                                                                    "algorithm": "direct"}},
    "profile": {"cluster": TREE, "collective": ALL_REDUCE, "profile": PROFILE},
    "engines": {"cluster": TREE, "collective": {**ALL_REDUCE, "algorithm": "aggregation_tree"},
                "network": {"aggregation": {}}},
    "nccl": {"cluster": DGX, "collective": {"kind": "all_reduce", "sizes": "1MiB"}, "profile": "nccl-hopper-ib",
             "nccl": {}},
    "traffic": {"cluster": TREE, "traffic": {"pattern": "shift", "sizes": "100kB"}},
    "incast": {"cluster": TREE, "network": PACKETS, "traffic": {"pattern": "incast", "sizes": "100kB"}},
    "servers": {"cluster": TREE, "parameter_server": {"parameters": "1MB", "servers": 1, "compute": "1ms", "steps": 3}},
    "experts": {"cluster": DGX, "expert_exchange": {"kind": "deep_ep", "experts": 64, "chosen": 4, "tokens": 1024,
                                                    "hidden": 1024}},
    "training": {"cluster": DGX, "training": TRAINING},
    "transformer": {"cluster": DGX,
                    "training": {"model": "GPT-2", "global_batch": 16, "compute": COMPUTE,
                                 "parallel": {"tensor": 2, "pipeline": 2, "sequence_parallel": True,
                                              "sharding": "optimizer", "overlap_gradients": True}}},
    "torus": {"cluster": {"fabric": {"kind": "torus", "dimensions": [4, 8],
                                     "link": {"rate": "10GB/s", "latency": "500ns"}}},
              "collective": {**ALL_REDUCE, "algorithm": "torus"}},
    "jobs": {"cluster": {**TREE, "fabric": {"kind": "fat_tree", "switch": "QM9700"}},
             "collective": {**ALL_REDUCE, "jobs": 2, "placement": "interleaved"}},
    "serving": {"cluster": {**DGX, "nodes": 4},
                "serving": {"model": "Llama-3.1-8B", "compute": COMPUTE, "tensor": 16, "memory_share": 0.1, "limits": {"ttft": "20ms"},
                            "requests": {"arrivals": "poisson", "rate": 400, "count": 100, "output": 20,
                                         "prompt": {"mean": 500, "sigma": 1}},
                            "batching": {"max_running": 4, "max_batched_tokens": 300}}},
    "pools": {"cluster": {**DGX, "nodes": 4},
              "serving": {"model": "Llama-3.1-8B", "compute": COMPUTE, "memory_share": 0.3, "limits": {"ttft": "20ms", "tpot": "6ms"},
                          "requests": {"arrivals": "poisson", "rate": 400, "count": 100, "output": 20,
                                       "prompt": {"mean": 500, "sigma": 1}},
                          "pools": {"prefill": {"replicas": 2, "tensor": 4, "batching": {"max_running": 4, "max_batched_tokens": 300}},
                                    "decode": {"replicas": 3, "tensor": 2}, "transfer": {"pieces": 2}}}},
    "trace": {"cluster": TREE, "trace": {"files": str(ROOT / "scenarios/traces/stages.json")}},
    "threads": {"cluster": {"shared_memory": {"ranks": 4, "processors": 2}}, "profile": "xeon-2-processors-threads",
                "collective": {"kind": "all_reduce", "sizes": "100kB"}},
}

# By path; '*' stands for anything. What counts for another command, decides about an error alone, or chooses among what is
# equal here.
EXCUSED = {
    # For editors, people, other commands, verdicts.
    "/$schema", "/name", "/prices", "/profile/name", "/profile/description", "/profile/source", "/profile/machine",
    "/profile/fitted", "/profile/transport", "/training/compute/name", "/training/compute/description", "/training/compute/source",
    "/training/compute/fitted", "/serving/compute/name", "/serving/compute/description", "/serving/compute/source",
    "/serving/compute/fitted", "/serving/measured", "/training/strict", "/training/costs", "/serving/costs",
    "/expert_exchange/measured_time", "/expert_exchange/measured_bandwidth",
    # What stands at a position, and its name.
    "/cluster/fabric/positions",
    # Empty objects that say what is so anyway.
    "/network", "/profile", "/software", "/training/measured_with", "training/nccl", "transformer/nccl", "serving/nccl", "pools/nccl", "pools/serving/batching", "/serving/pools/decode/batching", "/training/parallel", "/nccl/environment", "/network/transport",
    "*/network/offload", "packets/network/nvlink", "packets/network/pcie", "incast/network/nvlink",
    "incast/network/pcie",
    # One call, which is what runs anyway; more are refused there.
    "jobs/collective/calls", "threads/collective/calls",
    # They choose among ways and places that are equal here, or none of which is taken.
    "/seed", "/network/routing", "/network/pxn", "/cluster/fabric/leaves", "/cluster/fabric/spines", "/cluster/fabric/hosts_per_leaf",
    "/cluster/fabric/oversubscription", "/cluster/fabric/tiers", "/cluster/fabric/pods", "/cluster/fabric/leaves_per_pod",
    "/cluster/nodes", "/network/queue_pairs",
    # Limits and reactions that are not met here.
    "/network/aggregation/children", "/network/aggregation/jobs_per_switch", "/network/aggregation/on_exhausted",
    "/network/aggregation/sharing", "/network/aggregation/streams", "/network/aggregation/streams_per_port",
    "/network/aggregation/streams_per_switch", "/network/aggregation/trees", "/network/aggregation/message", "/trace/limit",
    "/network/switches/trims", "/serving/requests/prompt/least",
    "/network/switches/resume_below", "/network/switches/load_balancing", "/network/transport/recovery",
    "/network/transport/timeout", "/network/transport/window", "/network/transport/class",
    "/network/transport/reply_class",
    # How a collective is cut counts for the algorithms that are cut so, of which a list may hold some and not others.
    "/collective/group", "/collective/rotate", "/collective/slices", "/collective/dimensions", "/collective/in_place",
    "/collective/reduction", "threads/collective/rings",
    # Of kernels, operations, pipelines and registered buffers that this one has not.
    "/profile/copy_rate", "/profile/overlapped", "/nccl/registered_buffers", "/training/compute/attention",
    "/training/compute/attention_by_shape", "/training/compute/gemm/depth", "/training/compute/gemm/waves", "/training/compute/gemm/fp4", "/training/compute/gemm/fp8",
    "/training/compute/interference", "/training/compute/pass_overhead", "/serving/compute/gemm/depth",
    "/serving/compute/gemm/fp4", "/serving/compute/gemm/fp8", "/trace/cpu", "/trace/drop_absent", "/trace/format",
}


def resolve(schema, value):
    """The kind of a choice whose constants the value has."""
    if "anyOf" not in schema:
        return schema
    for kind in schema["anyOf"]:
        constants = {k: v["const"] for k, v in kind.get("properties", {}).items() if "const" in v}
        if not isinstance(value, dict):
            if kind.get("type") == {str: "string", bool: "boolean", int: "integer", list: "array"}.get(type(value)):
                return kind
        elif kind.get("type") == "object" and all(
                value.get(k, kind["properties"][k].get("default")) == v for k, v in constants.items()):
            return resolve(kind, value) if "anyOf" in kind else kind
    return {}


def keys_of(schema, value, path=""):
    """Every key that may stand in the value, and in the objects that are in it."""
    schema = resolve(schema, value)
    for key, inner in schema.get("properties", {}).items():
        yield f"{path}/{key}", inner
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            yield from keys_of(inner, value[key], f"{path}/{key}")


def values_of(schema):
    """Some that are not the default."""
    if "anyOf" in schema:
        for kind in schema["anyOf"]:
            yield from values_of(kind)
        return
    default = schema.get("default")
    if "enum" in schema:
        yield from (each for each in schema["enum"] if each != default)
    elif schema.get("type") == "boolean":
        yield from (each for each in (True, False) if each != default)
    elif schema.get("type") in ("integer", "number"):
        least, most = schema.get("minimum", 0), schema.get("maximum", 1e9)
        some = [2, 0.5] if schema["type"] == "number" else [2, 4]
        yield from (each for each in [*some, least] if least <= each <= most and each != default)
    elif schema.get("type") == "array":
        for each in values_of(schema.get("items", {})):
            yield [each]
    elif schema.get("type") == "object" and not schema.get("required"):
        yield {}
    elif "pattern" in schema:
        pattern = schema["pattern"]
        yield from ["1GB/s", "3GB/s"] if "/s" in pattern else ["7us", "300us"] if "us" in pattern else ["3kB", "48kB"]
    elif schema.get("type") == "string":
        yield "other"


def with_key(base, path, value):
    scenario = copy.deepcopy(base)
    place = scenario
    *parents, last = path.strip("/").split("/")
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return scenario


def without_names(value):
    """What a result says about itself does not count: it is there to be told apart by. But a note that a setting has no
    effect does."""
    if isinstance(value, dict):
        told = [note for note in value.get("notes", []) if "no effect here" in note]
        return {k: without_names(v) for k, v in value.items() if k not in ("scenario", "case", "notes", "events")} | {
            "told": told}
    return [without_names(each) for each in value] if isinstance(value, list) else value


class Runner:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def run(self, number, scenario):
        path = pathlib.Path(self.folder.name) / f"{number}.json"
        path.write_text(json.dumps(scenario))
        command = [ATHANOR, "run", str(path), "--json", "--quiet"]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return 0, None, "takes long"
        printed = json.loads(ran.stdout) if ran.stdout.startswith("{") else {}
        return ran.returncode, printed.get("error", {}).get("code"), without_names(printed.get("results"))


def silent_keys(runner, name, base, schema):
    """Keys that change nothing and are not refused, and those that could not be tried."""
    code, error, before = runner.run(name, base)
    assert code == 0, (name, error)
    silent = []
    for path, inner in keys_of(schema, base):
        place = base
        for part in path.strip("/").split("/"):
            place = place.get(part) if isinstance(place, dict) else None
        outcomes = set()
        for value in values_of(inner):
            if value == place:
                continue
            code, error, after = runner.run(name, with_key(base, path, value))
            outcomes.add("works" if code == 0 and after != before else "silent" if code == 0 else error or str(code))
            if "works" in outcomes or "no-effect" in outcomes:
                break
        if "silent" in outcomes and not outcomes & {"works", "no-effect"}:
            silent.append(path)
    return silent


class SilentKeys(unittest.TestCase):
    def test_every_key_does_something_or_is_refused(self):
        described = subprocess.run([ATHANOR, "schema"], capture_output=True, text=True, check=True, env=ENVIRONMENT)
        schema = json.loads(described.stdout)["else"]
        runner = Runner()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda each: (each[0], silent_keys(runner, *each, schema)), BASES.items())
        for name, paths in found:
            if LIST:
                print(name, *paths, sep="\n    ", flush=True)
            for path in paths:
                excused = any(fnmatch.fnmatch(path, p) or fnmatch.fnmatch(name + path, p) for p in EXCUSED)
                with self.subTest(base=name, key=path):
                    self.assertTrue(LIST or excused, "does nothing here, without a word")


if __name__ == "__main__":
    unittest.main()
