#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "topologies/fabric/router.hpp"

namespace athanor {

/// Shortest paths in links on any fabric; one of several equal ones by a seeded hash of the flow at every device.
/// A NIC is passed only between the network and its node, a GPU only from NVLink to NVLink.
/// Links that are down are not there. Distances to a destination are found by a breadth-first search when it is first
/// asked for, and kept as long as all of them take no more than half a GiB: 2 bytes for each device and destination,
/// 6 for a GPU or NIC; destinations that hang on one switch share those of the switch. Of what lies near each other no
/// more is looked at than what lies between.
class ShortestPathRouter : public Router {
 public:
  /// Borrows the fabric. `network`: of several side by side the only one whose links are taken.
  ShortestPathRouter(const Fabric& fabric, std::uint64_t seed, std::optional<std::uint8_t> network = {});
  ~ShortestPathRouter() override;
  void route(const RouteRequest& request, std::vector<LinkId>& path) const override;
  std::unique_ptr<Router> with_seed(std::uint64_t seed) const override {
    return std::make_unique<ShortestPathRouter>(fabric_, seed, network_);
  }
  bool reaches(VertexId from, VertexId to) const;
  /// By vertex: whether it is `from`, or a route leads from there to it. Costs a search of the whole graph each time.
  std::vector<bool> reached_from(VertexId from) const;

 private:
  struct Search;
  using Distances = std::shared_ptr<const std::vector<std::uint16_t>>;
  using Near = std::unordered_map<std::uint32_t, std::uint16_t>;  ///< distances by state; never iterated
  /// Distances of states to `root`, which is the destination or its gate.
  struct Towards {
    Distances distances;  ///< of all; null: of those near, as far as a route needs them
    VertexId root;
    Near near;

    std::uint16_t distance(std::uint32_t state) const;
  };
  Towards towards(VertexId to) const;
  Towards towards(VertexId to, VertexId from) const;
  template <class Wanted>
  static Near ball(const Search& search, std::vector<std::uint32_t> roots, const Wanted& wanted);
  Near near(VertexId root, std::uint32_t state) const;
  void look_at_graph() const;
  VertexId gate(VertexId to) const;
  bool all_links_have_twins() const;
  bool carries(const Link& link) const {
    return !link.down && (!network_ || link.kind != LinkKind::network || link.network == *network_);
  }
  Search search(bool backward) const;

  const Fabric& fabric_;
  std::uint64_t seed_;
  std::optional<std::uint8_t> network_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Search> search_;                       // backward
  mutable std::unique_ptr<const Search> forward_;                      // known with search_
  mutable std::unordered_map<std::uint32_t, std::size_t> near_costs_;  // by root: states that near() looked at
  mutable bool twins_ = false;                                         // known with search_
  mutable std::unordered_map<std::uint32_t, Distances> distances_;     // by root; never iterated
};

/// "no route from a to b ...": what all routers throw.
[[noreturn]] void throw_no_route(const Fabric& fabric, VertexId from, VertexId to);

}  // namespace athanor
