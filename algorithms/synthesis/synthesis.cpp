#include "algorithms/synthesis/synthesis.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "algorithms/schedule/layout.hpp"
#include "algorithms/synthesis/exchange_routes.hpp"

namespace athanor {

namespace {

/// Capacities by their greatest common divisor, so that products stay small.
CapacityGraph in_lowest_terms(CapacityGraph graph, std::int64_t& divisor) {
  divisor = 0;
  for (const CapacityLink& link : graph.links) { divisor = std::gcd(divisor, link.capacity); }
  for (CapacityLink& link : graph.links) { link.capacity /= divisor; }
  return graph;
}

Ratio sum(Ratio a, Ratio b) {
  const std::int64_t common = std::gcd(a.denominator, b.denominator);
  return {a.numerator * (b.denominator / common) + b.numerator * (a.denominator / common),
          a.denominator / common * b.denominator};
}

std::string words_of(TreeMethod method) {
  return method == TreeMethod::packed ? "trees packed by flows" : "trees spread link by link";
}

std::vector<std::uint32_t> ranks_outside(const GatherBound& bound, std::uint32_t ranks) {
  std::vector<std::uint32_t> outside;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (!bound.cut[rank]) { outside.push_back(rank); }
  }
  return outside;
}

Synthesis from_trees(CollectiveKind kind, const GatherTrees& trees) {
  const auto table = kind == CollectiveKind::all_gather ? gather_table : reduce_table;
  return {kind,
          std::make_shared<const Table>(table(trees.set, false)),
          std::make_shared<const Table>(table(trees.set, true)),
          trees.set.units,
          words_of(trees.method),
          ranks_outside(trees.bound, trees.set.graph.ranks),
          {trees.bound.inside, trees.bound.capacity},
          trees.time};
}

/// Both halves cut alike: in units of both numbers.
TreeSet in_units(TreeSet set, std::int64_t units) {
  for (SpanningTree& tree : set.trees) { tree.units *= units / set.units; }
  for (CapacityLink& link : set.graph.links) { link.capacity *= units / set.units; }
  set.units = units;
  return set;
}

Synthesis of_both(const GatherTrees& reduce, const GatherTrees& gather) {
  const std::int64_t units = std::lcm(reduce.set.units, gather.set.units);
  const TreeSet up = in_units(reduce.set, units);
  const TreeSet down = in_units(gather.set, units);
  return {CollectiveKind::all_reduce,
          std::make_shared<const Table>(all_reduce_table(up, down, false)),
          std::make_shared<const Table>(all_reduce_table(up, down, true)),
          units,
          words_of(std::max(reduce.method, gather.method)),
          ranks_outside(gather.bound, up.graph.ranks),
          sum({reduce.bound.inside, reduce.bound.capacity}, {gather.bound.inside, gather.bound.capacity}),
          sum(reduce.time, gather.time)};
}

SynthesisResult synthesise_trees(const CapacityGraph& graph, CollectiveKind kind) {
  const bool reduces = kind != CollectiveKind::all_gather;
  const TreeSearch first = find_trees(reduces ? transposed(graph) : graph);
  if (!first.trees) { return {std::nullopt, first.refusal}; }
  if (kind != CollectiveKind::all_reduce) { return {from_trees(kind, *first.trees), ""}; }
  const TreeSearch second = find_trees(graph);
  if (!second.trees) { return {std::nullopt, second.refusal}; }
  return {of_both(*first.trees, *second.trees), ""};
}

SynthesisResult synthesise_exchange(const CapacityGraph& graph) {
  const ExchangeRoutes routes = exchange_routes(graph);
  return {Synthesis{CollectiveKind::all_to_all,
                    std::make_shared<const Table>(exchange_table(routes)),
                    nullptr,
                    1,
                    "routes that avoid full links",
                    {},
                    routes.bound,
                    routes.load},
          ""};
}

Ratio over(Ratio time, std::int64_t divisor) { return product(time, {1, divisor}); }

std::unique_ptr<const Schedule> schedule_of(const Synthesis& synthesis, const Collective& collective,
                                            const Layout& layout) {
  const auto& table = collective.in_place && synthesis.in_place ? synthesis.in_place : synthesis.out_of_place;
  const std::int64_t chunks = collective.ranks * synthesis.units;
  return std::make_unique<TableSchedule>(table, collective.count / chunks, slices_as_chunks(layout).chunk);
}

std::optional<std::string> refuses(const Synthesis& synthesis, const Collective& collective, std::uint32_t ranks) {
  const std::int64_t chunks = ranks * synthesis.units;
  if (collective.ranks != ranks) {
    return fmt::format("it was synthesised for {} ranks, not {}", ranks, collective.ranks);
  }
  if (collective.count % Elements{chunks} != Elements::zero()) {
    return fmt::format("{} elements cannot be cut into its {} equal chunks", collective.count.count(), chunks);
  }
  return std::nullopt;
}

/// What the busiest rank sends and adds.
Cost cost_of(const Synthesis& synthesis, const Collective& collective) {
  const Table& table = *synthesis.out_of_place;
  const Elements chunk = collective.count / (collective.ranks * synthesis.units);
  Cost cost;
  for (std::uint32_t rank = 0; rank < table.ranks(); ++rank) {
    std::int64_t sent = 0;
    std::int64_t added = 0;
    for (std::uint32_t i = table.first_lane[rank]; i < table.first_lane[rank + 1]; ++i) {
      const TableLane& lane = table.lanes[i];
      cost.steps = std::max(cost.steps, lane.steps);
      for (std::uint32_t step = lane.first_step; step < lane.first_step + lane.steps; ++step) {
        if (table.steps[step].sends.count > 0) { sent += table.steps[step].chunks; }
        if (table.steps[step].receives.count > 0 && table.steps[step].operands[0]) {
          added += table.steps[step].chunks;
        }
      }
    }
    cost.sent = std::max(cost.sent, chunk * sent);
    cost.reduced = std::max(cost.reduced, chunk * added);
  }
  return cost;
}

}  // namespace

std::string_view name(TreeMethod method) {
  switch (method) {
    case TreeMethod::packed: return "packed";
    case TreeMethod::spread: return "spread";
  }
  return "";
}

bool can_be_synthesised(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_to_all;
}

SynthesisResult synthesise(const CapacityGraph& graph, CollectiveKind kind) {
  if (!can_be_synthesised(kind)) {
    return {std::nullopt,
            fmt::format("all-gather, reduce-scatter, all-reduce and all-to-all can be synthesised, and {} "
                        "cannot",
                        name(kind))};
  }
  if (graph.ranks < 2) { return {std::nullopt, "one rank has nobody to send to"}; }
  if (const auto pair = unreachable_pair(graph)) {
    return {std::nullopt, fmt::format("rank {} cannot send to rank {} by any links", pair->first, pair->second)};
  }
  std::int64_t divisor = 1;
  const CapacityGraph small = in_lowest_terms(simplified(graph), divisor);
  SynthesisResult result =
      kind == CollectiveKind::all_to_all ? synthesise_exchange(small) : synthesise_trees(small, kind);
  if (result.synthesis) {
    result.synthesis->bound = over(result.synthesis->bound, divisor);
    result.synthesis->time = over(result.synthesis->time, divisor);
  }
  return result;
}

Algorithm as_algorithm(const std::shared_ptr<const Synthesis>& synthesis, std::uint32_t ranks) {
  return {
      .name = std::string(kSynthesised),
      .kind = synthesis->kind,
      .summary = "made for the links of this fabric",
      .formula = "n x the time per byte of the narrowest cut",
      .source = "Zhao et al., ForestColl, arXiv 2402.06787; Won et al., TACOS, MICRO 2024",
      .explanation = "",
      .ranks = fmt::format("{}", ranks),
      .fabrics = "the one that it was made for",
      .pipelines = true,
      .origin = AlgorithmOrigin{"", "", 1},
      .make_for_many = [synthesis](const Collective& collective,
                                   const Layout& layout) { return schedule_of(*synthesis, collective, layout); },
      .granule_for_many = [synthesis, ranks](const Collective&,
                                             const Layout&) { return Elements{ranks * synthesis->units}; },
      .cost_for_many = [synthesis](const Collective& collective) { return cost_of(*synthesis, collective); },
      .refuses_many = [synthesis, ranks](const Collective& collective,
                                         const Layout&) { return refuses(*synthesis, collective, ranks); },
  };
}

}  // namespace athanor
