#include "algorithms/patterns/parameter_server.hpp"

namespace athanor {

namespace {

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<ParameterServer>(collective, layout, ParameterServer::Host::own);
}

/// The server adds, not the ranks; but its answers are P messages, one after the other where it has one port.
Cost cost(const Collective& collective) { return {2, collective.count, Elements::zero()}; }

}  // namespace

Algorithm parameter_server_dedicated_all_reduce() {
  return {
      .name = "parameter_server_dedicated",
      .kind = CollectiveKind::all_reduce,
      .summary = "a server of its own, no worker, adds up what all ranks send and answers them",
      .engine = Engine::server,
      .formula =
          "2 alpha + 2 P n beta + (P-1) n gamma, beta and gamma those of the server; with many chunks pushes and pulls "
          "overlap: towards P n beta",
      .source = "Li et al., Scaling distributed machine learning with the parameter server, 2014",
      .explanation =
          "The server is one more endpoint beside the ranks: all push their vector to it, it adds them up and answers "
          "each. A rank sends and receives its vector once, less than in any all-reduce among the ranks alone, but all "
          "traffic goes through the server's link.",
      .ranks = "any number of ranks, and one endpoint more than they are",
      .fabrics = "few workers; shows the incast at a server",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
