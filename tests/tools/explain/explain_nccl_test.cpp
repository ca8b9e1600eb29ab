#include "tools/explain/explain_nccl.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// One DGX H100 run by NCCL 2.30.7, with these variables.
std::string box(const std::string& environment, const std::string& kind = "all_reduce") {
  return fmt::format(R"({{
  "cluster": {{"node": "DGX-H100"}},
  "collective": {{"kind": "{}", "sizes": "8B..64MiB"}},
  "nccl": {{"version": "2.30.7", "environment": {{{}}}}}
}})",
                     kind, environment);
}

nlohmann::json explained(const Folder& folder, const std::string& scenario, const std::string& size = "64MiB") {
  const Ran ran = athanor_run({"explain", folder.write("s.json", scenario), "--size", size, "--json"});
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json();
}

nlohmann::json candidate(const nlohmann::json& json, const std::string& algorithm, const std::string& protocol) {
  for (const nlohmann::json& each : json["candidates"]) {
    if (each["algorithm"] == algorithm && each["protocol"] == nlohmann::json(protocol)) { return each; }
  }
  return {};
}

bool says(const nlohmann::json& list, const std::string& text) {
  return std::any_of(list.begin(), list.end(), [&](const auto& each) {
    return each.template get<std::string>().find(text) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("NCCL's predictions stand beside the simulated times") {
  const Folder folder;
  const nlohmann::json json = explained(folder, box(""));
  CHECK(json["library"] == "NCCL 2.30.7");
  // The worked examples of one DGX H100 at 64 MiB.
  CHECK(candidate(json, "NVLS", "Simple")["predicted_us"].get<double>() == doctest::Approx(271.7).epsilon(0.001));
  CHECK(candidate(json, "Ring", "Simple")["predicted_us"].get<double>() == doctest::Approx(382.2).epsilon(0.001));
  CHECK(candidate(json, "Tree", "Simple")["predicted_us"].get<double>() == doctest::Approx(571.0).epsilon(0.001));
  CHECK(candidate(json, "NVLS", "Simple")["chosen"] == true);
  CHECK(candidate(json, "Ring", "Simple")["simulated_us"].is_number());
  CHECK(says(json["reasons"], "NCCL takes NVLS with Simple"));
}

TEST_CASE("an algorithm that cannot run at all has one line, with the reason") {
  const Folder folder;
  const nlohmann::json json = explained(folder, box(R"("NCCL_ALGO": "Ring,NVLSTree")"));
  CHECK(json["library"] == "NCCL 2.30.7 NCCL_ALGO=Ring,NVLSTree");
  std::size_t lines = 0;
  for (const nlohmann::json& each : json["candidates"]) {
    if (each["algorithm"] != "NVLSTree") { continue; }
    ++lines;
    CHECK(each["protocol"].is_null());
    CHECK(each["obstacle"] == "NVLSTree is for several nodes");
  }
  CHECK(lines == 1);
  CHECK(json["chosen"]["algorithm"] == "ring");
  CHECK(says(json["reasons"], "NCCL_ALGO allows NVLSTree, which cannot run: NVLSTree is for several nodes"));
}

TEST_CASE("channels are drawn as NCCL found them, with its cut of the call") {
  const Folder folder;
  const nlohmann::json json = explained(folder, box(R"("NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple")"));
  CHECK(says(json["channels"], "12 found, of 30 GB/s within a node (NVL)"));
  CHECK(says(json["channels"], "GPU 0 1 2 3 4 5 6 7"));
  CHECK(says(json["work"], "24 channels of 544 threads, 2 slices to a chunk, 4 messages"));
  CHECK(says(json["work"], "in chunks of 2 MiB"));
}

TEST_CASE("sends and receives are explained without a choice") {
  const Folder folder;
  const nlohmann::json json = explained(folder, box("", "all_to_all"), "1MiB");
  CHECK(json["library"] == "NCCL 2.30.7");
  CHECK(json["chosen"]["time_us"].get<double>() > 0);
}

TEST_CASE("equal channels of a graph share a line") {
  ChannelGraph graph;
  graph.channels = {{{}, {0, 1, 2}, {}}, {{}, {0, 1, 2}, {}}, {0, {2, 1, 0}, 3}};
  CHECK(channel_lines(graph) == std::vector<std::string>{"0 to 1   GPU 0 1 2", "2        NIC 0 > GPU 2 1 0 > NIC 3"});
}
