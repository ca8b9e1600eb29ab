#include "topologies/fabric/fabric.hpp"

#include <array>

#include <fmt/core.h>

#include "sim/check.hpp"

namespace athanor {

std::string_view name(VertexKind kind) {
  static constexpr std::array<std::string_view, kVertexKinds> kNames = {
      "gpu",  "process", "cpu",   "memory", "pcie_switch", "nvswitch", "nic",
      "host", "leaf",    "spine", "core",   "router",      "custom"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view name(LinkKind kind) {
  static constexpr std::array<std::string_view, kLinkKinds> kNames = {"nvlink", "c2c", "pcie", "socket", "network"};
  return kNames.at(static_cast<std::size_t>(kind));
}

void Fabric::change(LinkId l, const Link& link) {
  require(Bandwidth::zero() < link.usable && link.usable <= link.rate && link.latency >= Time::zero(),
          "{} of {} B/s, usable {} B/s, latency {} ps", name(l), link.rate.count(), link.usable.count(),
          link.latency.count());
  Link& held = links_[l.value];
  links_down_ = links_down_ - (held.down ? 1 : 0) + (link.down ? 1 : 0);
  held = link;
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
