#include <bit>
#include <cstdint>

#include "models/mpi/rules.hpp"

// The automatic choice of MPICH 3.2 (src/mpi/coll, https://github.com/pmodels/mpich/tree/v3.2; its variables
// MPIR_CVAR_..._MSG_SIZE as they come), which is that of Thakur, Rabenseifner and Gropp, Optimization of collective
// communication operations in MPICH, 2005.
namespace athanor {

namespace {

/// With several ranks on a node of several, the reducing and rooted ones go by nodes first.
bool by_nodes(const MpiCall& call) { return call.most_ranks_per_node > 1 && call.most_ranks_per_node < call.ranks; }

MpiChoice all_reduce(const MpiCall& call) {
  if (by_nodes(call)) { return {"smp", ""}; }
  const bool few = elements_of(call) < std::bit_floor(call.ranks);
  if (call.payload <= Bytes{2048} || few) { return {"recursive_doubling", "recursive_doubling"}; }
  return {"reduce_scatter_allgather", "halving_doubling"};
}

MpiChoice reduce(const MpiCall& call) {
  if (by_nodes(call)) { return {"smp", ""}; }
  const bool few = elements_of(call) < std::bit_floor(call.ranks);
  if (call.payload <= Bytes{2048} || few) { return {"binomial", "binomial_tree"}; }
  return {"reduce_scatter_gather", "reduce_scatter_gather"};
}

MpiChoice broadcast(const MpiCall& call) {
  const bool small = call.payload < Bytes{12'288} || call.ranks < 8;
  const bool middle = call.payload < Bytes{524'288} && std::has_single_bit(call.ranks);
  if (by_nodes(call) && (small || middle)) { return {"smp", ""}; }
  if (small) { return {"binomial", "binomial_tree"}; }
  return middle ? MpiChoice{"scatter_recursive_doubling_allgather", ""}
                : MpiChoice{"scatter_ring_allgather", "scatter_all_gather"};
}

MpiChoice all_gather(const MpiCall& call) {
  if (call.payload < Bytes{524'288} && std::has_single_bit(call.ranks)) {
    return {"recursive_doubling", "recursive_doubling"};
  }
  return call.payload < Bytes{81'920} ? MpiChoice{"brucks", "bruck"} : MpiChoice{"ring", "ring"};
}

MpiChoice all_to_all(const MpiCall& call) {
  if (block_of(call) <= Bytes{256} && call.ranks >= 8) { return {"brucks", "bruck"}; }
  return block_of(call) <= Bytes{32'768} ? MpiChoice{"scattered", "direct"} : MpiChoice{"pairwise", "pairwise"};
}

MpiChoice reduce_scatter(const MpiCall& call) {
  return call.payload < Bytes{524'288} ? MpiChoice{"recursive_halving", "recursive_halving"}
                                       : MpiChoice{"pairwise", ""};
}

MpiChoice choose(const MpiCall& call) {
  switch (call.kind) {
    case CollectiveKind::all_reduce: return all_reduce(call);
    case CollectiveKind::reduce_scatter: return reduce_scatter(call);
    case CollectiveKind::all_gather: return all_gather(call);
    case CollectiveKind::broadcast: return broadcast(call);
    case CollectiveKind::reduce: return reduce(call);
    case CollectiveKind::all_to_all: return all_to_all(call);
    case CollectiveKind::gather:
    case CollectiveKind::scatter: return {"binomial", "binomial_tree"};
    case CollectiveKind::barrier:
      return by_nodes(call) ? MpiChoice{"smp", ""} : MpiChoice{"dissemination", "dissemination"};
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::send_receive: break;
  }
  return {};
}

}  // namespace

MpiRules mpich_3_2() { return {"mpich", "3.2", choose}; }

}  // namespace athanor
