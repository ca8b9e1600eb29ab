#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "sim/units.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

bool in_place_is_possible(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive: return false;
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::scatter: break;
  }
  return true;
}

/// Only an all-to-all-v has a table of sizes, and only a barrier has no payload.
std::optional<std::string> invalid_payload(const Collective& collective) {
  const AllToAllVSizes* sizes = collective.sizes.get();
  if (collective.kind == CollectiveKind::barrier && collective.count != Elements::zero()) {
    return fmt::format("a barrier carries no payload, not {} elements", collective.count.count());
  }
  if (collective.kind != CollectiveKind::all_to_all_v) {
    return sizes == nullptr ? std::nullopt : std::optional("only all_to_all_v takes a table of sizes");
  }
  if (sizes == nullptr) { return "all_to_all_v needs a table of sizes"; }
  if (sizes->ranks() != collective.ranks) {
    return fmt::format("the table of sizes is for {} ranks, not {}", sizes->ranks(), collective.ranks);
  }
  if (sizes->largest() == collective.count) { return std::nullopt; }
  return fmt::format("the payload of all_to_all_v is that of its busiest rank, {} elements, not {}",
                     sizes->largest().count(), collective.count.count());
}

std::optional<std::string> invalid_collective(const Collective& collective) {
  if (collective.ranks == 0) { return "a collective needs at least one rank"; }
  if (collective.count < Elements::zero()) {
    return fmt::format("the payload of {} elements is negative", collective.count.count());
  }
  if (collective.root >= collective.ranks) {
    return fmt::format("root {} is not one of the {} ranks", collective.root, collective.ranks);
  }
  if (collective.in_place && !in_place_is_possible(collective.kind)) {
    return fmt::format("{} cannot be done in place", name(collective.kind));
  }
  return invalid_payload(collective);
}

std::optional<std::string> invalid_layout(const Layout& layout) {
  if (layout.channels == 0) { return "a layout needs at least one channel"; }
  if (layout.slices == 0) { return "a chunk needs at least one slice"; }
  if (layout.grain <= Elements::zero()) { return "the grain must be at least one element"; }
  if (layout.chunk <= Elements::zero()) { return "the chunk must be at least one element"; }
  if (layout.least_slice <= Elements::zero()) { return "the least slice must be at least one element"; }
  const PeerRoundShape& rounds = layout.as<PeerRoundShape>();
  if (rounds.parts == 0) { return "a message needs at least one part"; }
  if (const auto& by_size = rounds.parts_by_size) {
    const bool sizes = by_size->small > Elements::zero() && by_size->large > Elements::zero();
    if (!sizes || by_size->least == 0) { return "parts of messages by size need sizes and a number of at least one"; }
  }
  if (layout.as<AggregatedTreeShape>().messages_per_step == 0) { return "a step has at least one message"; }
  if (rounds.peers_at_once == 0) { return "a channel serves at least one peer at once"; }
  return std::nullopt;
}

std::optional<std::string> invalid_dimensions(const Dimensions& dimensions, std::uint32_t ranks) {
  if (dimensions.front() == 0) { return std::nullopt; }
  const auto* const end = std::find(dimensions.begin(), dimensions.end(), 0U);
  if (std::any_of(end, dimensions.end(), [](std::uint32_t side) { return side != 0; })) {
    return "a side of 0 stands between the dimensions";
  }
  Wide positions = 1;
  for (const auto* side = dimensions.begin(); side != end; ++side) { positions *= *side; }
  if (positions == ranks) { return std::nullopt; }
  return fmt::format("dimensions {} are not {} ranks", joined(std::span(dimensions.begin(), end), " x "), ranks);
}

/// Why `path` is not the places of a group in some order, or nothing.
std::optional<std::string> invalid_path(const std::vector<std::uint32_t>& path, std::uint32_t group) {
  std::vector<bool> visited(group);
  for (const std::uint32_t place : path) {
    if (place >= group) { return fmt::format("visits place {} of a group of {}", place, group); }
    if (visited[place]) { return fmt::format("visits place {} twice", place); }
    visited[place] = true;
  }
  if (path.size() == group) { return std::nullopt; }
  return fmt::format("visits {} of the {} places of a group", path.size(), group);
}

std::optional<std::string> invalid_orders(const ChannelOrders& orders, std::uint32_t group) {
  if (orders.even.empty()) { return "the channels' orders have no path through a group"; }
  if (orders.even.size() != orders.odd.size()) {
    return fmt::format("there are {} paths through groups of even number and {} through others", orders.even.size(),
                       orders.odd.size());
  }
  for (const auto* paths : {&orders.even, &orders.odd}) {
    for (std::size_t path = 0; path < paths->size(); ++path) {
      const auto reason = invalid_path((*paths)[path], group);
      if (!reason) { continue; }
      return fmt::format("path {} through groups of {} number {}", path, paths == &orders.even ? "even" : "odd",
                         *reason);
    }
  }
  return std::nullopt;
}

std::optional<std::string> invalid_heads(const std::vector<std::uint32_t>& heads, std::uint32_t group) {
  for (std::size_t head = 0; head < heads.size(); ++head) {
    if (heads[head] >= group) {
      return fmt::format("head {} is at place {} of a group of {}", head, heads[head], group);
    }
    if (head > 0 && heads[head] <= heads[head - 1]) { return "the places of heads do not ascend"; }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> invalid(const Collective& collective, const Layout& layout) {
  if (auto reason = invalid_collective(collective)) { return reason; }
  if (auto reason = invalid_layout(layout)) { return reason; }
  if (layout.group != 0 && collective.ranks % layout.group != 0) {
    return fmt::format("groups of {} do not divide {} ranks", layout.group, collective.ranks);
  }
  const std::uint32_t group = layout.group == 0 ? collective.ranks : layout.group;
  if (auto reason = invalid_heads(layout.as<EngineTreeShape>().heads, group)) { return reason; }
  if (layout.orders != nullptr) {
    if (auto reason = invalid_orders(*layout.orders, group)) { return reason; }
  }
  return invalid_dimensions(layout.as<GridShape>().dimensions, collective.ranks);
}

}  // namespace athanor
