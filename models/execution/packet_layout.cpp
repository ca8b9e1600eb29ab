#include "models/execution/packet_layout.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/error.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;

bool in_node(VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
    case VertexKind::cpu:
    case VertexKind::memory:
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::nic: return true;
    case VertexKind::host:
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router:
    case VertexKind::custom: return false;
  }
  return false;
}

class PacketLayout {
 public:
  PacketLayout(const Plan& plan, const Fabric& fabric, const PacketSettings& settings)
      : plan_(plan),
        fabric_(fabric),
        settings_(settings),
        device_of_(fabric.vertices(), kNone),
        number_of_(fabric.links(), kNone) {
    packets_.switches = {settings.fabric, settings.node};
  }

  PacketPlan make() {
    for (std::uint32_t l = 0; l < plan_.links.size(); ++l) { number_of_[plan_.links[l].value] = l; }
    links_ = plan_.links;
    for (std::uint32_t l = 0; l < links_.size(); ++l) { add_link(l); }
    add_flows();
    return std::move(packets_);
  }

 private:
  std::uint32_t device(VertexId v) {
    std::uint32_t& device = device_of_[v.value];
    if (device == kNone) {
      device = static_cast<std::uint32_t>(packets_.devices.size());
      packets_.devices.push_back({false, in_node(fabric_.vertex(v).kind) ? 1U : 0U});
    }
    return device;
  }

  /// The link back: of parallel ones the one with the same place among them.
  LinkId reverse(LinkId link) const {
    const auto between = [&](VertexId from, VertexId to) {
      std::vector<LinkId> found;
      const auto [first, count] = fabric_.out(from);
      for (std::uint32_t l = first; l < first + count; ++l) {
        if (fabric_.target(LinkId{l}) == to) { found.push_back(LinkId{l}); }
      }
      return found;
    };
    const std::vector<LinkId> forth = between(fabric_.source(link), fabric_.target(link));
    const std::vector<LinkId> back = between(fabric_.target(link), fabric_.source(link));
    const auto place = static_cast<std::size_t>(std::find(forth.begin(), forth.end(), link) - forth.begin());
    if (place < back.size() && !fabric_.link(back[place]).down) { return back[place]; }
    throw SimulationError(
        "one-way",
        fmt::format("{} has no link back that is up, which acknowledgements need at packet level", fabric_.name(link)));
  }

  /// `l` may be one that this appends, so the list grows while it is gone through.
  void add_link(std::uint32_t l) {
    const LinkId id = links_[l];
    const Link& link = fabric_.link(id);
    if (link.latency < PacketPlan::kLeastLatency) {
      throw SimulationError(
          "latency-too-small",
          fmt::format("{} has a latency of {}: at packet level links have at least {}", fabric_.name(id),
                      to_string(link.latency), to_string(PacketPlan::kLeastLatency)));
    }
    const LinkId back = reverse(id);
    if (number_of_[back.value] == kNone) {
      number_of_[back.value] = static_cast<std::uint32_t>(links_.size());
      links_.push_back(back);
    }
    packets_.links.push_back({device(fabric_.source(id)), device(fabric_.target(id)), number_of_[back.value],
                              wire_rate(link), link.latency, framing(link.kind)});
  }

  LinkFraming framing(LinkKind kind) const {
    LinkFraming framing;
    switch (kind) {
      case LinkKind::pcie: framing = settings_.pcie; break;
      case LinkKind::nvlink: framing = settings_.nvlink; break;
      case LinkKind::c2c:
      case LinkKind::socket:
      case LinkKind::network: return framing;
    }
    framing.left_away = static_cast<std::uint16_t>(settings_.transport.header.count());
    return framing;
  }

  /// At which the usual packets of its kind bring payload over at the usable rate.
  Bandwidth wire_rate(const Link& link) const {
    constexpr Bytes kUsual{4096};  // payload for which usable rates of network links are given
    switch (link.kind) {
      case LinkKind::pcie: return scaled_down(link.usable, kPcieFraming.expansion());
      case LinkKind::nvlink: return scaled_down(link.usable, kNvlinkFraming.expansion());
      case LinkKind::c2c:
      case LinkKind::socket:
      case LinkKind::network: break;
    }
    const Bandwidth wanted = scaled_down(link.usable, {(kUsual + settings_.transport.header).count(), kUsual.count()});
    return link.kind == LinkKind::network ? std::min(wanted, link.rate) : wanted;
  }

  void add_flows() {
    for (const NetworkPlan::Connection& connection : plan_.network.connections) { add_flow(connection); }
    if (!settings_.transport.spray) { return; }
    if (plan_.queue_pairs == 1) {
      throw SimulationError("spray",
                            "\"spray\" takes the paths of a connection's queue pairs, and there is one: write "
                            "\"queue_pairs\": 16 under \"network\"");
    }
    join_paths();
  }

  /// All queue pairs of a connection take the paths of all of them. Those paths are as long as each other and leave by
  /// one port, or are left alone.
  void join_paths() {
    for (std::size_t first = 0; first < packets_.flows.size(); first += plan_.queue_pairs) {
      const PacketPlan::Flow model = packets_.flows[first];
      const auto begin = static_cast<std::uint32_t>(packets_.hops.size());
      std::uint32_t paths = 0;
      for (std::size_t f = first; f < first + plan_.queue_pairs; ++f) {
        const PacketPlan::Flow& flow = packets_.flows[f];
        if (flow.hops == 0 || flow.hops != model.hops || flow.software != model.software ||
            packets_.hops[flow.first_hop] != packets_.hops[model.first_hop]) {
          continue;
        }
        ++paths;
        for (std::uint32_t hop = 0; hop < flow.hops; ++hop) {
          packets_.hops.push_back(packets_.hops[flow.first_hop + hop]);
        }
      }
      if (paths < plan_.queue_pairs) { continue; }
      for (std::size_t f = first; f < first + plan_.queue_pairs; ++f) {
        packets_.flows[f].first_hop = begin;
        packets_.flows[f].paths = paths;
      }
    }
  }

  void add_flow(const NetworkPlan::Connection& connection) {
    PacketPlan::Flow flow;
    flow.hops = flow.hops_back = connection.uses;
    flow.first_hop = static_cast<std::uint32_t>(packets_.hops.size());
    flow.first_hop_back = flow.first_hop + flow.hops;
    flow.cap = connection.cap;
    flow.grain = connection.grain;
    flow.software = connection.latency;
    for (std::uint32_t u = 0; u < connection.uses; ++u) {
      const std::uint32_t link = plan_.network.uses[connection.first_use + u].link;
      packets_.hops.push_back(link);
      flow.software -= packets_.links[link].latency;
    }
    for (std::uint32_t u = 0; u < connection.uses; ++u) {
      packets_.hops.push_back(packets_.links[packets_.hops[flow.first_hop_back - 1 - u]].reverse);
    }
    if (flow.hops > 0) {
      packets_.devices[packets_.links[packets_.hops[flow.first_hop]].source].host = true;
      packets_.devices[packets_.links[packets_.hops[flow.first_hop_back]].source].host = true;
    }
    packets_.flows.push_back(flow);
  }

  const Plan& plan_;
  const Fabric& fabric_;
  const PacketSettings& settings_;
  std::vector<std::uint32_t> device_of_;  ///< by vertex
  std::vector<std::uint32_t> number_of_;  ///< by fabric link
  std::vector<LinkId> links_;             ///< by number
  PacketPlan packets_;
};

}  // namespace

PacketPlan packet_plan(const Plan& plan, const Fabric& fabric, const PacketSettings& settings) {
  return PacketLayout(plan, fabric, settings).make();
}

}  // namespace athanor
