#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "topologies/router.hpp"

namespace athanor {

/// Shortest paths in links on any fabric; one of several equal ones by a seeded hash of the flow at every device.
/// A NIC is passed only between the network and its node, a GPU only from NVLink to NVLink.
/// Links that are down are not there. Distances to a destination are found by a breadth-first search when it is first
/// asked for, and kept as long as all of them take no more than half a GiB.
class ShortestPathRouter : public Router {
 public:
  /// Borrows the fabric.
  ShortestPathRouter(const Fabric& fabric, std::uint64_t seed);
  ~ShortestPathRouter() override;
  void route(const RouteRequest& request, std::vector<LinkId>& path) const override;
  std::unique_ptr<Router> with_seed(std::uint64_t seed) const override {
    return std::make_unique<ShortestPathRouter>(fabric_, seed);
  }
  bool reaches(VertexId from, VertexId to) const;
  /// By vertex: whether it is `from`, or a route leads from there to it. Costs a search of the whole graph each time.
  std::vector<bool> reached_from(VertexId from) const;

 private:
  struct Search;  // the graph of (device, how it was reached), backwards
  using Distances = std::shared_ptr<const std::vector<std::uint16_t>>;
  Distances distances_to(VertexId to) const;

  const Fabric& fabric_;
  std::uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Search> search_;
  mutable std::unordered_map<std::uint32_t, Distances> distances_;  // by destination; never iterated
};

/// "no route from a to b ...": what all routers throw.
[[noreturn]] void throw_no_route(const Fabric& fabric, VertexId from, VertexId to);

}  // namespace athanor
