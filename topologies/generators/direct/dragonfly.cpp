#include "topologies/generators/direct/dragonfly.hpp"

#include <algorithm>

#include "topologies/generators/direct/coordinates.hpp"

namespace athanor {

void check_dragonfly(const DragonflyShape& shape) {
  check_box("a dragonfly", {shape.groups, shape.routers_per_group});
  check_groups(shape.groups, shape.routers_per_group, "router", shape.global_per_router);
}

Dragonfly::Dragonfly(const DragonflyShape& shape)
    : shape_(shape), global_(shape.groups, shape.routers_per_group * shape.global_per_router, shape.arrangement) {}

std::uint32_t Dragonfly::ports(std::uint32_t router) const {
  const std::uint32_t first_slot = router % shape_.routers_per_group * shape_.global_per_router;
  const std::uint32_t used = global_.used();
  return local_ports() + std::min(used - std::min(used, first_slot), shape_.global_per_router);
}

std::uint32_t Dragonfly::neighbour(std::uint32_t router, std::uint32_t port) const {
  const std::uint32_t a = shape_.routers_per_group;
  if (port < local_ports()) { return router - router % a + port + (port >= router % a ? 1 : 0); }
  const std::uint32_t slot = router % a * shape_.global_per_router + port - local_ports();
  return router_of(global_.target(group(router), slot), global_.far_slot(group(router), slot));
}

void Dragonfly::within(std::uint32_t from, std::uint32_t to, Trail& trail) const {
  if (from == to) { return; }
  trail.take(from, to % shape_.routers_per_group - (to > from ? 1 : 0));
}

std::uint32_t Dragonfly::across(std::uint32_t from, std::uint32_t cable, std::uint32_t other, Trail& trail) const {
  const std::uint32_t slot = global_.slot(group(from), other, cable);
  const std::uint32_t gate = router_of(group(from), slot);
  within(from, gate, trail);
  trail.take(gate, local_ports() + slot % shape_.global_per_router);
  return router_of(other, global_.far_slot(group(from), slot));
}

std::uint32_t Dragonfly::nearest_cable(FlowDraws& draws, std::uint32_t from, std::uint32_t to) const {
  const auto hops = [&](std::uint32_t cable) {
    const std::uint32_t slot = global_.slot(group(from), group(to), cable);
    return (router_of(group(from), slot) == from ? 0 : 1) +
           (router_of(group(to), global_.far_slot(group(from), slot)) == to ? 0 : 1);
  };
  int least = 3;
  std::uint32_t equal = 0;
  for (std::uint32_t cable = 0; cable < global_.per_pair(); ++cable) {
    equal = hops(cable) < least ? 1 : equal + (hops(cable) == least ? 1 : 0);
    least = std::min(least, hops(cable));
  }
  std::uint32_t drawn = draws.below(equal);
  std::uint32_t cable = 0;
  while (hops(cable) != least || drawn-- > 0) { ++cable; }
  return cable;
}

void Dragonfly::walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, Trail& trail) const {
  std::uint32_t router = from;
  const std::uint32_t others = shape_.groups - 2;
  if (routing == Routing::valiant && group(from) != group(to) && others > 0) {
    // The drawn one of the groups that are neither end's.
    const auto [low, high] = std::minmax({group(from), group(to)});
    std::uint32_t third = draws.below(others);
    third += third >= low ? 1 : 0;
    third += third >= high ? 1 : 0;
    router = across(router, draws.below(global_.per_pair()), third, trail);
  }
  if (group(router) != group(to)) { router = across(router, nearest_cable(draws, router, to), group(to), trail); }
  within(router, to, trail);
}

std::vector<RouterSet> Dragonfly::sets() const {
  const std::uint32_t a = shape_.routers_per_group;
  std::vector<RouterSet> found;
  if (shape_.groups == 1) {
    if (a > 1) { found.push_back({"half of the routers", {{0, a / 2}}, true}); }
    return found;
  }
  found.push_back({"group 0", {{0, a}}, false});
  found.push_back({"half of the groups", {{0, shape_.groups / 2 * a}}, true});
  return found;
}

}  // namespace athanor
