#include "topologies/fabric.hpp"

#include <array>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "topologies/fabric_graph.hpp"

namespace athanor {

namespace {

using Edge = boost::graph_traits<FabricGraph::Base>::edge_descriptor;

}  // namespace

std::string_view name(VertexKind kind) {
  static constexpr std::array<std::string_view, kVertexKinds> kNames = {
      "gpu", "cpu", "memory", "pcie_switch", "nvswitch", "nic", "host", "leaf", "spine", "core", "router", "custom"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view name(LinkKind kind) {
  static constexpr std::array<std::string_view, kLinkKinds> kNames = {"nvlink", "c2c", "pcie", "socket", "network"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Fabric::Fabric(std::unique_ptr<FabricGraph> graph, std::vector<std::uint32_t> sources, std::vector<std::string> names,
               std::vector<std::string> networks)
    : graph_(std::move(graph)),
      sources_(std::move(sources)),
      custom_names_(std::move(names)),
      networks_(std::move(networks)) {}

Fabric::Fabric(Fabric&&) noexcept = default;
Fabric& Fabric::operator=(Fabric&&) noexcept = default;
Fabric::~Fabric() = default;

std::uint32_t Fabric::vertices() const { return static_cast<std::uint32_t>(boost::num_vertices(*graph_)); }

std::uint32_t Fabric::links() const { return static_cast<std::uint32_t>(sources_.size()); }

const Vertex& Fabric::vertex(VertexId v) const { return (*graph_)[v.value]; }

const Link& Fabric::link(LinkId l) const { return (*graph_)[Edge(sources_[l.value], l.value)]; }

void Fabric::change(LinkId l, const Link& link) {
  require(Bandwidth::zero() < link.usable && link.usable <= link.rate && link.latency >= Time::zero(),
          "{} of {} B/s, usable {} B/s, latency {} ps", name(l), link.rate.count(), link.usable.count(),
          link.latency.count());
  Link& held = (*graph_)[Edge(sources_[l.value], l.value)];
  links_down_ = links_down_ - (held.down ? 1 : 0) + (link.down ? 1 : 0);
  held = link;
}

VertexId Fabric::target(LinkId l) const {
  return VertexId{boost::target(Edge(sources_[l.value], l.value), static_cast<const FabricGraph::Base&>(*graph_))};
}

Fabric::OutLinks Fabric::out(VertexId v) const {
  const FabricGraph::Base& graph = *graph_;
  const auto [first, last] = boost::out_edges(v.value, graph);
  if (first == last) { return {0, 0}; }
  return {(*first).idx, static_cast<std::uint32_t>(boost::out_degree(v.value, graph))};
}

std::string Fabric::name(VertexId v) const {
  if (!custom_names_.empty()) { return custom_names_[v.value]; }
  const Vertex& device = vertex(v);
  const std::string_view kind = athanor::name(device.kind);
  const std::string network = device.network > 0 ? networks_[device.network - 1U] + "/" : "";
  if (device.node == kNoNode) { return fmt::format("{}{}{}", network, kind, device.index); }
  return fmt::format("node{}/{}{}{}", device.node, network, kind, device.index);
}

std::string Fabric::name(LinkId l) const { return fmt::format("{} -> {}", name(source(l)), name(target(l))); }

}  // namespace athanor
