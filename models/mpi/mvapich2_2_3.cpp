#include <bit>
#include <cstdint>
#include <string>

#include "models/mpi/decision_table.hpp"
#include "models/mpi/mvapich2_tables.hpp"
#include "models/mpi/rules.hpp"

// The choice of MVAPICH2 2.3.7 over InfiniBand EDR or HDR (its channel "mrail", src/mpi/coll/*_osu.c and *_tuning.c,
// https://github.com/kumattau/mvapich2), its variables MV2_... as they come: no SHARP, no multicast, no GPU. Ranks lie
// block by block on nodes. What it does in shared memory is set up by the sixteenth call at the latest.
namespace athanor {

namespace {

constexpr std::int64_t kKiB = 1024;

bool one_per_node(const MpiCall& call) { return call.most_ranks_per_node == 1; }

/// Small ones are decided before any table, where all nodes have as many ranks.
bool small(const MpiCall& call, Bytes bytes) { return call.uniform && bytes <= Bytes{kKiB}; }

bool fewer_than_halves(const MpiCall& call) { return elements_of(call) < std::bit_floor(call.ranks); }

/// Within nodes, and by `own` between them; with one rank on a node `own` alone.
MpiChoice by_nodes(const MpiCall& call, const MpiChoice& between) {
  return one_per_node(call) ? between : MpiChoice{"two_level (" + between.own + " between nodes)", ""};
}

MpiChoice reduce_scatter_all_gather(const MpiCall& call) {
  return {"pt2pt_rs", fewer_than_halves(call) ? "recursive_doubling" : "halving_doubling"};
}

/// MPI_Reduce_scatter, of all bytes: basic 1, recursive halving 2, pairwise 3, ring 4. Of more than 64 ranks only two
/// bands count.
DecisionTable reduce_scatter_table() {
  return {{9, {{257, 1}, {16'385, 2}, {65'537, 3}, {kAnySize, 4}}},
          {17, {{65, 1}, {65'537, 2}, {kAnySize, 4}}},
          {33, {{65, 1}, {kAnySize, 2}}},
          {65, {{1025, 1}, {kAnySize, 2}}},
          {257, {{129, 1}, {kAnySize, 2}}},
          {kAnyRanks, {{257, 1}, {kAnySize, 2}}}};
}

MpiChoice reduce_scatter(const MpiCall& call) {
  const MpiChoice ring{"ring_2lvl", "ring", Bytes{1024 * kKiB}};
  if (call.payload >= Bytes{128 * kKiB}) { return ring; }
  switch (decide(reduce_scatter_table(), call.ranks, call.payload.count())) {
    case 1: return {"basic", ""};
    case 2: return {"recursive_halving", "recursive_halving"};
    case 3: return {"pairwise", ""};
    default: return ring;
  }
}

/// In "rd_allgather_comm" the ranks of all nodes with the same place on them come after each other.
MpiChoice all_gather(const MpiCall& call) {
  const bool in_order = one_per_node(call) || call.most_ranks_per_node == call.ranks || !call.uniform;
  const char* doubling = std::has_single_bit(call.ranks) ? "recursive_doubling" : "";
  switch (letter_of(mvapich2_all_gather(), call, block_of(call))) {
    case 'd': return {"rd", doubling};
    case 'c': return {"rd_allgather_comm", in_order ? doubling : ""};
    case 'b': return {"bruck", "bruck"};
    default: return {"ring", "ring"};
  }
}

/// Large ones of many ranks on a node: two collectives, each as it is decided. MPI_Allgatherv, which gathers unlike
/// blocks, has rules that are not known here.
MpiChoice two_collectives(const MpiCall& call) {
  const MpiChoice scattered = reduce_scatter(call);
  const MpiChoice gathered = all_gather(call);
  const bool ring = scattered.algorithm == "ring" && gathered.algorithm == "ring";
  if (elements_of(call) % call.ranks != 0) {
    return {scattered.own + " reduce_scatter, all_gather of unlike blocks", ""};
  }
  return {scattered.own + " reduce_scatter, " + gathered.own + " all_gather", ring ? "ring" : ""};
}

MpiChoice large_all_reduce(const MpiCall& call) {
  if (elements_of(call) < call.ranks) { return reduce_scatter_all_gather(call); }
  return call.most_ranks_per_node <= 8 ? MpiChoice{"pt2pt_ring", "ring"} : two_collectives(call);
}

MpiChoice all_reduce(const MpiCall& call) {
  const MpiChoice doubling{"pt2pt_rd", "recursive_doubling"};
  if (call.uniform && call.payload <= Bytes{2 * kKiB}) {
    return one_per_node(call) ? doubling : MpiChoice{"topo_aware_hierarchical", ""};
  }
  if (call.uniform && call.payload >= Bytes{2048 * kKiB}) { return large_all_reduce(call); }
  switch (letter_of(mvapich2_all_reduce(), call, call.payload)) {
    case 'd': return doubling;
    case 'D': return by_nodes(call, doubling);
    case 's': return reduce_scatter_all_gather(call);
    case 'S': return by_nodes(call, reduce_scatter_all_gather(call));
    default: return elements_of(call) < call.ranks ? reduce_scatter_all_gather(call) : MpiChoice{"pt2pt_ring", "ring"};
  }
}

/// "rd" gathers all blocks everywhere, and leaves more than 512 bytes of a rank to pairwise.
MpiChoice all_to_all(const MpiCall& call) {
  const Bytes block = block_of(call);
  const std::int64_t all = block.count() * call.ranks;
  if (small(call, block)) {
    const bool doubled = all < 512 && call.most_ranks_per_node < 16 && block < Bytes{32};
    return doubled ? MpiChoice{"rd", ""} : MpiChoice{"bruck", "bruck"};
  }
  const MpiChoice pairwise{"pairwise", "pairwise"};
  switch (letter_of(mvapich2_all_to_all(), call, block)) {
    case 'r': return all > 512 ? pairwise : MpiChoice{"rd", ""};
    case 'b': return {"bruck", "bruck"};
    case 's': return {"scatter_dest", "direct"};
    default: return pairwise;
  }
}

/// Up to 1 KiB through slots that leaders write into each other's memory. What several ranks on a node do with more is
/// not known here.
MpiChoice broadcast(const MpiCall& call) {
  if (small(call, call.payload)) { return by_nodes(call, {"pipelined_zcpy", ""}); }
  if (!one_per_node(call)) { return {}; }
  switch (letter_of(mvapich2_broadcast(), call, call.payload)) {
    case 'b': return {"binomial", "binomial_tree"};
    case 'k': return {"knomial", "knomial_tree"};
    case 'r': return {"scatter_ring_allgather", "scatter_all_gather"};
    case 's': return {"scatter_ring_allgather_shm", ""};
    case 'd': return {"scatter_doubling_allgather", ""};
    case 'p': return {"pipelined", ""};
    default: return {"pipelined_zcpy", ""};
  }
}

/// As broadcast, up to 8 KiB.
MpiChoice reduce(const MpiCall& call) {
  if (small(call, call.payload)) { return by_nodes(call, {"zcpy", ""}); }
  if (!one_per_node(call)) { return {}; }
  if (call.payload <= Bytes{8 * kKiB}) { return {"zcpy", ""}; }
  const MpiChoice binomial{"binomial", "binomial_tree"};
  switch (letter_of(mvapich2_reduce(), call, call.payload)) {
    case 'b': return binomial;
    case 'g': return fewer_than_halves(call) ? binomial : MpiChoice{"redscat_gather", "reduce_scatter_gather"};
    default: return {"inter_knomial", ""};
  }
}

/// By nodes only where all have as many ranks.
MpiChoice scatter(const MpiCall& call) {
  const MpiChoice binomial{"binomial", "binomial_tree"};
  switch (letter_of(mvapich2_scatter(), call, block_of(call))) {
    case 'b': return binomial;
    case 'B': return call.uniform ? by_nodes(call, binomial) : binomial;
    case 'D': return call.uniform ? by_nodes(call, {"direct", "linear"}) : binomial;
    default: return {"direct", "linear"};
  }
}

MpiChoice choose(const MpiCall& call) {
  switch (call.kind) {
    case CollectiveKind::all_reduce: return all_reduce(call);
    case CollectiveKind::reduce_scatter: return reduce_scatter(call);
    case CollectiveKind::all_gather: return all_gather(call);
    case CollectiveKind::broadcast: return broadcast(call);
    case CollectiveKind::reduce: return reduce(call);
    case CollectiveKind::all_to_all: return all_to_all(call);
    // Its table is of ranks that are not block by block; these go by MPICH's tree.
    case CollectiveKind::gather: return call.uniform ? MpiChoice{"binomial", "binomial_tree"} : MpiChoice{};
    case CollectiveKind::scatter: return scatter(call);
    case CollectiveKind::barrier: return by_nodes(call, {"pairwise", ""});
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::send_receive: break;
  }
  return {};
}

}  // namespace

MpiRules mvapich2_2_3() {
  return {"mvapich2", "2.3", choose, "as over InfiniBand EDR or HDR, by the tables of processors without their own"};
}

}  // namespace athanor
