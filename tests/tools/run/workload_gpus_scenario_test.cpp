#include <cmath>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tests/tools/run/workload_scenarios.hpp"

using namespace athanor;

TEST_CASE("slices of GPUs: as many run at once as a GPU can be split into, and what it cannot is refused by name") {
  const Folder folder;
  const auto on_a100 = [](const std::string& tasks) {
    return R"({"cluster": {"node": "DGX-A100"}, "workload": {"jobs": [{"count": 64, "duration": "1h", "tasks": [)" +
           tasks + R"(]}]}})";
  };
  const auto makespan = [&](const std::string& tasks) {
    return results_of(folder, on_a100(tasks))[0]["makespan_s"].get<double>();
  };
  CHECK(makespan(R"({"mig": "1g.10gb"})") == 2 * 3600);  // 8 GPUs with 7 each: 56 of 64
  CHECK(makespan(R"({"mig": "3g.40gb"})") == 4 * 3600);
  CHECK(makespan(R"({"mig": "4g.40gb"})") == 8 * 3600);
  CHECK(makespan(R"({"mig": "4g.40gb"}, {"mig": "3g.40gb"})") == 8 * 3600);
  check_refused(folder,
                {{on_a100(R"({"mig": "1g.5gb"})"), "no-slice", "1g.10gb, 1g.20gb"},
                 {on_a100(R"({"mig": "1g.10gb", "gpu_milli": 100})"), "conflict", "gpu_milli"},
                 {on_a100(R"({"mig": "1g.10gb", "gpus": 2})"), "conflict", "no others"},
                 {on_a100(R"({"mig": "1g.10gb", "gpus": 1})"), "conflict", "no others"},
                 {on_star(R"({"jobs": [{"tasks": [{"mig": "1g.10gb"}], "duration": "1h"}]})"), "no-slice", "GPU: none"},
                 {R"({"cluster": {"node": "DGX-A100"}, "workload": {
              "jobs": [{"duration": "1h", "tasks": [{"mig": "1g.10gb"}]}],
              "scheduler": {"kind": "volcano", "actions": ["enqueue", "allocate", "preempt"]}}})",
                  "not-simulated", "slices"}});
}

TEST_CASE("manifests of Kubernetes ask for slices of the GPUs that the cluster has") {
  const Folder folder;
  const auto jobs = [&](const std::string& file, const std::string& resource) {
    folder.write(file,
                 "kind: Job\nmetadata: {name: a}\nspec:\n  parallelism: 57\n  template:\n    spec:\n      containers:\n"
                 "      - resources: {limits: {" +
                     resource + "}}\n");
    return R"({"cluster": {"node": "DGX-A100", "nodes": 2, "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
               "workload": {"jobs": {"format": "kubernetes", "duration": "1h", "file": ")" +
           file + R"("}}})";
  };
  CHECK(results_of(folder, jobs("a.yaml", "nvidia.com/mig-1g.10gb: 1"))[0]["makespan_s"] == 3600);
  check_refused(folder, {{jobs("b.yaml", "nvidia.com/mig-1g.5gb: 1"), "no-slice", "b.yaml"},
                         {jobs("c.yaml", "nvidia.com/mig-4g.40gb: 1"), "job-too-large", "4 eighths"}});
}

TEST_CASE("kueue: quotas by type of GPUs") {
  const Folder folder;
  const auto queue = [](const std::string& keys, const std::string& job = "") {
    return R"({"cluster": {"nodes": [{"node": "DGX-A100", "count": 1}, {"node": "DGX-H100", "count": 1}],
                           "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
               "workload": {"jobs": [{"gpus": 8, "queue": "a", "duration": "1h", "count": 2)" +
           job + R"(}],
                            "scheduler": {"kind": "kueue", "cluster_queues": [{"name": "a", )" +
           keys + "}]}}}";
  };
  const std::string a100 = R"({"gpu_types": ["A100-SXM-80GB"], "nominal_quota": 8})";
  const std::string h100 = R"({"gpu_types": ["H100-SXM-80GB"], "nominal_quota": 8})";
  const auto flavors = [&](const std::string& list, const std::string& more = "") {
    return queue(R"("flavors": [)" + list + "]" + more);
  };
  CHECK(results_of(folder, flavors(a100 + ", " + h100))[0]["makespan_s"] == 3600);
  CHECK(results_of(folder, flavors(h100))[0]["makespan_s"] == 7200);
  const std::string limited = R"({"gpu_types": ["H100-SXM-80GB"], "nominal_quota": 8, "lending_limit": )";
  check_refused(
      folder,
      {{flavors(R"({"gpu_types": ["V100"], "nominal_quota": 8})"), "no-type", "A100-SXM-80GB and H100-SXM-80GB"},
       {flavors(a100 + ", " + a100), "conflict", "two flavors of A100-SXM-80GB"},
       {flavors(a100, R"(, "nominal_quota": 8)"), "conflict", "beside"},
       {flavors(R"({"gpu_types": [], "nominal_quota": 8})"), "out-of-range", "at least 1"},
       {flavors(limited + "9}", R"(, "cohort": "x")"), "out-of-range", "8 at most"},
       {flavors(limited + "4}"), "no-effect", "in no cohort"},
       {flavors(a100, R"(, "when_can_borrow": "borrow")"), "no-effect", "no other flavor"},
       {queue(R"("nominal_quota": 8, "when_can_preempt": "preempt")"), "no-effect", "no other flavor"},
       {queue(R"("cohort": "x")"), "missing-key", "neither"},
       {queue(R"("flavors": [)" + a100 + "]", R"(, "gpu_types": ["H100-SXM-80GB"])"), "no-flavor", "H100-SXM-80GB"}});
}

TEST_CASE("nodes of several kinds: jobs get the GPUs that they may have, and are as fast as the slowest of them") {
  const Folder folder;
  const auto mixed = [](const std::string& jobs) {
    return R"({"cluster": {"nodes": [{"node": "DGX-A100", "count": 2}, {"node": "DGX-H100", "count": 2}],
                           "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
               "workload": {"scheduler": "fifo", "placement": "first_fit", "jobs": [)" +
           jobs + "]}}";
  };
  const std::string list = folder.path("jobs.csv");
  const auto lines = [&](const std::string& jobs) {
    results_of(folder, mixed(jobs), {"--per-job", list});
    return read_text_file(list);
  };
  const std::string types = lines(R"({"name": "h", "gpus": 8, "gpu_types": ["H100-SXM-80GB"], "duration": "1h"},
                                     {"name": "a", "gpus": 8, "gpu_types": ["A100-SXM-80GB"], "duration": "1h"})");
  CHECK(types.find(",h,,,8,completed,0,0,3600,3600,0,3600,1,2:8,") != std::string::npos);
  CHECK(types.find(",a,,,8,completed,0,0,3600,3600,0,3600,1,0:8,") != std::string::npos);
  const std::string speeds = lines(
      R"({"name": "on one", "gpus": 8, "gpu_types": ["A100-SXM-80GB"], "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.5}},
         {"name": "on both", "gpus": 24, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.5}},
         {"name": "of no matter", "gpus": 8, "duration": "1h", "submitted": "2h"})");
  CHECK(speeds.find(",on one,,,8,completed,0,0,7200,3600,0,7200,1,0:8,") != std::string::npos);
  CHECK(speeds.find(",on both,,,24,completed,0,0,7200,3600,0,7200,1,1:8 2:8 3:8,") != std::string::npos);
  CHECK(speeds.find(",of no matter,,,8,completed,7200,7200,10800,3600,0,3600,1,") != std::string::npos);
  check_refused(
      folder,
      {{mixed(R"({"gpus": 8, "duration": "1h", "speed_by_gpu": {"V100": 0.5}})"), "no-type", "A100-SXM-80GB and H100"},
       {mixed(R"({"gpus": 8, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0}})"), "out-of-range", "0"}});
}

TEST_CASE("gavel gives each of two jobs the GPUs on which it loses least, and says what it does not share out") {
  const Folder folder;
  const auto scenario = [](const std::string& scheduler, const std::string& rest) {
    return R"({"cluster": {"nodes": [{"node": "DGX-A100"}, {"node": "DGX-H100"}],
                           "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
               "workload": {"scheduler": )" +
           scheduler + R"(, "jobs": [{"gpus": 8, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.9}},
                                     {"gpus": 8, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.2}})" +
           rest + "}}";
  };
  const auto makespan = [&](const std::string& scheduler) {
    return results_of(folder, scenario(scheduler, "]"))[0]["makespan_s"].get<double>();
  };
  CHECK(makespan(R"({"kind": "gavel", "policy": "fifo"})") ==
        doctest::Approx(3960));  // each on its type; the first moves at 3,600 s
  // With a ninth of the time exchanged both are at 0.911.
  CHECK(std::abs(makespan(R"({"kind": "gavel", "policy": "makespan"})") - 3951.2) < 360);
  // With half of it each has what an equal share would give it: speeds of 0.95 and 0.6, until the first one ends.
  CHECK(std::abs(makespan(R"("gavel")") - 5115.8) < 360);
  const std::string gavel = R"("gavel")";
  check_refused(
      folder,
      {{scenario(gavel, R"(, {"tasks": [{"gpu_milli": 500}], "duration": "1h"}])"), "not-simulated", "whole GPUs"},
       {scenario(gavel, R"(], "placement": "best_fit")"), "no-effect", "gavel"},
       {scenario(gavel, R"(, {"gpus": 16, "duration": "1h"}])"), "job-too-large",
        "16 in all, fit on the nodes of none"},
       {scenario(R"({"kind": "gavel", "policy": "least"})", "]"), "unknown-name", "max_min_fairness, makespan, fifo"},
       {scenario(R"({"kind": "gavel", "round": "0s"})", "]"), "out-of-range", "from 1 s"}});
}

TEST_CASE(
    "joint_devices: a task that never finds its NICs near its GPUs is refused, and one that waits for them waits") {
  const Folder folder;
  const auto scenario = [](const std::string& required, const std::string& tasks) {
    return R"({"cluster": {"node": "DGX-A100"},
               "workload": {"placement": {"kind": "joint_devices", "required": ")" +
           required + R"("}, "jobs": [{"count": 3, "duration": "1h", "tasks": [)" + tasks + "]}]}}";
  };
  const auto makespan = [&](const std::string& required) {
    return results_of(folder, scenario(required, R"({"gpus": 2, "nics": 3})"))[0]["makespan_s"].get<double>();
  };
  // Each has NICs of two switches, of which a socket has two: a third task would have to take what is on both sockets.
  CHECK(makespan("pcie") == 2 * 3600);
  CHECK(makespan("node") == 2 * 3600);
  check_refused(folder, {{scenario("pcie", R"({"gpus": 1, "nics": 3})"), "job-too-large", "1 GPU, 3 NICs"},
                         {scenario("rack", R"({"gpus": 1, "nics": 1})"), "unknown-name", "node, socket, pcie"}});
}

TEST_CASE("the list of jobs names each node once, with what all tasks of a job have there") {
  const Folder folder;
  const std::string list = folder.path("jobs.csv");
  const auto nodes_of = [&](const std::string& tasks) {
    results_of(
        folder,
        R"({"cluster": {"node": "DGX-A100"}, "workload": {"jobs": [{"duration": "1h", "tasks": [)" + tasks + "]}]}}",
        {"--per-job", list});
    const std::string lines = read_text_file(list);
    const std::size_t at = lines.find(",3600,1,") + 8;
    return lines.substr(at, lines.find(',', at) - at);
  };
  CHECK(nodes_of(R"({"gpus": 3}, {"gpus": 2})") == "0:5");
  CHECK(nodes_of(R"({"gpu_milli": 460})") == "0:0.46");
  CHECK(nodes_of(R"({"count": 16, "mig": "3g.40gb"})") == "0:8");
}
