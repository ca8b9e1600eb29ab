#include <map>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/run.hpp"
#include "models/software/profile.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using enum CollectiveKind;

NodeSpec node_of(std::uint32_t gpus) {
  NodeSpec spec;
  spec.name = "GPUs on NVSwitches";
  spec.gpus = gpus;
  spec.scale_up = NvSwitchSpec{{100_GBps, 100_GBps, 100_ns}};
  spec.pcie_link = {10_GBps, 10_GBps, 100_ns};
  spec.pcie = {{0, true, {}, {}}};
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) { spec.pcie[0].gpus.push_back(gpu); }
  return spec;
}

RunResult run(const Cluster& cluster, CollectiveKind kind, const std::string& name, std::int64_t elements) {
  const Profile ideal;
  const auto ranks = static_cast<std::uint32_t>(cluster.endpoints.size());
  const Collective collective{kind, ranks, Elements{elements}};
  return run_collective(
      {.cluster = cluster,
       .profile = ideal,
       .collective = collective,
       .algorithms = {&find(kind, name)},
       .overrides = {},
       .options = {},
       .aggregation = std::make_shared<const EngineDeployment>(EngineDeployment{engine_catalog().front(), {}})});
}

/// Bytes that each GPU sends to NVSwitches, or receives from them: how many GPUs so many.
std::map<Bytes, std::uint32_t> scale_up_traffic(const Cluster& cluster, const RunResult& result, bool out) {
  std::map<Bytes, std::uint32_t> links;
  const Fabric& fabric = *cluster.fabric;
  for (const LinkLoad& load : result.simulated.network.loads) {
    const VertexKind from = fabric.vertex(fabric.source(load.link)).kind;
    const VertexKind to = fabric.vertex(fabric.target(load.link)).kind;
    const bool counts = out ? from == VertexKind::gpu && to == VertexKind::nvswitch
                            : from == VertexKind::nvswitch && to == VertexKind::gpu;
    if (counts) { links[load.carried] += load.members; }
  }
  return links;
}

using Traffic = std::map<Bytes, std::uint32_t>;

}  // namespace

// NCCL's NVLS kernels: of an all-reduce a GPU's link carries all of its data, and the sum of the part that the GPU is
// the head of; of a reduce-scatter the former, of an all-gather the part alone. The reverse way likewise.
TEST_CASE(
    "NVLS moves n + n/R over a link in an all-reduce, n and n/R in a reduce-scatter, n/R and n in an all-gather") {
  for (const std::uint32_t gpus : {2U, 3U, 8U}) {
    CAPTURE(gpus);
    const Cluster cluster = single_node(node_of(gpus));
    const std::int64_t part = 1000;
    const Bytes n = Bytes{4} * part * gpus;
    const Bytes block = n / gpus;
    const auto traffic = [&](CollectiveKind kind, bool out) {
      return scale_up_traffic(cluster, run(cluster, kind, "nvls", part * gpus), out);
    };
    CHECK(traffic(all_reduce, true) == Traffic{{n + block, gpus}});
    CHECK(traffic(all_reduce, false) == Traffic{{n + block, gpus}});
    CHECK(traffic(reduce_scatter, true) == Traffic{{n, gpus}});
    CHECK(traffic(reduce_scatter, false) == Traffic{{block, gpus}});
    CHECK(traffic(all_gather, true) == Traffic{{block, gpus}});
    CHECK(traffic(all_gather, false) == Traffic{{n, gpus}});
  }
}
