#include "algorithms/catalog.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "algorithms/schedule/local_copy.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

// Each defined in the file of its idea, in algorithms/collectives; a new one takes a line here and one below.
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
Algorithm binomial_knomial_tree_all_reduce();
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
Algorithm knomial_tree_broadcast();
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
    binomial_knomial_tree_all_reduce,
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
    knomial_tree_broadcast,
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
                          joined(names, ", "))});
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

std::string alternatives(const Collective& collective, const Layout& layout,
                         const std::function<bool(const Algorithm&)>& available) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.refuses(collective, layout) || (available && !available(algorithm))) { continue; }
    names.push_back(algorithm.name);
  }
  return names.empty() ? "no algorithm fits" : fmt::format("these fit: {}", joined(names, ", "));
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
  return collective.ranks == 1 || !granule_for_many ? Elements{1} : granule_for_many(collective, layout);
}

Cost Algorithm::cost(const Collective& collective, const Layout& layout) const {
  if (collective.ranks == 1) { return {}; }
  if (cost_in_shape == nullptr) { return cost_for_many(collective); }
  Layout one_loop{.group = layout.group, .orders = layout.orders, .shape = layout.shape};
  if (auto* engines = std::get_if<EngineTreeShape>(&one_loop.shape)) {
    *engines = {.heads = std::move(engines->heads)};
  }
  return cost_in_shape(collective, one_loop);
}

}  // namespace athanor
