#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/exporters.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kGigabit = 125'000'000;  // bytes per second
constexpr std::int64_t kNanosecond = 1'000;     // picoseconds

[[noreturn]] void refuse(std::string reason, std::string hint = "") {
  throw ScenarioError(Problem{"no-htsim-form", "htsim has no such fat tree: " + reason, {}, std::move(hint)});
}

/// What one device has towards the tier below or above: cables to each neighbour, all alike.
struct Side {
  std::map<std::uint32_t, std::uint32_t> cables;  ///< by neighbour
  std::optional<Link> link;

  std::uint32_t bundle() const { return cables.empty() ? 0 : cables.begin()->second; }
  std::uint32_t ports() const { return static_cast<std::uint32_t>(cables.size()) * bundle(); }
};

/// The devices of one tier, all of the same shape.
struct Tier {
  std::vector<std::uint32_t> devices;
  std::vector<Side> down, up;
};

class FatTree {
 public:
  explicit FatTree(const Cluster& cluster) : cluster_(cluster), fabric_(*cluster.fabric) {
    if (cluster.nics_per_node > 0 || cluster.endpoints_per_node != 1) {
      refuse("its hosts have no inside", "export a cluster without \"node\", of as many hosts as there are NICs");
    }
    if (!cluster.networks.empty()) { refuse("it is one fabric", "export a cluster with the \"fabric\" alone"); }
    collect();
    check_alike();
    check_order();
  }

  std::string text() const {
    std::string text = fmt::format("# {}\nNodes {}\nTiers {}\nPodsize {}\n", cluster_.description, hosts().size(),
                                   tiers_.size() - 1, hosts_per_pod());
    Time switch_latency = Time::zero();
    for (std::size_t tier = 1; tier < tiers_.size(); ++tier) { text += tier_text(tier, switch_latency); }
    return text;
  }

 private:
  const std::vector<std::uint32_t>& hosts() const { return tiers_[0].devices; }
  std::uint32_t hosts_per_leaf() const { return tiers_[1].down[0].ports(); }

  std::size_t hosts_per_pod() const {
    if (tiers_.size() == 3) { return hosts().size(); }
    const std::size_t leaves = tiers_[2].down[0].cables.size();
    return leaves * hosts_per_leaf();
  }

  static std::optional<std::size_t> tier_of(VertexKind kind) {
    switch (kind) {
      case VertexKind::host: return 0;
      case VertexKind::leaf: return 1;
      case VertexKind::spine: return 2;
      case VertexKind::core: return 3;
      case VertexKind::gpu:
      case VertexKind::process:
      case VertexKind::cpu:
      case VertexKind::memory:
      case VertexKind::pcie_switch:
      case VertexKind::nvswitch:
      case VertexKind::nic:
      case VertexKind::router:
      case VertexKind::custom: return std::nullopt;
    }
    return std::nullopt;
  }

  void collect() {
    std::vector<std::size_t> place(fabric_.vertices());
    tiers_.resize(4);
    for (std::uint32_t v = 0; v < fabric_.vertices(); ++v) {
      const auto tier = tier_of(fabric_.vertex(VertexId{v}).kind);
      if (!tier) { refuse(fmt::format("{} is neither a host nor a switch of a fat tree", fabric_.name(VertexId{v}))); }
      place[v] = tiers_[*tier].devices.size();
      tiers_[*tier].devices.push_back(v);
    }
    while (!tiers_.empty() && tiers_.back().devices.empty()) { tiers_.pop_back(); }
    if (tiers_.size() < 3 || tiers_[0].devices.empty()) { refuse("it has hosts, and two or three tiers of switches"); }
    for (Tier& tier : tiers_) {
      tier.down.resize(tier.devices.size());
      tier.up.resize(tier.devices.size());
    }
    for (std::uint32_t l = 0; l < fabric_.links(); ++l) { add_link(LinkId{l}, place); }
  }

  void add_link(LinkId id, const std::vector<std::size_t>& place) {
    const std::uint32_t from = fabric_.source(id).value;
    const std::uint32_t to = fabric_.target(id).value;
    const std::size_t tier = *tier_of(fabric_.vertex(VertexId{from}).kind);
    const std::size_t other = *tier_of(fabric_.vertex(VertexId{to}).kind);
    if (tier + 1 != other && other + 1 != tier) {
      refuse(fmt::format("{} joins no neighbouring tiers", fabric_.name(id)));
    }
    Side& side = (other < tier ? tiers_[tier].down : tiers_[tier].up)[place[from]];
    ++side.cables[to];
    const Link& link = fabric_.link(id);
    const bool alike = !side.link || (side.link->rate == link.rate && side.link->latency == link.latency);
    if (!alike) { refuse(fmt::format("{} is unlike the other links of its device", fabric_.name(id))); }
    side.link = link;
  }

  /// All devices of a tier have as many neighbours and cables, of one rate and latency.
  void check_alike() const {
    for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
      for (const std::vector<Side>* sides : {&tiers_[tier].down, &tiers_[tier].up}) {
        for (std::size_t i = 0; i < sides->size(); ++i) { check_side(tier, i, (*sides)[i], sides->front()); }
      }
    }
    if (tiers_[0].up[0].ports() != 1) { refuse("a host has one cable"); }
    for (std::size_t tier = 1; tier < tiers_.size(); ++tier) {
      const bool top = tier + 1 == tiers_.size();
      const bool joined = tiers_[tier].down[0].ports() > 0 && (top || tiers_[tier].up[0].ports() > 0);
      if (!joined) {
        refuse(fmt::format("nothing is above or below {}", fabric_.name(VertexId{tiers_[tier].devices[0]})));
      }
    }
  }

  void check_side(std::size_t tier, std::size_t i, const Side& side, const Side& first) const {
    bool alike = side.cables.size() == first.cables.size() && side.link.has_value() == first.link.has_value();
    for (const auto& [neighbour, cables] : side.cables) { alike = alike && cables == first.bundle(); }
    if (alike && side.link) {
      alike = side.link->rate == first.link->rate && side.link->latency == first.link->latency;
    }
    if (alike) { return; }
    refuse(fmt::format("{} is unlike {}", fabric_.name(VertexId{tiers_[tier].devices[i]}),
                       fabric_.name(VertexId{tiers_[tier].devices[0]})),
           "every leaf and every pod is full and has the same switches above it");
  }

  /// Hosts fill leaf after leaf and leaves pod after pod; the spines of a pod have cores of their own by position.
  void check_order() const {
    for (std::size_t h = 0; h < hosts().size(); ++h) {
      const std::uint32_t leaf = tiers_[1].devices[h / hosts_per_leaf()];
      if (tiers_[0].up[h].cables.count(leaf) == 0) {
        refuse(fmt::format("{} is not on {}", fabric_.name(VertexId{hosts()[h]}), fabric_.name(VertexId{leaf})),
               "hosts fill leaf after leaf");
      }
    }
    const std::size_t spines = tiers_[1].up[0].cables.size();
    const std::size_t leaves = tiers_[2].down[0].cables.size();
    if (tiers_[1].devices.size() % leaves != 0) { refuse("every pod has as many leaves"); }
    for (std::size_t l = 0; l < tiers_[1].devices.size(); ++l) {
      for (std::size_t s = 0; s < spines; ++s) {
        const std::uint32_t spine = tiers_[2].devices.at(l / leaves * spines + s);
        if (tiers_[1].up[l].cables.count(spine) == 0) { refuse("its pods are of leaves one after the other"); }
      }
    }
    if (tiers_.size() < 4) { return; }
    for (std::size_t s = 0; s < tiers_[2].devices.size(); ++s) {
      if (tiers_[2].up[s].cables != tiers_[2].up[s % spines].cables) {
        refuse("the spines at one position of all pods are on the same cores");
      }
    }
  }

  std::string tier_text(std::size_t tier, Time& below) const {
    const Side& down = tiers_[tier].down[0];
    const Side& up = tiers_[tier].up[0];
    const Link& rising = *tiers_[tier - 1].up[0].link;
    const Time propagation = rising.latency - below;
    const Time own = down.link->latency - propagation;
    if (down.link->rate != rising.rate || own < Time::zero() || propagation <= Time::zero()) {
      refuse(fmt::format("links of tier {} are not the same both ways", tier - 1));
    }
    below = own;
    std::string text = fmt::format("\nTier {}\nDownlink_speed_Gbps {}\nRadix_Down {}\n", tier - 1,
                                   whole(rising.rate.count(), kGigabit, "rates are whole Gb/s"), down.ports());
    if (!up.cables.empty()) { text += fmt::format("Radix_Up {}\n", up.ports()); }
    text += fmt::format("Downlink_Latency_ns {}\nSwitch_Latency_ns {}\n",
                        whole(propagation.count(), kNanosecond, "latencies are whole nanoseconds"),
                        whole(own.count(), kNanosecond, "latencies are whole nanoseconds"));
    if (!up.cables.empty()) { text += fmt::format("Oversubscribed {}\n", oversubscription(down, up)); }
    return text + fmt::format("Bundle {}\n", down.bundle());
  }

  static std::int64_t oversubscription(const Side& down, const Side& up) {
    const std::int64_t below = (down.link->rate * down.ports()).count();
    const std::int64_t above = (up.link->rate * up.ports()).count();
    return whole(below, above, "the bandwidth down of a switch is a multiple of that up");
  }

  static std::int64_t whole(std::int64_t value, std::int64_t unit, std::string_view law) {
    if (value % unit == 0) { return value / unit; }
    refuse(std::string(law));
  }

  const Cluster& cluster_;
  const Fabric& fabric_;
  std::vector<Tier> tiers_;  // hosts, leaves, spines, cores
};

}  // namespace

std::string to_htsim(const Cluster& cluster) { return FatTree(cluster).text(); }

}  // namespace athanor
