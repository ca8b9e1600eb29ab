#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/catalog.hpp"
#include "algorithms/synthesis/capacity_graph.hpp"
#include "algorithms/synthesis/exchange_routes.hpp"
#include "algorithms/synthesis/gather_bound.hpp"
#include "algorithms/synthesis/tree_tables.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// How trees were found.
enum class TreeMethod : std::uint8_t {
  packed,  ///< by flows: none are faster
  spread,  ///< link by link in time
};

std::string_view name(TreeMethod method);

/// Trees for an all-gather.
struct GatherTrees {
  TreeSet set;
  GatherBound bound;
  Ratio time;  ///< of one unit of every rank's data, in units of 1 / capacity, when links are full all the time
  TreeMethod method = TreeMethod::packed;

  /// How much of the throughput is reached that the narrowest cut allows: at most 1.
  double reached() const;
};

/// The trees, or why there are none, in words.
struct TreeSearch {
  std::optional<GatherTrees> trees;
  std::string refusal;
};

/// Trees within a few percent of the bound, in as few units as that takes: for each number of units, the capacities are
/// rounded down to whole units for the shortest time at which they still hold the trees (ForestColl's fixed number of
/// trees), switches are taken out, and trees packed, or of more than kCarefulRanks ranks spread.
/// Requires two ranks at least.
TreeSearch find_trees(const CapacityGraph& graph);

/// An algorithm for one collective on one graph.
struct Synthesis {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::shared_ptr<const Table> out_of_place;
  std::shared_ptr<const Table> in_place;  ///< none of all-to-all
  std::int64_t units = 1;                 ///< into which a rank's part is cut
  std::string method;                     ///< "trees packed by flows", ...
  /// The ranks that all others' data have to enter by the narrowest cut (reduce-scatter: that their share of all sums
  /// has to leave); of all-reduce those of its gathering; none of all-to-all.
  std::vector<std::uint32_t> behind_cut;
  /// For a unit of data that each rank contributes or gets (all-to-all: that each pair exchanges), in 1 / capacity:
  Ratio
      bound;  ///< the least time of any algorithm of this form (all-reduce: reducing and gathering one after the other)
  Ratio time;  ///< with links full all the time
};

struct SynthesisResult {
  std::optional<Synthesis> synthesis;
  std::string refusal;
};

/// Whether there is a way to write an algorithm for it.
bool can_be_synthesised(CollectiveKind kind);

/// For all-gather, reduce-scatter (trees of the transposed graph, upwards), all-reduce (both, each part's sum being
/// gathered as soon as it is complete) and all-to-all (routes). The refusal says why there is none: ranks that do not
/// reach each other, one rank, another collective.
SynthesisResult synthesise(const CapacityGraph& graph, CollectiveKind kind);

constexpr std::string_view kSynthesised = "synthesised";

/// As an algorithm of that name, for the ranks of its graph.
Algorithm as_algorithm(const std::shared_ptr<const Synthesis>& synthesis, std::uint32_t ranks);

}  // namespace athanor
