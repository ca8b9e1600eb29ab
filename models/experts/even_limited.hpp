#pragma once

#include <cstdint>

namespace athanor {

/// Equal experts, of which tokens reach a limited number of nodes.
struct EvenLimited {
  std::uint32_t nodes = 1;
  std::uint32_t ranks_per_node = 1;
  std::uint32_t experts_per_rank = 1;
  std::uint32_t chosen = 1;
  std::uint32_t most_nodes = 1;
  double kept = 1;  ///< share of choices that are not dropped, each by itself
};

/// How many different nodes and ranks a token reaches on average.
struct ReachOfToken {
  double nodes = 0;
  double ranks = 0;
};

/// Scores of experts are drawn alike, so that going down from the best one, whichever is next is any of those left: a
/// node is kept whose best expert comes before the best of all but `most_nodes` - 1 others, and experts of other nodes
/// are passed over. What counts is how many experts each kept node has among those chosen; the chain of these counts is
/// followed exactly.
ReachOfToken reach_of(const EvenLimited& routing);

}  // namespace athanor
