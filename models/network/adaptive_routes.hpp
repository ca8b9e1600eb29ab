#pragma once

#include <cstdint>
#include <vector>

#include "topologies/router.hpp"

namespace athanor {

/// The routes of connections that are opened one after the other. Where the router has several ways for each, the
/// global choice of UGAL-G (Kim, Dally, Scott, Abts, ISCA'08) is made when the connection is opened, with flows in
/// place of queues: the way of the least (flows on its busiest link, this one included) x (its links), where links that
/// all ways share do not count. Of equal ones the first, which are the shortest. The choice stays.
class AdaptiveRoutes {
 public:
  /// Borrows both.
  AdaptiveRoutes(const Router& router, const Fabric& fabric);

  /// Appends the links, as Router::route does; `request.path` is not looked at.
  void open(RouteRequest request, std::vector<LinkId>& path);

 private:
  using Path = std::vector<LinkId>;
  std::uint64_t load(const Path& way, const std::vector<Path>& all) const;

  const Router& router_;
  std::vector<std::uint32_t> flows_;  // by link; empty where there is nothing to choose
};

}  // namespace athanor
