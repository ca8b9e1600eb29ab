#include "tests/models/nccl/nccl_systems.hpp"

#include <map>

namespace athanor::testing {

namespace {

NcclCommunicator box(std::uint32_t nodes, std::uint32_t capability, CpuVendor vendor) {
  NcclCommunicator communicator;
  communicator.version = {2, 30, 7};
  communicator.ranks = 8 * nodes;
  communicator.nodes = nodes;
  communicator.most_local_ranks = 8;
  communicator.least_capability = communicator.greatest_capability = capability;
  communicator.vendor = vendor;
  communicator.nvswitch = true;
  communicator.multicast = capability >= 90;
  communicator.peers.all_nvlink = true;
  communicator.peers.nics = 1;
  return communicator;
}

}  // namespace

ChannelGraph found_graph(NcclPattern pattern, std::uint32_t channels, double within, double across) {
  ChannelGraph graph;
  graph.pattern = pattern;
  graph.speed_intra = within;
  graph.speed_inter = across;
  graph.type_intra = NcclPath::nvl;
  graph.type_inter = NcclPath::pix;
  graph.channels.resize(channels);
  return graph;
}

NcclCommunicator dgx_a100(std::uint32_t nodes) {
  NcclCommunicator communicator = box(nodes, 80, CpuVendor::amd);
  const bool one = nodes == 1;
  communicator.graphs.ring =
      one ? found_graph(NcclPattern::ring, 12, 20, 20) : found_graph(NcclPattern::ring, 8, 24, 24);
  communicator.graphs.tree =
      one ? found_graph(NcclPattern::balanced_tree, 12, 20, 20) : found_graph(NcclPattern::balanced_tree, 8, 30, 24);
  communicator.peers.least_links = 12;
  communicator.peers.nic_rate = 25;
  return communicator;
}

NcclCommunicator dgx_h100(std::uint32_t nodes) {
  NcclCommunicator communicator = box(nodes, 90, CpuVendor::intel);
  const bool one = nodes == 1;
  communicator.graphs.ring =
      one ? found_graph(NcclPattern::ring, 12, 30, 30) : found_graph(NcclPattern::ring, 8, 48, 48);
  communicator.graphs.tree =
      one ? found_graph(NcclPattern::balanced_tree, 12, 30, 30) : found_graph(NcclPattern::tree, 8, 48, 48);
  communicator.graphs.nvls = found_graph(NcclPattern::nvls, 8, 40, one ? 60 : 48);
  communicator.peers.least_links = 18;
  communicator.peers.nic_rate = 50;
  return communicator;
}

NcclCommunicator dgx_b200(std::uint32_t nodes) {
  NcclCommunicator communicator = box(nodes, 100, CpuVendor::intel);
  const bool one = nodes == 1;
  communicator.graphs.ring =
      one ? found_graph(NcclPattern::ring, 16, 45, 45) : found_graph(NcclPattern::ring, 8, 48, 48);
  communicator.graphs.tree =
      one ? found_graph(NcclPattern::balanced_tree, 16, 45, 45) : found_graph(NcclPattern::tree, 8, 96, 48);
  communicator.graphs.nvls =
      one ? found_graph(NcclPattern::nvls, 8, 80, 90) : found_graph(NcclPattern::nvls, 8, 48, 48);
  communicator.peers.least_links = 18;
  communicator.peers.nic_rate = 50;
  return communicator;
}

NcclCommunicator with_sharp(NcclCommunicator communicator) {
  communicator.collnet = {true, true, true, true, 8};
  communicator.graphs.collnet_chain = found_graph(NcclPattern::tree, 8, 48, 48);
  communicator.graphs.collnet_direct = found_graph(NcclPattern::collnet_direct, 8, 48, 48);
  return with_variable(communicator, "NCCL_COLLNET_ENABLE", "1");
}

NcclCommunicator lone_h100(std::uint32_t nodes) {
  NcclCommunicator communicator = box(nodes, 90, CpuVendor::intel);
  communicator.ranks = nodes;
  communicator.most_local_ranks = 1;
  communicator.graphs.ring = found_graph(NcclPattern::ring, 2, 24, 24);
  communicator.graphs.tree = found_graph(NcclPattern::tree, 2, 24, 24);
  communicator.graphs.ring.type_intra = communicator.graphs.tree.type_intra = NcclPath::loc;
  communicator.peers.nic_rate = 50;
  return communicator;
}

NcclCommunicator pcie_box() {
  NcclCommunicator communicator = box(1, 89, CpuVendor::intel);
  communicator.nvswitch = false;
  communicator.peers.all_nvlink = false;
  communicator.graphs.ring = found_graph(NcclPattern::ring, 1, 10, 10);
  communicator.graphs.tree = found_graph(NcclPattern::balanced_tree, 1, 10, 10);
  communicator.graphs.ring.type_intra = communicator.graphs.tree.type_intra = NcclPath::sys;
  return communicator;
}

NcclCommunicator with_variable(NcclCommunicator communicator, const std::string& name, const std::string& text) {
  std::map<std::string, std::string> variables = communicator.environment.given;
  variables[name] = text;
  communicator.environment = nccl_environment(variables, communicator.version);
  return communicator;
}

NcclCommunicator with_version(NcclCommunicator communicator, NcclVersion version) {
  communicator.version = version;
  communicator.environment = nccl_environment(communicator.environment.given, version);
  return communicator;
}

NcclCall all_reduce_of(std::int64_t bytes) { return call_of(NcclFunction::all_reduce, bytes); }

NcclCall call_of(NcclFunction function, std::int64_t bytes) {
  NcclCall call;
  call.function = function;
  call.bytes = Bytes{bytes};
  return call;
}

}  // namespace athanor::testing
