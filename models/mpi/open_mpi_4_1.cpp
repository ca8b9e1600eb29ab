#include <algorithm>
#include <bit>
#include <vector>

#include "models/mpi/decision_table.hpp"
#include "models/mpi/rules.hpp"
#include "sim/check.hpp"

// The fixed decisions of coll/tuned in Open MPI 4.1, for reductions that commute
// (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, https://github.com/open-mpi/ompi/tree/v4.1.x): measured by its
// authors on several clusters and averaged. What an algorithm makes of too few elements or an odd number of ranks is in
// ompi/mca/coll/base.
namespace athanor {

namespace {

/// Of all bytes.
DecisionTable all_reduce_table() {
  return {{4, {{8, 4}, {4096, 3}, {8192, 4}, {16384, 3}, {65536, 4}, {262144, 5}, {kAnySize, 6}}},
          {8, {{16, 4}, {8192, 3}, {kAnySize, 6}}},
          {16, {{8192, 3}, {kAnySize, 6}}},
          {32, {{64, 5}, {4096, 3}, {kAnySize, 6}}},
          {64, {{128, 5}, {kAnySize, 6}}},
          {128, {{262144, 3}, {kAnySize, 6}}},
          {256, {{131072, 2}, {262144, 3}, {kAnySize, 6}}},
          {512, {{4096, 2}, {kAnySize, 6}}},
          {2048, {{2048, 2}, {16384, 3}, {kAnySize, 6}}},
          {4096, {{2048, 2}, {4096, 5}, {16384, 3}, {kAnySize, 6}}},
          {kAnyRanks, {{2048, 2}, {16384, 5}, {32768, 3}, {kAnySize, 6}}}};
}

/// Of the bytes for one other rank.
DecisionTable all_to_all_table() {
  return {
      {3,
       {{2, 2}, {4, 5}, {16, 2}, {64, 5}, {256, 2}, {4096, 5}, {32768, 2}, {262144, 4}, {1048576, 5}, {kAnySize, 2}}},
      {8, {{8192, 4}, {16384, 1}, {65536, 4}, {524288, 1}, {1048576, 2}, {kAnySize, 1}}},
      {16, {{262144, 4}, {kAnySize, 1}}},
      {32, {{4, 4}, {512, 3}, {8192, 4}, {32768, 1}, {262144, 4}, {524288, 1}, {kAnySize, 4}}},
      {64, {{512, 3}, {524288, 1}, {kAnySize, 4}}},
      {128, {{1024, 3}, {2048, 1}, {4096, 4}, {262144, 1}, {kAnySize, 2}}},
      {256, {{1024, 3}, {2048, 4}, {262144, 1}, {kAnySize, 2}}},
      {512, {{1024, 3}, {8192, 4}, {32768, 1}, {kAnySize, 2}}},
      {1024, {{512, 3}, {8192, 4}, {16384, 1}, {131072, 4}, {262144, 1}, {kAnySize, 2}}},
      {2048, {{512, 3}, {1024, 4}, {2048, 1}, {16384, 4}, {262144, 1}, {kAnySize, 4}}},
      {4096, {{1024, 3}, {4096, 4}, {8192, 1}, {131072, 4}, {kAnySize, 1}}},
      {kAnyRanks, {{2048, 3}, {8192, 4}, {16384, 1}, {32768, 4}, {65536, 1}, {kAnySize, 4}}}};
}

/// By ranks alone.
DecisionTable barrier_table() {
  return {{4, {{kAnySize, 3}}},   {8, {{kAnySize, 1}}},    {64, {{kAnySize, 3}}},   {256, {{kAnySize, 4}}},
          {512, {{kAnySize, 6}}}, {1024, {{kAnySize, 4}}}, {4096, {{kAnySize, 6}}}, {kAnyRanks, {{kAnySize, 4}}}};
}

/// Of all bytes.
DecisionTable broadcast_table() {
  return {{4,
           {{32, 3},
            {256, 5},
            {512, 3},
            {1024, 7},
            {32768, 1},
            {131072, 5},
            {262144, 2},
            {524288, 1},
            {1048576, 6},
            {kAnySize, 5}}},
          {8, {{64, 5}, {128, 6}, {2048, 5}, {8192, 6}, {1048576, 1}, {kAnySize, 2}}},
          {16, {{8, 7}, {64, 5}, {4096, 7}, {16384, 5}, {32768, 6}, {kAnySize, 1}}},
          {32, {{4096, 7}, {1048576, 6}, {kAnySize, 8}}},
          {64, {{2048, 6}, {kAnySize, 7}}},
          {128, {{kAnySize, 7}}},
          {256, {{2, 6}, {16384, 5}, {32768, 1}, {65536, 5}, {kAnySize, 7}}},
          {1024, {{16384, 7}, {32768, 4}, {kAnySize, 7}}},
          {2048, {{524288, 7}, {kAnySize, 8}}},
          {4096, {{262144, 7}, {kAnySize, 8}}},
          {kAnyRanks, {{8192, 7}, {16384, 5}, {262144, 7}, {kAnySize, 8}}}};
}

/// Of all bytes.
DecisionTable reduce_table() {
  return {{4, {{8, 7}, {16, 4}, {32, 3}, {262144, 1}, {524288, 3}, {1048576, 2}, {kAnySize, 3}}},
          {8, {{4096, 4}, {65536, 2}, {262144, 5}, {524288, 1}, {1048576, 5}, {kAnySize, 1}}},
          {16, {{8192, 4}, {kAnySize, 5}}},
          {32, {{4096, 4}, {kAnySize, 5}}},
          {256, {{kAnySize, 5}}},
          {512, {{8192, 5}, {16384, 6}, {kAnySize, 5}}},
          {2048, {{kAnySize, 5}}},
          {4096, {{512, 5}, {1024, 6}, {8192, 5}, {16384, 6}, {kAnySize, 5}}},
          {kAnyRanks, {{16, 5}, {32, 6}, {1024, 5}, {2048, 6}, {8192, 5}, {16384, 6}, {kAnySize, 5}}}};
}

/// Of all bytes (MPI_Reduce_scatter).
DecisionTable reduce_scatter_table() {
  return {{4, {{65536, 3}, {131072, 4}, {kAnySize, 3}}},
          {8, {{8, 1}, {262144, 2}, {kAnySize, 3}}},
          {32, {{262144, 2}, {kAnySize, 3}}},
          {64, {{64, 1}, {2048, 2}, {524288, 4}, {kAnySize, 3}}},
          {128, {{256, 1}, {512, 2}, {2048, 4}, {4096, 2}, {kAnySize, 4}}},
          {256, {{256, 1}, {512, 2}, {kAnySize, 4}}},
          {512, {{256, 1}, {1024, 2}, {kAnySize, 4}}},
          {1024, {{512, 1}, {2048, 2}, {8192, 4}, {16384, 2}, {kAnySize, 4}}},
          {2048, {{512, 1}, {4096, 2}, {16384, 4}, {32768, 2}, {kAnySize, 4}}},
          {4096, {{512, 1}, {4096, 2}, {kAnySize, 4}}},
          {kAnyRanks, {{1024, 1}, {8192, 2}, {kAnySize, 4}}}};
}

/// Of the bytes of one rank.
DecisionTable all_gather_table() {
  return {{3, {{kAnySize, 6}}},
          {32, {{kAnySize, 3}}},
          {64, {{1024, 3}, {65536, 5}, {kAnySize, 4}}},
          {128, {{512, 3}, {65536, 5}, {kAnySize, 4}}},
          {256, {{512, 3}, {131072, 5}, {524288, 4}, {1048576, 5}, {kAnySize, 4}}},
          {512, {{32, 3}, {128, 2}, {1024, 3}, {131072, 5}, {524288, 4}, {1048576, 5}, {kAnySize, 4}}},
          {1024, {{64, 3}, {256, 2}, {2048, 3}, {kAnySize, 5}}},
          {2048, {{4, 3}, {8, 2}, {16, 3}, {32, 2}, {256, 3}, {512, 2}, {4096, 3}, {kAnySize, 5}}},
          {4096, {{32, 2}, {128, 3}, {512, 2}, {4096, 3}, {kAnySize, 5}}},
          {kAnyRanks, {{2, 3}, {8, 2}, {16, 3}, {512, 2}, {4096, 3}, {kAnySize, 5}}}};
}

/// Of the bytes of one rank.
DecisionTable gather_table() {
  return {{4, {{2, 3}, {4, 1}, {32768, 2}, {65536, 1}, {131072, 2}, {kAnySize, 3}}},
          {8, {{1024, 2}, {8192, 1}, {32768, 2}, {262144, 1}, {kAnySize, 3}}},
          {256, {{kAnySize, 2}}},
          {512, {{2048, 2}, {8192, 1}, {kAnySize, 2}}},
          {kAnyRanks, {{kAnySize, 2}}}};
}

/// Of the bytes of one rank.
DecisionTable scatter_table() {
  return {{4, {{2, 3}, {131072, 1}, {262144, 3}, {kAnySize, 1}}},
          {8, {{2048, 2}, {4096, 1}, {8192, 2}, {32768, 1}, {1048576, 3}, {kAnySize, 1}}},
          {16, {{16384, 2}, {1048576, 3}, {kAnySize, 1}}},
          {32, {{16384, 2}, {32768, 1}, {kAnySize, 3}}},
          {64, {{512, 2}, {8192, 3}, {16384, 2}, {kAnySize, 3}}},
          {kAnyRanks, {{512, 2}, {kAnySize, 3}}}};
}

using Numbered = std::vector<NumberedAlgorithm>;

Numbered all_reduces() {
  return {{1, "basic_linear", "parameter_server"},
          {2, "nonoverlapping", ""},
          {3, "recursive_doubling", "recursive_doubling"},
          {4, "ring", "ring"},
          {5, "segmented_ring", "ring"},
          {6, "rabenseifner", "halving_doubling"}};
}
/// All requests of linear_sync are outstanding at once unless a user limits them.
Numbered all_to_alls() {
  return {{1, "linear", "direct"},
          {2, "pairwise", "pairwise"},
          {3, "modified_bruck", "bruck"},
          {4, "linear_sync", "direct"},
          {5, "two_proc", "pairwise"}};
}
Numbered barriers() {
  return {{1, "linear", ""}, {3, "recursive_doubling", ""}, {4, "bruck", "dissemination"}, {6, "tree", "tree"}};
}
/// Without a segment size a pipeline is a chain; so is a chain, whose fan-out is 1.
Numbered broadcasts() {
  return {{1, "basic_linear", ""},        {2, "chain", "ring"},        {3, "pipeline", "ring"},
          {4, "split_binary_tree", ""},   {5, "binary_tree", ""},      {6, "binomial", "binomial_tree"},
          {7, "knomial", "knomial_tree"}, {8, "scatter_allgather", ""}};
}
Numbered reduces() {
  return {{1, "linear", ""},
          {2, "chain", "ring"},
          {3, "pipeline", "ring"},
          {4, "binary", ""},
          {5, "binomial", "binomial_tree"},
          {6, "in-order_binary", ""},
          {7, "rabenseifner", "reduce_scatter_gather"}};
}
Numbered reduce_scatters() {
  return {{1, "non-overlapping", ""},
          {2, "recursive_halving", "recursive_halving"},
          {3, "ring", "ring"},
          {4, "butterfly", ""}};
}
Numbered all_gathers() {
  return {{2, "bruck", "bruck"},
          {3, "recursive_doubling", "recursive_doubling"},
          {4, "ring", "ring"},
          {5, "neighbor", ""},
          {6, "two_proc", "ring"}};
}
Numbered gathers() { return {{1, "basic_linear", "linear"}, {2, "binomial", "binomial_tree"}, {3, "linear_sync", ""}}; }
Numbered scatters() {
  return {{1, "basic_linear", "linear"}, {2, "binomial", "binomial_tree"}, {3, "linear_nb", "linear"}};
}

MpiChoice named(const Numbered& algorithms, std::uint8_t number) {
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [&](const NumberedAlgorithm& each) { return each.number == number; });
  require(found != algorithms.end(), "no algorithm {} in a table of Open MPI", number);
  return {found->own, found->algorithm};
}

MpiChoice broadcast(const MpiCall& call) {
  return named(broadcasts(), decide(broadcast_table(), call.ranks, call.payload.count()));
}
MpiChoice reduce(const MpiCall& call) {
  MpiChoice choice = named(reduces(), decide(reduce_table(), call.ranks, call.payload.count()));
  const bool few = elements_of(call) < std::bit_floor(call.ranks);
  return choice.own == "rabenseifner" && few ? named(reduces(), 1) : choice;
}

/// A reduce to rank 0 and a broadcast from it, each as these are decided.
MpiChoice reduce_and_broadcast(const MpiCall& call) {
  const MpiChoice up = reduce(call);
  const MpiChoice down = broadcast(call);
  MpiChoice choice{"nonoverlapping (" + up.own + " reduce, " + down.own + " broadcast)", ""};
  if (up.algorithm == "binomial_tree" && down.algorithm == "binomial_tree") { choice.algorithm = "binomial_tree"; }
  if (up.algorithm == "binomial_tree" && down.algorithm == "knomial_tree") {
    choice.algorithm = "binomial_knomial_tree";
  }
  return choice;
}

MpiChoice all_reduce(const MpiCall& call) {
  const std::uint8_t number = decide(all_reduce_table(), call.ranks, call.payload.count());
  MpiChoice choice = named(all_reduces(), number);
  if (choice.own == "nonoverlapping") { return reduce_and_broadcast(call); }
  if (choice.algorithm == "ring" && elements_of(call) < call.ranks) { return named(all_reduces(), 3); }
  const bool few = elements_of(call) < std::bit_floor(call.ranks);
  return choice.own == "rabenseifner" && few ? named(all_reduces(), 1) : choice;
}

MpiChoice all_gather(const MpiCall& call) {
  const MpiChoice choice = named(all_gathers(), decide(all_gather_table(), call.ranks, block_of(call).count()));
  if (choice.own == "recursive_doubling" && !std::has_single_bit(call.ranks)) { return named(all_gathers(), 2); }
  if (choice.own == "neighbor" && call.ranks % 2 == 1) { return named(all_gathers(), 4); }
  return choice;
}

MpiChoice choose(const MpiCall& call) {
  const std::int64_t block = block_of(call).count();
  switch (call.kind) {
    case CollectiveKind::all_reduce: return all_reduce(call);
    case CollectiveKind::reduce_scatter:
      return named(reduce_scatters(), decide(reduce_scatter_table(), call.ranks, call.payload.count()));
    case CollectiveKind::all_gather: return all_gather(call);
    case CollectiveKind::broadcast: return broadcast(call);
    case CollectiveKind::reduce: return reduce(call);
    case CollectiveKind::all_to_all: return named(all_to_alls(), decide(all_to_all_table(), call.ranks, block));
    case CollectiveKind::gather: return named(gathers(), decide(gather_table(), call.ranks, block));
    case CollectiveKind::scatter: return named(scatters(), decide(scatter_table(), call.ranks, block));
    case CollectiveKind::barrier: return named(barriers(), decide(barrier_table(), call.ranks, 0));
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::send_receive: break;
  }
  return {};
}

}  // namespace

MpiRules open_mpi_4_1() { return {"open-mpi", "4.1", choose}; }

}  // namespace athanor
