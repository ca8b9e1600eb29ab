#pragma once

#include <algorithm>
#include <string>

#include "topologies/generators/clos_shape.hpp"
#include "topologies/network_topology.hpp"

namespace athanor {

/// Which attachments a Clos network serves, where it is one of several side by side.
struct ClosPlane {
  enum class Serves : std::uint8_t {
    all,       ///< every attachment, by the only port that it has
    one_port,  ///< every attachment, by its port number `number`
    one_rail   ///< NIC number `number` of every node: attachment a is that of node a
  };
  Serves serves = Serves::all;
  std::uint32_t number = 0;  ///< of the plane; switches are counted on from plane to plane
};

/// A star, a fat tree of two or three tiers or a rail-optimized one. Ports of its switches, which routes are computed
/// from: up-links first (up-link p of a leaf goes to spine p mod spines of its pod, up-link q of a spine to core
/// q mod cores_per_group of its group), then the links down in the order of what they lead to.
class Clos : public NetworkTopology {
 public:
  /// `name`: "fat tree"; begins the title.
  Clos(std::string name, const Population& population, const ClosShape& shape, const ClosSpec& cables,
       ClosPlane plane = {});

  std::string title() const override;

  std::uint64_t vertices() const override;
  std::uint64_t links() const override;
  void add_vertices(FabricBuilder& builder) override;
  void add_links(FabricBuilder& builder) const override;
  std::vector<Routing> routings() const override { return {Routing::d_mod_k, Routing::ecmp}; }
  bool by_rails() const override { return shape_.rails > 0; }
  std::uint32_t detours() const override {
    return shape_.leaf_uplinks == 0 ? 0 : shape_.leaf_uplinks * std::max(shape_.spine_uplinks, 1U) - 1;
  }
  void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
             std::uint64_t flow, std::vector<LinkId>& path) const override;
  std::vector<CutSet> cut_sets() const override;
  std::vector<TierSummary> tiers() const override;
  std::vector<std::string> warnings() const override;

  const ClosShape& shape() const { return shape_; }
  VertexId leaf(std::uint32_t l) const { return VertexId{first_leaf_ + l}; }
  VertexId spine(std::uint32_t pod, std::uint32_t s) const { return VertexId{first_spine_ + pod * shape_.spines + s}; }
  VertexId core(std::uint32_t group, std::uint32_t c) const {
    return VertexId{first_core_ + group * shape_.cores_per_group + c};
  }

 private:
  /// Which leaves have links down to spare, and what would change it; "": none.
  std::string partly_filled_leaves() const;
  bool one_rail() const { return plane_.serves == ClosPlane::Serves::one_rail; }
  /// Of the population, by the number within this network.
  std::uint32_t attachment(std::uint32_t a) const {
    return one_rail() ? a * population_.attachments_each() + plane_.number : a;
  }
  std::uint32_t attachments_each() const { return one_rail() ? 1 : population_.attachments_each(); }
  /// Which of the equal paths a route takes: ports up, and which of parallel cables down.
  struct Ports {
    std::uint32_t leaf_up = 0;
    std::uint32_t spine_up = 0;
    std::uint32_t core_down = 0;
    std::uint32_t spine_down = 0;
  };
  /// By the destination's number modulo the up-links, as Zahavi's D-Mod-K; or another of all paths.
  Ports table_ports(std::uint32_t number, std::uint32_t detour) const;
  Ports ports(const RoutingChoice& choice, std::uint32_t from, std::uint32_t to, std::uint64_t flow) const;
  /// Members that have all their attachments below the leaves [first, first + count).
  VertexRange members_below(std::uint32_t first, std::uint32_t count) const;
  CutSet below(std::string name, std::uint32_t first_leaf, std::uint32_t leaves, VertexRange spines) const;
  void add_pods(std::vector<CutSet>& found) const;
  void add_halves(std::vector<CutSet>& found) const;

  std::string name_;
  Population population_;
  ClosShape shape_;
  CableSpec host_cable_;
  CableSpec up_cable_;
  CableSpec core_cable_;
  ClosPlane plane_;
  std::uint32_t first_leaf_ = 0;
  std::uint32_t first_spine_ = 0;
  std::uint32_t first_core_ = 0;
};

}  // namespace athanor
