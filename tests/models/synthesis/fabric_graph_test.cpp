#include "models/synthesis/fabric_graph.hpp"

#include <doctest/doctest.h>

#include "algorithms/synthesis/gather_bound.hpp"
#include "models/synthesis/synthesis_cache.hpp"
#include "sim/ratio.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

/// Bound in units of one part over 1 GB/s.
Ratio bound_of(const Cluster& cluster, std::uint32_t ranks) {
  const GatherBound bound = gather_bound(simplified(fabric_graph(cluster, ranks).graph));
  return product({bound.inside, bound.capacity}, {kGiga, 1});
}

/// Four GPUs on an NVSwitch, each with a NIC of its own.
NodeSpec four_gpus() {
  NodeSpec spec;
  spec.name = "four GPUs";
  spec.gpus = 4;
  spec.scale_up = NvSwitchSpec{{100_GBps, 100_GBps, 100_ns}};
  spec.pcie_link = {40_GBps, 40_GBps, 100_ns};
  spec.nics = 4;
  spec.nic = {10_GBps, {1, 1}, Time::zero()};
  for (std::uint32_t i = 0; i < 4; ++i) { spec.pcie.push_back({0, true, {i}, {i}}); }
  return spec;
}

}  // namespace

TEST_CASE("hosts on one switch have its links, and a part of them, too") {
  const Cluster cluster = star(hosts(8), {10_GBps, 8_GBps, 500_ns, Time::zero()});
  CHECK(bound_of(cluster, 8) == Ratio{7, 8});  // usable rates
  CHECK(bound_of(cluster, 3) == Ratio{2, 8});
  const FabricGraph fabric = fabric_graph(cluster, 8);
  CHECK(fabric.devices.size() == fabric.graph.vertices);
  CHECK(fabric.devices[5] == cluster.endpoints[5]);
}

TEST_CASE("nodes are joined inside by NVLink, and to others by the NICs of their own GPUs") {
  const Cluster two = star(nodes(2, four_gpus()), {10_GBps, 10_GBps, 500_ns, Time::zero()});
  CHECK(bound_of(two, 8) == Ratio{4, 4 * 10});  // the other node's data enter over four NICs
  CHECK(bound_of(two, 4) == Ratio{3, 100});     // one node: over NVLink
  const CapacityGraph graph = simplified(fabric_graph(two, 8).graph);
  CHECK(graph.vertices == 8 + 2 + 1);        // GPUs, NVSwitches and the one switch: all else has two neighbours
  CHECK(graph.links.size() == 2 * (8 + 8));  // no PCIe beside NVLink
}

TEST_CASE("a link that is down is none") {
  const Cluster cluster = star(hosts(4), {10_GBps, 10_GBps, 500_ns, Time::zero()});
  const LinkId cable{cluster.fabric->out(cluster.endpoints[2]).first};
  Link broken = cluster.fabric->link(cable);
  broken.down = true;
  cluster.fabric->change(cable, broken);
  CHECK(synthesise_for(cluster, CollectiveKind::all_gather, 4).refusal == "rank 2 cannot send to rank 0 by any links");
  CHECK(synthesise_for(cluster, CollectiveKind::all_gather, 2).algorithm != nullptr);
}

TEST_CASE("one collective for one cluster is made once") {
  const auto cluster = std::make_shared<const Cluster>(star(hosts(4), {10_GBps, 10_GBps, 500_ns, Time::zero()}));
  SynthesisCache cache;
  const auto& first = cache.get(cluster, CollectiveKind::all_gather, 4);
  CHECK(cache.get(cluster, CollectiveKind::all_gather, 4).algorithm == first.algorithm);
  CHECK(cache.get(cluster, CollectiveKind::all_gather, 3).algorithm != first.algorithm);
}

TEST_CASE("too many ranks are refused by their number") {
  const Cluster cluster = star(hosts(1025), {10_GBps, 10_GBps, 500_ns, Time::zero()});
  CHECK(synthesise_for(cluster, CollectiveKind::all_gather, 1025).refusal ==
        "1025 ranks; at most 1024 are synthesised for");
}
