#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/execution/run.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/data_directory.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

struct Drawn {
  std::string node;
  std::uint32_t nodes;
  std::string fabric;
  std::string collective;
};

/// Some of these leaves and pods are not full, and trees of nodes are not balanced.
const Drawn kCases[] = {
    {"DGX-H100", 6, R"("kind": "rail_optimized", "nodes_per_group": 2)", "all_reduce"},
    {"DGX-H100", 13, R"("kind": "rail_optimized", "nodes_per_group": 4)", "all_reduce"},
    {"DGX-H100", 8, R"("kind": "star")", "all_gather"},
    {"DGX-H100", 8, R"("kind": "rail_optimized", "nodes_per_group": 3)", "reduce_scatter"},
    {"DGX-H100", 6, R"("kind": "rail_optimized", "nodes_per_group": 2)", "all_to_all"},
    {"DGX-H100", 7, R"("kind": "rail_only")", "broadcast"},
    {"DGX-A100", 10, R"("kind": "fat_tree", "leaves": 8)", "all_reduce"},
    {"DGX-A100", 8, R"("kind": "fat_tree", "leaves": 4)", "all_to_all"},
};

Scenario scenario_of(const Folder& folder, const Drawn& drawn) {
  const std::string path =
      folder.write("s.json", fmt::format(R"({{"cluster": {{"node": "{}", "nodes": {},
    "fabric": {{{}, "switch": "QM9700"}}}}, "profile": "{}", "collective": {{"kind": "{}", "sizes": "1MiB"}}}})",
                                         drawn.node, drawn.nodes, drawn.fabric,
                                         drawn.node == "DGX-H100" ? "nccl-generic-hopper" : "nccl-generic-ampere",
                                         drawn.collective));
  return read_scenario(path, Library(data_directory()));
}

}  // namespace

TEST_CASE("what NCCL runs takes as long when its classes are found node by node as when every rank is simulated") {
  std::uint32_t folded = 0;
  std::uint32_t runs = 0;
  for (const Drawn& drawn : kCases) {
    const Folder folder;
    const Scenario scenario = scenario_of(folder, drawn);
    const Case& one = scenario.cases.front();
    const CollectiveSetup& setup = one.as<CollectiveExperiment>()->setup();
    for (const Bytes size : {8_KiB, 1_MiB, 48_MiB}) {
      CAPTURE(drawn.node);
      CAPTURE(drawn.nodes);
      CAPTURE(drawn.fabric);
      CAPTURE(drawn.collective);
      CAPTURE(size.count());
      SimulationOptions blocks;
      blocks.blocks_from = 0;
      SimulationOptions whole;
      whole.classes = whole.repeat_loops = false;
      const RunResult part = run_collective(setup.request(one.platform, size, blocks));
      const RunResult all = run_collective(setup.request(one.platform, size, whole));
      CHECK(part.time == all.time);
      CHECK(part.algorithm == all.algorithm);
      CHECK(part.limited_by == all.limited_by);
      CHECK(part.simulated.first_end == all.simulated.first_end);
      CHECK(part.simulated.all_lanes == all.simulated.all_lanes);
      ++runs;
      if (part.simulated.by_blocks && part.simulated.lanes * 2 < part.simulated.all_lanes) { ++folded; }
    }
  }
  CHECK(folded * 3 > runs);  // small clusters whose nodes are hardly alike are laid out whole
}
