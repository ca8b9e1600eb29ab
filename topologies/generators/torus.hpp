#pragma once

#include <cstdint>
#include <vector>

#include "topologies/network_structure.hpp"

namespace athanor {

/// Positions in a grid that closes on itself in every dimension. A bare device is a position and its own router. A
/// node is one position too: its NICs are on a router vertex of the node, and share its ports to the neighbours.
/// A dimension of two positions has one cable between them, a dimension of one has none.
struct TorusSpec {
  std::vector<std::uint32_t> dimensions;  ///< member number = position, the last dimension varies fastest
  CableSpec cable;                        ///< between neighbours
  CableSpec nic_cable;                    ///< NIC to router; unused with bare devices
};

/// Ports of a position: for each dimension the one towards +, then the one towards - (where it has more than two
/// positions), then the node's NICs.
class Torus : public NetworkStructure {
 public:
  /// Requires as many members as positions; see check_torus.
  Torus(const Population& population, const TorusSpec& spec);

  std::uint64_t vertices() const override;
  std::uint64_t links() const override;
  void add_vertices(FabricBuilder& builder) override;
  void add_links(FabricBuilder& builder) const override;
  std::vector<Routing> routings() const override { return {Routing::dimension_order}; }
  void route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
             std::uint64_t flow, std::vector<LinkId>& path) const override;
  std::vector<Division> divisions() const override;
  std::vector<TierSummary> tiers() const override { return {}; }
  std::vector<std::string> warnings() const override { return {}; }

 private:
  struct Dimension {
    std::uint32_t size;
    std::uint32_t stride;  // of positions
    std::uint32_t port;    // towards +; towards - is the next one
  };
  VertexId router(std::uint32_t position) const { return VertexId{first_router_ + position}; }
  std::uint32_t coordinate(std::uint32_t position, const Dimension& d) const { return position / d.stride % d.size; }
  std::uint32_t moved(std::uint32_t position, const Dimension& d, std::uint32_t steps) const;
  Division half(const Dimension& d, std::size_t number) const;

  Population population_;
  TorusSpec spec_;
  std::vector<Dimension> dimensions_;
  std::uint32_t first_router_ = 0;
  std::uint32_t first_nic_port_ = 0;
};

/// Throws ScenarioError("does-not-fit") unless the dimensions hold exactly so many members.
void check_torus(std::uint64_t members, const std::vector<std::uint32_t>& dimensions);

}  // namespace athanor
