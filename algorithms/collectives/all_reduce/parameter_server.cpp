#include "algorithms/patterns/parameter_server.hpp"

namespace athanor {

namespace {

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<ParameterServer>(collective, layout, ParameterServer::Host::rank);
}

Cost cost(const Collective& collective) {
  const Elements served = collective.count * (collective.ranks - 1);
  return {2, served, served};
}

}  // namespace

Algorithm parameter_server_all_reduce() {
  return {
      .name = "parameter_server",
      .kind = CollectiveKind::all_reduce,
      .summary = "rank 0, a worker itself, adds up what all others send and answers them; its link carries all twice",
      .formula =
          "2 alpha + 2 (P-1) n beta + (P-1) n gamma; with many chunks pushes and pulls overlap: towards (P-1) n beta",
      .source = "Li et al., Scaling distributed machine learning with the parameter server, 2014",
      .explanation =
          "Rank 0 is a server: all others push their vector to it, it adds them up and answers each. Two steps, but "
          "all traffic goes through the link of one rank, first in, then out.",
      .ranks = "any number of ranks",
      .fabrics = "few workers; shows what a ring saves, and the incast at a server",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
