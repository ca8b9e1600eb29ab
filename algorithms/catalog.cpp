#include "algorithms/catalog.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/local_copy.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

namespace athanor {

// Each defined in the file of its name, algorithms/<kind>/<name>.cpp; a new one takes a line here and one below.
Algorithm ring_all_reduce();
Algorithm double_binary_tree_all_reduce();
Algorithm node_chain_tree_all_reduce();
Algorithm recursive_doubling_all_reduce();
Algorithm halving_doubling_all_reduce();
Algorithm parameter_server_all_reduce();
Algorithm nvls_all_reduce();
Algorithm bidirectional_ring_all_reduce();
Algorithm multi_ring_all_reduce();
Algorithm torus_2d_all_reduce();
Algorithm torus_3d_all_reduce();
Algorithm torus_all_reduce();
Algorithm hierarchical_all_reduce();
Algorithm rabenseifner_all_reduce();
Algorithm swing_all_reduce();
Algorithm swing_latency_all_reduce();
Algorithm binomial_tree_all_reduce();
Algorithm butterfly_all_reduce();
Algorithm parameter_server_sharded_all_reduce();
Algorithm parameter_server_dedicated_all_reduce();
Algorithm direct_one_shot_all_reduce();
Algorithm direct_two_shot_all_reduce();
Algorithm mesh_2d_all_reduce();
Algorithm aggregation_tree_all_reduce();
Algorithm nvls_tree_all_reduce();
Algorithm nvls_sharp_all_reduce();
Algorithm collnet_direct_all_reduce();
Algorithm collnet_chain_all_reduce();
Algorithm ring_reduce_scatter();
Algorithm recursive_halving_reduce_scatter();
Algorithm bruck_reduce_scatter();
Algorithm direct_reduce_scatter();
Algorithm pat_reduce_scatter();
Algorithm torus_reduce_scatter();
Algorithm nvls_reduce_scatter();
Algorithm aggregation_tree_reduce_scatter();
Algorithm ring_all_gather();
Algorithm recursive_doubling_all_gather();
Algorithm bruck_all_gather();
Algorithm direct_all_gather();
Algorithm pat_all_gather();
Algorithm torus_all_gather();
Algorithm nvls_all_gather();
Algorithm aggregation_tree_all_gather();
Algorithm ring_broadcast();
Algorithm binomial_tree_broadcast();
Algorithm scatter_all_gather_broadcast();
Algorithm double_binary_tree_broadcast();
Algorithm aggregation_tree_broadcast();
Algorithm ring_reduce();
Algorithm binomial_tree_reduce();
Algorithm reduce_scatter_gather_reduce();
Algorithm aggregation_tree_reduce();
Algorithm pairwise_all_to_all();
Algorithm direct_all_to_all();
Algorithm bruck_all_to_all();
Algorithm hierarchical_all_to_all();
Algorithm rounds_all_to_all();
Algorithm rounds_by_rail_all_to_all();
Algorithm direct_all_to_all_v();
Algorithm pairwise_all_to_all_v();
Algorithm rounds_all_to_all_v();
Algorithm rounds_by_rail_all_to_all_v();
Algorithm linear_gather();
Algorithm binomial_tree_gather();
Algorithm rounds_gather();
Algorithm linear_scatter();
Algorithm binomial_tree_scatter();
Algorithm rounds_scatter();
Algorithm dissemination_barrier();
Algorithm tree_barrier();
Algorithm aggregation_tree_barrier();
Algorithm direct_send_receive();
Algorithm rounds_send_receive();

namespace {

using Maker = Algorithm (*)();

constexpr Maker kMakers[] = {
    ring_all_reduce,
    double_binary_tree_all_reduce,
    node_chain_tree_all_reduce,
    recursive_doubling_all_reduce,
    halving_doubling_all_reduce,
    parameter_server_all_reduce,
    nvls_all_reduce,
    bidirectional_ring_all_reduce,
    multi_ring_all_reduce,
    torus_2d_all_reduce,
    torus_3d_all_reduce,
    torus_all_reduce,
    hierarchical_all_reduce,
    rabenseifner_all_reduce,
    swing_all_reduce,
    swing_latency_all_reduce,
    binomial_tree_all_reduce,
    butterfly_all_reduce,
    parameter_server_sharded_all_reduce,
    parameter_server_dedicated_all_reduce,
    direct_one_shot_all_reduce,
    direct_two_shot_all_reduce,
    mesh_2d_all_reduce,
    aggregation_tree_all_reduce,
    nvls_tree_all_reduce,
    nvls_sharp_all_reduce,
    collnet_direct_all_reduce,
    collnet_chain_all_reduce,
    ring_reduce_scatter,
    recursive_halving_reduce_scatter,
    bruck_reduce_scatter,
    direct_reduce_scatter,
    pat_reduce_scatter,
    torus_reduce_scatter,
    nvls_reduce_scatter,
    aggregation_tree_reduce_scatter,
    ring_all_gather,
    recursive_doubling_all_gather,
    bruck_all_gather,
    direct_all_gather,
    pat_all_gather,
    torus_all_gather,
    nvls_all_gather,
    aggregation_tree_all_gather,
    ring_broadcast,
    binomial_tree_broadcast,
    scatter_all_gather_broadcast,
    double_binary_tree_broadcast,
    aggregation_tree_broadcast,
    ring_reduce,
    binomial_tree_reduce,
    reduce_scatter_gather_reduce,
    aggregation_tree_reduce,
    pairwise_all_to_all,
    direct_all_to_all,
    bruck_all_to_all,
    hierarchical_all_to_all,
    rounds_all_to_all,
    rounds_by_rail_all_to_all,
    direct_all_to_all_v,
    pairwise_all_to_all_v,
    rounds_all_to_all_v,
    rounds_by_rail_all_to_all_v,
    linear_gather,
    binomial_tree_gather,
    rounds_gather,
    linear_scatter,
    binomial_tree_scatter,
    rounds_scatter,
    dissemination_barrier,
    tree_barrier,
    aggregation_tree_barrier,
    direct_send_receive,
    rounds_send_receive,
};

std::vector<Algorithm> all() {
  std::vector<Algorithm> algorithms;
  for (const Maker maker : kMakers) { algorithms.push_back(maker()); }
  return algorithms;
}

}  // namespace

std::span<const Algorithm> catalog() {
  static const std::vector<Algorithm> kAlgorithms = all();
  return kAlgorithms;
}

const Algorithm& find(CollectiveKind kind, std::string_view wanted) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind != kind) { continue; }
    if (algorithm.name == wanted) { return algorithm; }
    names.emplace_back(algorithm.name);
  }
  const std::string near = nearest(std::string(wanted), names);
  throw ScenarioError(
      Problem{"unknown-algorithm",
              fmt::format("no {} algorithm is named \"{}\"", name(kind), wanted),
              {},
              fmt::format("{}known are: {}", near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                          fmt::join(names, ", "))});
}

std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::none: return "none";
    case Engine::nvswitch: return "nvswitch";
    case Engine::server: return "server";
    case Engine::switches: return "switches";
    case Engine::nvswitches: return "nvswitches";
    case Engine::switches_per_head: return "switches_per_head";
    case Engine::nvswitches_and_switches: return "nvswitches_and_switches";
  }
  return "";
}

bool needs_nvswitches(Engine engine) {
  switch (engine) {
    case Engine::nvswitch:
    case Engine::nvswitches:
    case Engine::nvswitches_and_switches: return true;
    case Engine::none:
    case Engine::server:
    case Engine::switches:
    case Engine::switches_per_head: return false;
  }
  return false;
}

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
  const ExchangeSizes* sizes = collective.sizes.get();
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
  if (layout.parts == 0) { return "a message needs at least one part"; }
  if (layout.peers_at_once == 0) { return "a channel serves at least one peer at once"; }
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
  return fmt::format("dimensions {} are not {} ranks", fmt::join(dimensions.begin(), end, " x "), ranks);
}

/// Why `way` is not the places of a group in some order, or nothing.
std::optional<std::string> invalid_way(const std::vector<std::uint32_t>& way, std::uint32_t group) {
  std::vector<bool> visited(group);
  for (const std::uint32_t place : way) {
    if (place >= group) { return fmt::format("visits place {} of a group of {}", place, group); }
    if (visited[place]) { return fmt::format("visits place {} twice", place); }
    visited[place] = true;
  }
  if (way.size() == group) { return std::nullopt; }
  return fmt::format("visits {} of the {} places of a group", way.size(), group);
}

std::optional<std::string> invalid_orders(const ChannelOrders& orders, std::uint32_t group) {
  if (orders.even.empty()) { return "the channels' orders have no way through a group"; }
  if (orders.even.size() != orders.odd.size()) {
    return fmt::format("there are {} ways through groups of even number and {} through others", orders.even.size(),
                       orders.odd.size());
  }
  for (const auto* ways : {&orders.even, &orders.odd}) {
    for (std::size_t way = 0; way < ways->size(); ++way) {
      const auto reason = invalid_way((*ways)[way], group);
      if (!reason) { continue; }
      return fmt::format("way {} through groups of {} number {}", way, ways == &orders.even ? "even" : "odd", *reason);
    }
  }
  return std::nullopt;
}

/// What a cost with one channel and the payload in one loop and one slice still depends on.
Layout shape_of(const Layout& layout) {
  Layout shape;
  shape.group = layout.group;
  shape.dimensions = layout.dimensions;
  shape.rings = layout.rings;
  shape.tree_heads = layout.tree_heads;
  return shape;
}

}  // namespace

std::string alternatives(const Collective& collective, const Layout& layout,
                         const std::function<bool(const Algorithm&)>& available) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.refuses(collective, layout) || (available && !available(algorithm))) { continue; }
    names.push_back(algorithm.name);
  }
  return names.empty() ? "no algorithm fits" : fmt::format("these fit: {}", fmt::join(names, ", "));
}

std::optional<Problem> refusal_with_alternatives(const Algorithm& algorithm, const Collective& collective,
                                                 const Layout& layout,
                                                 const std::function<bool(const Algorithm&)>& available) {
  const auto reason = algorithm.refuses(collective, layout);
  if (!reason) { return std::nullopt; }
  if (invalid(collective, layout)) { return Problem{"algorithm-does-not-fit", *reason, {}, ""}; }
  return Problem{"algorithm-does-not-fit",
                 fmt::format("{} does not fit: {}", algorithm.name, *reason),
                 {},
                 alternatives(collective, layout, available)};
}

std::optional<std::string> invalid(const Collective& collective, const Layout& layout) {
  if (auto reason = invalid_collective(collective)) { return reason; }
  if (auto reason = invalid_layout(layout)) { return reason; }
  if (layout.group != 0 && collective.ranks % layout.group != 0) {
    return fmt::format("groups of {} do not divide {} ranks", layout.group, collective.ranks);
  }
  if (layout.orders != nullptr) {
    const std::uint32_t group = layout.group == 0 ? collective.ranks : layout.group;
    if (auto reason = invalid_orders(*layout.orders, group)) { return reason; }
  }
  return invalid_dimensions(layout.dimensions, collective.ranks);
}

std::optional<std::string> Algorithm::refuses(const Collective& collective, const Layout& layout) const {
  if (collective.kind != kind) {
    return fmt::format("{} does {}, not {}", name, athanor::name(kind), athanor::name(collective.kind));
  }
  if (auto reason = invalid(collective, layout)) { return reason; }
  if (collective.ranks == 1 || refuses_many == nullptr) { return std::nullopt; }
  return refuses_many(collective, layout);
}

std::unique_ptr<const Schedule> Algorithm::make(const Collective& collective, const Layout& layout) const {
  if (const auto refusal = refusal_with_alternatives(*this, collective, layout)) { throw ScenarioError(*refusal); }
  return collective.ranks == 1 ? local_copy(collective) : make_for_many(collective, layout);
}

Elements Algorithm::granule(const Collective& collective, const Layout& layout) const {
  return collective.ranks == 1 ? Elements{1} : granule_for_many(collective, layout);
}

Cost Algorithm::cost(const Collective& collective, const Layout& layout) const {
  if (collective.ranks == 1) { return {}; }
  return cost_in_shape == nullptr ? cost_for_many(collective) : cost_in_shape(collective, shape_of(layout));
}

}  // namespace athanor
