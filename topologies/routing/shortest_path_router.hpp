#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "topologies/router.hpp"

namespace athanor {

/// Shortest paths in links on any fabric; one of several equal ones by a seeded hash of the flow at every device.
/// A NIC is passed only between the network and its node, a GPU only from NVLink to NVLink.
/// Distances to a destination are found by a breadth-first search when it is first asked for, then kept.
class ShortestPathRouter : public Router {
 public:
  /// Borrows the fabric.
  ShortestPathRouter(const Fabric& fabric, std::uint64_t seed);
  ~ShortestPathRouter() override;
  void route(const RouteRequest& request, std::vector<LinkId>& path) const override;
  bool reaches(VertexId from, VertexId to) const;

 private:
  struct Search;  // the graph of (device, how it was reached), backwards
  using Distances = std::vector<std::uint16_t>;
  const Distances& distances_to(VertexId to) const;

  const Fabric& fabric_;
  std::uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Search> search_;
  mutable std::unordered_map<std::uint32_t, Distances> distances_;  // by destination; never iterated
};

/// "no route from a to b ...": what all routers throw.
[[noreturn]] void throw_no_route(const Fabric& fabric, VertexId from, VertexId to);

}  // namespace athanor
