#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// GPT-3 175B at the preset's peaks, on DGX H100.
std::string gpt_on_dgx(std::uint32_t nodes, const std::string& parallel, const std::string& more = "") {
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": {}, "fabric": {{"kind": "star", "switch": "QM9700"}}}}, {}
           "training": {{"model": "GPT-3-175B", "micro_batch": 1, "global_batch": 16, "sequence": 2048,
             "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}}, "parallel": {}}}}})",
      nodes, more, parallel);
}

nlohmann::json explanation_of(const Folder& folder, const std::string& scenario) {
  const Ran ran = athanor_run({"explain", folder.write("s.json", scenario), "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json();
}

double step_of(const Folder& folder, const std::string& scenario) {
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0]["step_time_s"];
}

double sum_of(const nlohmann::json& numbers) {
  if (numbers.is_number()) { return numbers.get<double>(); }
  double sum = 0;
  for (const nlohmann::json& each : numbers) { sum += sum_of(each); }
  return sum;
}

/// Seconds of a step with a change; 0 where it was not tried.
double with_change(const nlohmann::json& explanation, const std::string& change) {
  for (const nlohmann::json& each : explanation["changes"]) {
    if (each["change"] == change) { return each["time_us"].get<double>() * 1e-6; }
  }
  return 0;
}

}  // namespace

TEST_CASE("the parts of a step's critical path are the step") {
  const Folder folder;
  const std::string scenario = gpt_on_dgx(2, R"({"tensor": 8, "pipeline": 2})");
  const nlohmann::json json = explanation_of(folder, scenario);
  const double step = json["step_time_s"];
  CHECK(step == doctest::Approx(step_of(folder, scenario)));
  CHECK(sum_of(json["path"]) == doctest::Approx(step));
  CHECK(sum_of(json["workers_s"]) == doctest::Approx(step));
  CHECK(sum_of(json["breakdown"]) == doctest::Approx(1));
  CHECK(json["path"]["communication_s"].contains("TP"));
  CHECK(json["calls"][0]["busiest_link"] == "nvlink, gpu to nvswitch");
}

TEST_CASE("a step and a trace say the interval that run says, and what was known") {
  const Folder folder;
  const std::string cluster = R"("cluster": {"node": "DGX-H100", "nodes": 1, "fabric": {"kind": "star",
    "switch": "QM9700"}})";
  const std::string step = "{" + cluster + R"(, "training": {"model": {"preset": "Llama-2-7B", "layers": 2},
    "global_batch": 16, "sequence": 2048, "parallel": {"tensor": 8}}})";
  const std::string trace =
      fmt::format(R"({{{}, "trace": {{"files": "{}/traces/ddp.*.json"}}}})", cluster, ATHANOR_TEST_SCENARIOS);
  for (const auto& [scenario, words] : {std::pair(step, "steps of other software were measured"),
                                        std::pair(trace, "its parts were measured in other stacks")}) {
    const nlohmann::json json = explanation_of(folder, scenario);
    const Ran ran = athanor_run({"run", folder.path("s.json"), "--json"});
    REQUIRE(ran.code == 0);
    const nlohmann::json row = ran.json()["results"][0];
    REQUIRE(row.contains("step_time_low_s"));
    for (const char* key : {"step_time_s", "step_time_low_s", "step_time_high_s"}) {
      CHECK(json[key].get<double>() == doctest::Approx(row[key].get<double>()));
    }
    CHECK(json["known"] == row["known"]);
    CHECK(athanor_run({"explain", folder.path("s.json")}).says(fmt::format("; known: nothing ({})\n", words)));
  }
  const nlohmann::json none = explanation_of(folder, gpt_on_dgx(1, R"({"tensor": 1, "data": 1})"));
  CHECK(none["step_time_low_s"].is_null());
  CHECK(none["known"].is_null());
  CHECK(athanor_run({"explain", folder.path("s.json")}).says("  none: no predictions of this kind"));
}

TEST_CASE("what would help is what the changed scenario takes") {
  const Folder folder;
  const nlohmann::json json = explanation_of(folder, gpt_on_dgx(2, R"({"tensor": 8, "pipeline": 2})"));
  const double step = json["step_time_s"];
  CHECK(with_change(json, "pipeline schedule zb_h1") ==
        doctest::Approx(step_of(folder, gpt_on_dgx(2, R"({"tensor": 8, "pipeline": 2, "schedule": "zb_h1"})"))));
  CHECK(with_change(json, "tensor communication beside its products") ==
        doctest::Approx(step_of(folder, gpt_on_dgx(2, R"({"tensor": 8, "pipeline": 2, "overlap_tensor": true})"))));
  CHECK(with_change(json, "NVLinks twice as fast") < step);
  CHECK(with_change(json, "activations sent beside computing") == 0);  // they are already
  double least = 0;
  for (const nlohmann::json& each : json["changes"]) {
    CHECK(each["time_us"].get<double>() >= least);
    CHECK(each["gain"].get<double>() == doctest::Approx(1 - each["time_us"].get<double>() * 1e-6 / step));
    least = each["time_us"];
  }
}

TEST_CASE("a step without communication takes half as long on devices twice as fast") {
  const Folder folder;
  const nlohmann::json json = explanation_of(folder, gpt_on_dgx(1, R"({"tensor": 1, "data": 1})"));
  CHECK(with_change(json, "devices that compute twice as fast") ==
        doctest::Approx(json["step_time_s"].get<double>() / 2).epsilon(1e-6));
  CHECK(with_change(json, "communication that takes no time") == 0);
  CHECK(json["changes"].size() == 1);
}

TEST_CASE("a changed plan that needs more memory than there is is told so") {
  const Folder folder;
  const Ran ran = athanor_run({"explain", folder.write("s.json", gpt_on_dgx(2, R"({"tensor": 8, "pipeline": 2,
                                                                                "recompute": "full"})"))});
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("no recomputing") != std::string::npos);
  CHECK(ran.out.find("; does not fit: ") != std::string::npos);
  CHECK(ran.out.find("critical path") != std::string::npos);
  CHECK(ran.out.find("stage 1") != std::string::npos);
}

TEST_CASE("a trace is explained likewise, on the network that carries it") {
  const Folder folder;
  // 1 MB at 10 GB/s, and two hops of 500 ns, behind 40 us of computing.
  folder.write("t.json", R"({"athanor_trace": 1,
    "channels": [{"name": "c", "from": 0, "to": 1}],
    "workers": [
      {"streams": [{"name": "s"}], "operations": [{"kind": "compute", "time": "40us", "label": "work"},
        {"kind": "send", "channel": "c", "size": "1MB"}]},
      {"streams": [{"name": "s"}], "operations": [{"kind": "receive", "channel": "c", "size": "1MB"}]}]})");
  const nlohmann::json json = explanation_of(folder, R"({"cluster": {"nodes": 2, "fabric": {"kind": "star",
    "link": {"rate": "10GB/s", "latency": "500ns"}}}, "trace": {"files": "t.json"}})");
  CHECK(json["step_time_s"].get<double>() == doctest::Approx(141e-6));
  CHECK(json["path"]["computing_s"]["work"].get<double>() == doctest::Approx(40e-6));
  const nlohmann::json& message = json["path"]["communication_s"]["other"];
  CHECK(message["bandwidth"].get<double>() == doctest::Approx(100e-6));
  CHECK(message["latency"].get<double>() == doctest::Approx(1e-6));
  CHECK(with_change(json, "network links twice as fast") == doctest::Approx(91e-6));
  CHECK(with_change(json, "half the latency of all links") == doctest::Approx(140.5e-6));
  CHECK(with_change(json, "devices that compute twice as fast") == doctest::Approx(121e-6));
  CHECK(with_change(json, "communication that takes no time") == doctest::Approx(40e-6));
}

TEST_CASE("options of collectives are refused for a step") {
  const Folder folder;
  const std::string path = folder.write("s.json", gpt_on_dgx(2, R"({"tensor": 8, "pipeline": 2})"));
  for (const char* option : {"--size=1MiB", "--job=0", "--picture=p.svg"}) {
    const Ran ran = athanor_run({"explain", path, option});
    CHECK(ran.code == 2);
    CHECK(ran.err.find("this is training or a trace") != std::string::npos);
  }
}

TEST_CASE("a large ring takes half as long on links twice as fast, a small one on links half as far") {
  const Folder folder;
  const std::string path = folder.write("s.json", R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "1us"}}},
    "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1KiB..4GiB"}})");
  const auto gain = [&](const std::string& size, const std::string& change) {
    const Ran ran = athanor_run({"explain", path, "--size", size, "--json"});
    REQUIRE(ran.code == 0);
    const nlohmann::json json = ran.json();
    for (const nlohmann::json& each : json["changes"]) {
      if (each["change"] == change) { return each["gain"].get<double>(); }
    }
    return 0.0;
  };
  CHECK(gain("4GiB", "network links twice as fast") == doctest::Approx(0.5).epsilon(1e-3));
  CHECK(gain("1KiB", "half the latency of all links") == doctest::Approx(0.5).epsilon(0.02));
}

// With PCIe twice as fast NCCL's own model prefers PAT over the ring, which is slower over these NICs.
TEST_CASE("faster links that make a step slower say which choice changed") {
  const Ran ran = athanor_run({"explain", std::string(ATHANOR_TEST_SCENARIOS) + "/training/dgx_cloud_h100_bf16.json",
                               "--case", "Llama 3.1 405B, 42 layers, 192 GPUs, v24.11.1", "--json"});
  REQUIRE(ran.code == 0);
  const nlohmann::json changes = ran.json()["changes"];
  bool found = false;
  for (const nlohmann::json& each : changes) {
    if (each["change"] != "PCIe links twice as fast") { continue; }
    found = true;
    CHECK(each["gain"].get<double>() < 0);
    CHECK(each["note"].get<std::string>().find("is then done by pat in place of ring") != std::string::npos);
  }
  CHECK(found);
}
