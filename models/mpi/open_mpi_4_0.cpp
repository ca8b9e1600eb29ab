#include <bit>
#include <cstdint>

#include "models/mpi/rules.hpp"

// The fixed decisions of coll/tuned in Open MPI 4.0, for reductions that commute
// (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, https://github.com/open-mpi/ompi/tree/v4.0.x): found on a cluster
// with Myrinet of up to 64 nodes, and the same since release 1.3. A line a x bytes + b separates some of them.
namespace athanor {

namespace {

constexpr std::int64_t kKiB = 1024;

/// Whether there are more ranks than the line has for so many bytes.
bool above(const MpiCall& call, double slope, double intercept) {
  return call.ranks > slope * static_cast<double>(call.payload.count()) + intercept;
}

MpiChoice chain(std::int64_t segment) { return {"pipeline", "ring", Bytes{segment}}; }

MpiChoice broadcast(const MpiCall& call) {
  const std::int64_t bytes = call.payload.count();
  if (bytes < 2048 || elements_of(call) <= 1) { return {"binomial", "binomial_tree"}; }
  if (bytes < 370'728) { return {"split_bintree", "", Bytes{kKiB}}; }
  const auto below = [&](double slope, double intercept) {
    return call.ranks < slope * static_cast<double>(bytes) + intercept;
  };
  if (below(1.6134e-6, 2.1102)) { return chain(128 * kKiB); }
  if (call.ranks < 13) { return {"split_bintree", "", Bytes{8 * kKiB}}; }
  if (below(2.3679e-6, 1.1787)) { return chain(64 * kKiB); }
  return chain((below(3.2118e-6, 8.7936) ? 16 : 8) * kKiB);
}

MpiChoice reduce(const MpiCall& call) {
  const std::int64_t bytes = call.payload.count();
  const bool few = call.ranks < 8;
  if (few && bytes < 512) { return {"basic_linear", ""}; }
  if ((few && bytes < 20'480) || bytes < 2048 || elements_of(call) <= 1) { return {"binomial", "binomial_tree"}; }
  if (above(call, 0.6016 / kKiB, 1.3496)) { return {"binomial", "binomial_tree", Bytes{kKiB}}; }
  if (above(call, 0.0410 / kKiB, 9.7128)) { return chain(kKiB); }
  if (above(call, 0.0422 / kKiB, 1.1614)) { return {"binary", "", Bytes{32 * kKiB}}; }
  return chain((above(call, 0.0033 / kKiB, 1.6761) ? 32 : 64) * kKiB);
}

MpiChoice all_reduce(const MpiCall& call) {
  constexpr std::int64_t kSegment = 1024 * kKiB;
  if (call.payload < Bytes{10'000}) { return {"recursive_doubling", "recursive_doubling"}; }
  if (elements_of(call) > call.ranks) {
    const bool whole = call.payload.count() <= kSegment * call.ranks;
    return whole ? MpiChoice{"ring", "ring"} : MpiChoice{"segmented_ring", "ring", Bytes{kSegment}};
  }
  return {"nonoverlapping (" + reduce(call).own + " reduce, " + broadcast(call).own + " broadcast)", ""};
}

MpiChoice all_to_all(const MpiCall& call) {
  if (call.ranks == 2) { return {"two_proc", "pairwise"}; }
  const std::int64_t block = block_of(call).count();
  if (block < 200 && call.ranks > 12) { return {"bruck", "bruck"}; }
  return block < 3000 ? MpiChoice{"basic_linear", "direct"} : MpiChoice{"pairwise", "pairwise"};
}

MpiChoice all_gather(const MpiCall& call) {
  if (call.ranks == 2) { return {"two_proc", "ring"}; }
  if (Bytes{block_of(call).count() * call.ranks} < Bytes{50'000}) {
    return std::has_single_bit(call.ranks) ? MpiChoice{"recursive_doubling", "recursive_doubling"}
                                           : MpiChoice{"bruck", "bruck"};
  }
  return call.ranks % 2 == 1 ? MpiChoice{"ring", "ring"} : MpiChoice{"neighbor", ""};
}

MpiChoice reduce_scatter(const MpiCall& call) {
  const std::int64_t bytes = call.payload.count();
  const bool halves = bytes <= 12 * kKiB || (bytes <= 256 * kKiB && std::has_single_bit(call.ranks)) ||
                      call.ranks >= 0.0012 * static_cast<double>(bytes) + 8;
  return halves ? MpiChoice{"recursive_halving", "recursive_halving"} : MpiChoice{"ring", "ring"};
}

MpiChoice gather(const MpiCall& call) {
  const std::int64_t block = block_of(call).count();
  if (block > 6000) { return {"linear_sync", ""}; }
  const bool tree = call.ranks > 60 || (call.ranks > 10 && block < 1024);
  return tree ? MpiChoice{"binomial", "binomial_tree"} : MpiChoice{"basic_linear", "linear"};
}

MpiChoice scatter(const MpiCall& call) {
  const bool tree = call.ranks > 10 && block_of(call) < Bytes{300};
  return tree ? MpiChoice{"binomial", "binomial_tree"} : MpiChoice{"basic_linear", "linear"};
}

MpiChoice barrier(const MpiCall& call) {
  if (call.ranks == 2) { return {"two_proc", "dissemination"}; }
  return std::has_single_bit(call.ranks) ? MpiChoice{"recursive_doubling", ""} : MpiChoice{"bruck", "dissemination"};
}

MpiChoice choose(const MpiCall& call) {
  switch (call.kind) {
    case CollectiveKind::all_reduce: return all_reduce(call);
    case CollectiveKind::reduce_scatter: return reduce_scatter(call);
    case CollectiveKind::all_gather: return all_gather(call);
    case CollectiveKind::broadcast: return broadcast(call);
    case CollectiveKind::reduce: return reduce(call);
    case CollectiveKind::all_to_all: return all_to_all(call);
    case CollectiveKind::gather: return gather(call);
    case CollectiveKind::scatter: return scatter(call);
    case CollectiveKind::barrier: return barrier(call);
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::send_receive: break;
  }
  return {};
}

}  // namespace

MpiRules open_mpi_4_0() { return {"open-mpi", "4.0", choose}; }

}  // namespace athanor
