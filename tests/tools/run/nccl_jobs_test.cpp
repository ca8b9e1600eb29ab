#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Two DGX H100, their GPUs behind as many NICs each, with this in "collective".
std::string two_nodes(const std::string& collective, const std::string& more = "", const std::string& node = "") {
  return fmt::format(R"({{"cluster": {{"node": {{"preset": "DGX-H100"{}}}, "nodes": 2,
    "fabric": {{"kind": "star", "switch": "QM9700"}}}}, {} "profile": "nccl-generic-hopper",
    "collective": {{"kind": "all_reduce", "sizes": "64MiB", {}}}}})",
                     node, more, collective);
}

/// All GPUs of a node share its only NIC.
constexpr const char* kOneNic = R"(, "nics": 1, "pcie": [
  {"socket": 0, "gpus": [0, 1, 2, 3], "nics": [0], "switch": true}, {"socket": 1, "gpus": [4, 5, 6, 7]}])";

nlohmann::json result(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run", folder.write("s.json", scenario), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = athanor_run(words);
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0];
}

double time_of(const nlohmann::json& json) { return json["time_us"].get<double>(); }

const std::string kPackets = R"("network": {"level": "packet"},)";

}  // namespace

TEST_CASE("jobs of NCCL on links of their own take what one takes, as flows and as packets") {
  const Folder folder;
  for (const std::string& level : {std::string(), kPackets}) {
    for (const std::string placement : {"blocks", "interleaved"}) {
      CAPTURE(level);
      CAPTURE(placement);
      const std::string size = level.empty() ? "64MiB" : "1MiB";
      const std::string jobs = fmt::format(R"("jobs": 2, "placement": "{}")", placement);
      const nlohmann::json both = result(folder, two_nodes(jobs, level), {"--sizes", size});
      for (const nlohmann::json& job : both["jobs"]) {
        CHECK(time_of(job) == doctest::Approx(job["alone_time_us"].get<double>()).epsilon(level.empty() ? 1e-9 : 0.01));
        CHECK(job["algorithm"] == both["jobs"][0]["algorithm"]);
        CHECK(job["channels"] == both["jobs"][0]["channels"]);
      }
    }
  }
}

TEST_CASE("a job on one of two nodes runs as the collective there does, with NVLS of its own node") {
  const Folder folder;
  const nlohmann::json both = result(folder, two_nodes(R"("jobs": 2)"));
  const nlohmann::json one = result(folder, two_nodes(R"("ranks": 8)"));
  CHECK(one["algorithm"] == "nvls");
  for (const nlohmann::json& job : both["jobs"]) {
    CHECK(job["algorithm"] == "nvls");
    CHECK(time_of(job) == time_of(one));
  }
}

TEST_CASE("interleaved jobs see the GPUs that they have: four of each node, not the first node") {
  const Folder folder;
  const nlohmann::json jobs = result(folder, two_nodes(R"("jobs": 2, "placement": "interleaved")"))["jobs"];
  const Ran explained = athanor_run({"explain", folder.path("s.json"), "--job", "1", "--size", "64KiB"});
  CAPTURE(explained.err);
  CAPTURE(explained.out);
  REQUIRE(explained.code == 0);
  CHECK(explained.says("between nodes"));
  CHECK(explained.says("job 1 as if it were alone"));
  CHECK(jobs[0]["time_us"] == jobs[1]["time_us"]);
}

TEST_CASE("two jobs of NCCL that share the NIC of every node take twice the time that moving the bytes takes") {
  const Folder folder;
  const std::string jobs = R"("jobs": 2, "placement": "interleaved", "algorithm": "ring")";
  const nlohmann::json both = result(folder, two_nodes(jobs, "", kOneNic), {"--sizes", "1GiB"});
  for (const nlohmann::json& job : both["jobs"]) {
    CHECK(job["slowdown"].get<double>() > 1.9);
    CHECK(job["slowdown"].get<double>() < 2.05);
  }
  // What is latency is not doubled.
  const nlohmann::json small = result(folder, two_nodes(jobs, "", kOneNic), {"--sizes", "1KiB"});
  CHECK(small["jobs"][0]["slowdown"].get<double>() < 1.1);
  const nlohmann::json packets = result(folder, two_nodes(jobs, kPackets, kOneNic), {"--sizes", "4MiB"});
  const nlohmann::json flows = result(folder, two_nodes(jobs, "", kOneNic), {"--sizes", "4MiB"});
  for (const std::size_t job : {0U, 1U}) {
    const double expected = flows["jobs"][job]["slowdown"].get<double>();
    CHECK(packets["jobs"][job]["slowdown"].get<double>() == doctest::Approx(expected).epsilon(0.05));
  }
}

TEST_CASE("each job has its own collective, size, algorithm and settings of NCCL") {
  const Folder folder;
  const nlohmann::json json = result(folder, two_nodes(R"("jobs": [{"nccl": {"environment": {"NCCL_ALGO": "Ring"}}},
    {"kind": "all_gather", "size": "16MiB", "algorithm": "ring"}])"));
  const nlohmann::json& first = json["jobs"][0];
  const nlohmann::json& second = json["jobs"][1];
  CHECK(first["algorithm"] == "ring");
  CHECK(first["collective"] == "all_reduce");
  CHECK(first["bytes"] == 64 * 1048576);
  CHECK(second["collective"] == "all_gather");
  CHECK(second["bytes"] == 16 * 1048576);
  // On a node each they are what they are alone.
  const std::string ring = R"("nccl": {"environment": {"NCCL_ALGO": "Ring"}},)";
  CHECK(time_of(first) == time_of(result(folder, two_nodes(R"("ranks": 8)", ring))));
  std::string gather = two_nodes(R"("ranks": 8, "algorithm": "ring")");
  gather.replace(gather.find("all_reduce"), 10, "all_gather");
  CHECK(time_of(second) == time_of(result(folder, gather, {"--sizes", "16MiB"})));
  const Ran table = athanor_run({"run", folder.write("s.json", two_nodes(R"("jobs": [{}, {"kind": "broadcast"}])"))});
  CHECK(table.code == 0);
  CHECK(table.says("broadcast"));
}

TEST_CASE("what jobs of NCCL cannot be is refused with what to change") {
  const Folder folder;
  const auto refused = [&](const std::string& scenario, const std::string& text) {
    const Ran ran = athanor_run({"run", folder.write("s.json", scenario)});
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(ran.err.find(text) != std::string::npos);
  };
  refused(two_nodes(R"("jobs": [{"nccl": {"environment": {"NCCL_ALGO": "Rong"}}}, {}])"), "NCCL_ALGO");
  refused(two_nodes(R"("jobs": [{"size": "3B"}, {}])"), "no whole number");
  refused(two_nodes(R"("jobs": [{"kind": "all_to_all_v"}, {}])"), "said once for all jobs");
  refused(two_nodes(R"("jobs": [{"kinds": "broadcast"}, {}])"), "did you mean 'kind'");
  refused(two_nodes(R"("jobs": [{"algorithm": "each"}, {}])"), "each of several jobs runs one algorithm");
  refused(two_nodes(R"("jobs": [])"), "jobs");
  refused(two_nodes(R"("jobs": 3, "ranks": 5)"), "as many ranks");
  refused(two_nodes(R"("ranks": 12)"), "as many ranks");
  const auto explain = [&](const std::vector<std::string>& options, const std::string& text) {
    std::vector<std::string> words{"explain", folder.path("s.json")};
    words.insert(words.end(), options.begin(), options.end());
    const Ran ran = athanor_run(words);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.err.find(text) != std::string::npos);
  };
  folder.write("s.json", two_nodes(R"("jobs": 2)"));
  explain({}, "--job 0 to 1");
  explain({"--job", "2"}, "no job '2'");
  folder.write("s.json", two_nodes(R"("ranks": 8)"));
  explain({"--job", "0"}, "leave it out");
}

TEST_CASE("jobs without engines in switches run, whatever carries them out") {
  const Folder folder;
  const std::string hosts = R"({"cluster": {"nodes": 8, "fabric": {"kind": "star",
    "link": {"rate": "10GB/s", "latency": "500ns"}}},
    "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1MiB", "jobs": 2}})";
  const nlohmann::json json = result(folder, hosts);
  for (const nlohmann::json& job : json["jobs"]) { CHECK(job["slowdown"] == 1); }
}
