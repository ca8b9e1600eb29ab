#include "topologies/generators/direct/dragonfly_plus.hpp"

#include <algorithm>

#include "topologies/generators/direct/coordinates.hpp"

namespace athanor {

void check_dragonfly_plus(const DragonflyPlusShape& shape) {
  check_box("a dragonfly+", {shape.groups, shape.leaves_per_group});
  check_box("a dragonfly+", {shape.groups, shape.spines_per_group});
  check_groups(shape.groups, shape.spines_per_group, "spine", shape.global_per_spine);
}

DragonflyPlus::DragonflyPlus(const DragonflyPlusShape& shape)
    : shape_(shape), global_(shape.groups, shape.spines_per_group * shape.global_per_spine, shape.arrangement) {}

std::uint32_t DragonflyPlus::ports(std::uint32_t router) const {
  if (router < leaves()) { return shape_.spines_per_group; }
  const std::uint32_t first_slot = (router - leaves()) % shape_.spines_per_group * shape_.global_per_spine;
  const std::uint32_t used = global_.used();
  return shape_.leaves_per_group + std::min(used - std::min(used, first_slot), shape_.global_per_spine);
}

std::uint32_t DragonflyPlus::neighbour(std::uint32_t router, std::uint32_t port) const {
  if (router < leaves()) { return leaves() + router / shape_.leaves_per_group * shape_.spines_per_group + port; }
  const std::uint32_t group = (router - leaves()) / shape_.spines_per_group;
  if (port < shape_.leaves_per_group) { return group * shape_.leaves_per_group + port; }
  const std::uint32_t slot =
      (router - leaves()) % shape_.spines_per_group * shape_.global_per_spine + port - shape_.leaves_per_group;
  return spine(global_.target(group, slot), global_.far_slot(group, slot));
}

void DragonflyPlus::up(std::uint32_t leaf, std::uint32_t spine, Trail& trail) const {
  trail.take(leaf, (spine - leaves()) % shape_.spines_per_group);
}

void DragonflyPlus::down(std::uint32_t spine, std::uint32_t leaf, Trail& trail) const {
  trail.take(spine, leaf % shape_.leaves_per_group);
}

void DragonflyPlus::across(std::uint32_t spine, std::uint32_t slot, Trail& trail) const {
  trail.take(spine, shape_.leaves_per_group + slot % shape_.global_per_spine);
}

void DragonflyPlus::by_third_group(FlowDraws& draws, std::uint32_t from, std::uint32_t to, Trail& trail) const {
  const std::uint32_t source = from / shape_.leaves_per_group;
  const std::uint32_t target = to / shape_.leaves_per_group;
  const auto [low, high] = std::minmax(source, target);
  std::uint32_t third = draws.below(shape_.groups - 2);
  third += third >= low ? 1 : 0;
  third += third >= high ? 1 : 0;
  const std::uint32_t there = global_.slot(source, third, draws.below(global_.per_pair()));
  const std::uint32_t on = global_.slot(third, target, draws.below(global_.per_pair()));
  const std::uint32_t entry = spine(third, global_.far_slot(source, there));
  const std::uint32_t exit = spine(third, on);
  up(from, spine(source, there), trail);
  across(spine(source, there), there, trail);
  if (entry != exit) {
    const std::uint32_t leaf = third * shape_.leaves_per_group + draws.below(shape_.leaves_per_group);
    down(entry, leaf, trail);
    up(leaf, exit, trail);
  }
  across(exit, on, trail);
  down(spine(target, global_.far_slot(third, on)), to, trail);
}

void DragonflyPlus::walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, Trail& trail) const {
  const std::uint32_t source = from / shape_.leaves_per_group;
  const std::uint32_t target = to / shape_.leaves_per_group;
  if (source == target) {
    const std::uint32_t by = leaves() + source * shape_.spines_per_group + draws.below(shape_.spines_per_group);
    up(from, by, trail);
    down(by, to, trail);
  } else if (routing == Routing::valiant && shape_.groups > 2) {
    by_third_group(draws, from, to, trail);
  } else {
    const std::uint32_t slot = global_.slot(source, target, draws.below(global_.per_pair()));
    up(from, spine(source, slot), trail);
    across(spine(source, slot), slot, trail);
    down(spine(target, global_.far_slot(source, slot)), to, trail);
  }
}

std::vector<RouterSet> DragonflyPlus::sets() const {
  const auto groups = [&](std::string name, std::uint32_t count, bool half) {
    return RouterSet{
        std::move(name), {{0, count * shape_.leaves_per_group}, {leaves(), count * shape_.spines_per_group}}, half};
  };
  if (shape_.groups > 1) {
    return {groups("group 0", 1, false), groups("half of the groups", shape_.groups / 2, true)};
  }
  if (shape_.leaves_per_group == 1) { return {}; }
  return {{"half of the leaves", {{0, shape_.leaves_per_group / 2}}, true}};
}

}  // namespace athanor
