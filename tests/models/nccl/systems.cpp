#include "tests/models/nccl/systems.hpp"

#include <fmt/core.h>

#include "sim/words.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"

namespace athanor::testing {

NcclSystem preset_system(const std::string& node, std::uint32_t nodes) { return node_system('"' + node + '"', nodes); }

NcclSystem node_system(const std::string& json, std::uint32_t nodes) {
  const std::string fabric = R"(, "fabric": {"kind": "star", "link": {"rate": "800Gb/s", "latency": "1us"}})";
  return nccl_system(
      test::good(fmt::format(R"({{"cluster": {{"node": {}, "nodes": {}{}}}}})", json, nodes, nodes > 1 ? fabric : "")));
}

Cluster hosts(std::uint32_t count) {
  return test::good(fmt::format(
      R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link": {{"rate": "100Gb/s", "latency": "1us"}}}}}}}})",
      count));
}

std::string shape(const ChannelGraph& graph) {
  return fmt::format("{}x{}/{} {}/{}", graph.count(), graph.speed_intra, graph.speed_inter, name(graph.type_intra),
                     name(graph.type_inter));
}

std::string route(const NcclChannel& channel) {
  const auto nic = [](const auto& number) { return number ? std::to_string(*number) : std::string("-"); };
  return fmt::format("{}: {} :{}", nic(channel.in), joined(channel.gpus, " "), nic(channel.out));
}

}  // namespace athanor::testing
