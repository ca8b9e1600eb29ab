#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// An all-reduce of 16 hosts on two leaves and two spines by engines in the switches.
std::string by_engines(const std::string& aggregation, const std::string& collective = R"("sizes": "1MiB")") {
  return R"({"cluster": {"nodes": 16, "fabric": {"kind": "fat_tree", "tiers": 2, "hosts_per_leaf": 8, "leaves": 2,
      "spines": 2, "link": {"rate": "50GB/s", "latency": "1us"}}},
    "network": {"aggregation": {)" +
         aggregation + R"(}}, "collective": {"kind": "all_reduce", "algorithm": "aggregation_tree", )" + collective +
         "}}";
}

Ran run(const std::string& scenario) {
  const Folder folder;
  return athanor_run({"run", folder.write("s.json", scenario), "--json"});
}

}  // namespace

TEST_CASE("a scenario names the engines of its switches") {
  const nlohmann::json row = run(by_engines(R"("engine": "sharp_v3")")).json()["results"][0];
  CHECK(row["algorithm"] == "aggregation_tree");
  CHECK(row["protocol"] == "SAT");
  CHECK_FALSE(row.contains("fell_back"));
}

TEST_CASE("what an engine does not take is refused where the scenario does not fall back") {
  const Ran type = run(by_engines(R"("engine": "sharp_v2")", R"("type": "int8", "sizes": "1MiB")"));
  CHECK(type.code == 3);
  CHECK(type.says("aggregation_tree: sharp_v2 does not add int8: only float16, float32, float64, int32, int64"));
  CHECK(type.says("these fit: "));
  const Ran chunk = run(by_engines(R"("message": "1MiB")", R"("sizes": ["512KiB", "2MiB"], "chunk": "2MiB")"));
  CHECK(chunk.code == 3);
  CHECK(chunk.says("nothing can run all_reduce of 2 MiB here"));
  CHECK(chunk.says("an operation of 2097152 bytes, and ideal takes 1048576 at most"));
}

TEST_CASE("payloads above the largest operation of an engine are cut into operations, and up to it are not") {
  const auto times = [](const std::string& aggregation, const std::string& collective) {
    const Ran ran = run(by_engines(aggregation, collective));
    CAPTURE(ran.out);
    REQUIRE(ran.code == 0);
    std::vector<double> found;
    const nlohmann::json printed = ran.json();
    for (const auto& row : printed["results"]) { found.push_back(row["time_us"].get<double>()); }
    return found;
  };
  const std::string sizes = R"("sizes": ["64KiB", "1MiB", "4MiB", "5MiB"])";
  const std::vector<double> limited = times(R"("message": "1MiB")", sizes);
  const std::vector<double> whole = times("", sizes);
  const std::vector<double> asked = times("", sizes + R"(, "chunk": "1MiB")");
  for (std::size_t i = 0; i < limited.size(); ++i) {
    CAPTURE(i);
    CHECK(limited[i] >= whole[i]);
    CHECK(limited[i] <= asked[i]);
  }
  CHECK(limited[1] == whole[1]);
  CHECK(times(R"("engine": "sharp_v3")", R"("sizes": "8B..8GiB")").size() == 31);
}

TEST_CASE("where engines cannot be had and the scenario falls back, the result says from what and why") {
  const std::string children = R"("children": 4, "on_exhausted": "fallback")";
  const Ran ran = run(by_engines(children));
  const nlohmann::json row = ran.json()["results"][0];
  CHECK(row["algorithm"] != "aggregation_tree");
  CHECK(row["fell_back"].get<std::string>().find("leaf0 would have 8 children, and takes 4") != std::string::npos);
  const nlohmann::json named = run(by_engines(children + R"(, "fallback": ["halving_doubling"])")).json()["results"][0];
  CHECK(named["algorithm"] == "halving_doubling");
  CHECK(run(by_engines(R"("children": 4)")).code == 3);
}

TEST_CASE("mistakes in the section are told at their key") {
  CHECK(run(by_engines(R"("engine": "sharp_v9")")).says("/network/aggregation/engine"));
  const Ran spine = run(by_engines(R"("switches": ["spin0"])"));
  CHECK(spine.code == 3);
  CHECK(spine.says("no switch is called \"spin0\""));
  CHECK(spine.says("did you mean \"spine0\"?"));
  CHECK(run(by_engines(R"("fallback": ["ring"])")).says(R"(add "on_exhausted": "fallback")"));
  const std::string falls = R"("on_exhausted": "fallback", "fallback": )";
  CHECK(run(by_engines(falls + R"(["rings"])")).says("did you mean \"ring\"?"));
  CHECK(run(by_engines(falls + R"(["aggregation_tree"])")).says("aggregation_tree needs engines itself"));
}

TEST_CASE("NICs that carry a collective out hide it behind what hosts compute") {
  const std::string profile = R"({"launch": "5us", "protocols": [{"name": "MPI", "overhead": "1us"}]})";
  const auto scenario = [&](const std::string& network) {
    return R"({"cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"rate": "50GB/s", "latency": "1us"}}},
      "profile": )" +
           profile + R"(, "network": {)" + network + R"(},
      "collective": {"kind": "all_reduce", "algorithm": "recursive_doubling", "sizes": "1KiB", "compute": "100us"}})";
  };
  const nlohmann::json by_host = run(scenario("")).json()["results"][0];
  CHECK(by_host["overlap"] == 0);
  CHECK(by_host["total_time_us"].get<double>() == doctest::Approx(100 + by_host["time_us"].get<double>()));
  const nlohmann::json by_nic =
      run(scenario(R"("offload": {"post": "500ns", "overhead": "200ns"})")).json()["results"][0];
  // Four primitives (send, twice receive and send, receive): 1 us becomes 200 ns of each, and 5 us of launching 500 ns.
  CHECK(by_nic["time_us"].get<double>() == doctest::Approx(by_host["time_us"].get<double>() - 4.5 - 4 * 0.8));
  CHECK(by_nic["total_time_us"].get<double>() == doctest::Approx(100.5));
  CHECK(by_nic["host_time_us"].get<double>() == doctest::Approx(0.5));
  const Ran threads = run(R"({"cluster": {"shared_memory": {"ranks": 2, "processors": 2}},
    "profile": {"threads": {"memory_rate": "5GB/s", "caches": [{"size": "1MiB", "rate": "20GB/s"}]}},
    "network": {"offload": {}}, "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1KiB"}})");
  CHECK(threads.code == 3);
  CHECK(threads.says("ranks that share one machine have no NICs"));
}

TEST_CASE("NVSwitches add what they can, from their third generation on") {
  const auto nvls = [](const std::string& node, const std::string& more) {
    return run(R"({"cluster": {"node": ")" + node + R"("}, "profile": "ideal",
      "collective": {"kind": "all_reduce", "algorithm": "nvls", "sizes": "1MiB")" +
               more + "}}");
  };
  CHECK(nvls("DGX-H100", "").code == 0);
  CHECK(nvls("DGX-H100", R"(, "type": "int32", "reduction": "minimum")").code == 0);
  CHECK(nvls("DGX-H100", R"(, "type": "int8")").says("nvls does not add int8"));
  CHECK(nvls("DGX-H100", R"(, "reduction": "minimum")").says("nvls reduces float32 by sum alone, not by minimum"));
  CHECK(nvls("DGX-H100", R"(, "reduction": "average")").code == 3);
  CHECK(nvls("DGX-A100", "").says("NVLink SHARP came with their third generation (H100)"));
}

TEST_CASE("rails that meet nowhere have no common root: refused, or fallen back from") {
  const auto rails = [](const std::string& more) {
    return run(R"({"cluster": {"node": "DGX-H100", "nodes": 2, "fabric": {"kind": "rail_only", "switch": "QM9700"}},
      "network": {"aggregation": {"engine": "sharp_v3")" +
               more + R"(}},
      "collective": {"kind": "all_reduce", "algorithm": "aggregation_tree", "sizes": "1MiB"}})");
  };
  const Ran refused = rails("");
  CHECK(refused.code == 3);
  CHECK(refused.says("no switch reaches all ranks over switches: leaf0 and leaf1 are not joined"));
  const nlohmann::json row = rails(R"(, "on_exhausted": "fallback", "fallback": ["ring"])").json()["results"][0];
  CHECK(row["algorithm"] == "ring");
  CHECK(row["fell_back"].get<std::string>().find("leaf0 and leaf1 are not joined") != std::string::npos);
}
