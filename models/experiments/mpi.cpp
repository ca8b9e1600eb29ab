#include "models/experiments/mpi.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/execution/candidate.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

struct RanksOfNodes {
  std::uint32_t most = 1;
  bool uniform = true;
};

/// An endpoint on the fabric itself is a node.
RanksOfNodes ranks_of_nodes(const Cluster& cluster, std::uint32_t ranks) {
  std::map<std::uint32_t, std::uint32_t> counts;
  std::uint32_t alone = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t node = cluster.fabric->vertex(cluster.endpoints.at(rank)).node;
    ++(node == kNoNode ? alone : counts[node]);
  }
  RanksOfNodes found;
  for (const auto& [node, count] : counts) { found.most = std::max(found.most, count); }
  found.uniform =
      std::all_of(counts.begin(), counts.end(), [&](const auto& each) { return each.second == found.most; }) &&
      (alone == 0 || found.most == 1);
  return found;
}

}  // namespace

std::string name_of(const MpiLibrary& library) { return library.name + " " + library.release; }

std::string mpi_text(const MpiLibrary& library) {
  const std::string_view assumed = mpi_assumption(library);
  return name_of(library) + ", which chooses the algorithms" + (assumed.empty() ? "" : fmt::format(", {}", assumed));
}

MpiChoice mpi_choice(const MpiLibrary& library, const RunRequest& request) {
  const std::uint32_t ranks = request.collective.ranks;
  const RanksOfNodes nodes = ranks_of_nodes(request.cluster, ranks);
  return mpi_choice(library, {.kind = request.collective.kind,
                              .ranks = ranks,
                              .most_ranks_per_node = nodes.most,
                              .payload = payload(request),
                              .element = request.element_size,
                              .uniform = nodes.uniform});
}

void follow_mpi(const MpiLibrary& library, RunRequest& request) {
  if (request.collective.ranks < 2) { return; }
  const MpiChoice choice = mpi_choice(library, request);
  request.algorithms.clear();
  if (!choice.algorithm.empty()) { request.algorithms.push_back(&find(request.collective.kind, choice.algorithm)); }
  request.overrides.chunk = choice.segment;
}

std::optional<std::string> why_not_mpis(const MpiLibrary& library, const RunRequest& request) {
  if (request.collective.ranks < 2) { return std::nullopt; }
  const MpiChoice choice = mpi_choice(library, request);
  const std::string_view kind = name(request.collective.kind);
  if (choice.own.empty()) { return fmt::format("what {} takes for {} is not known here", name_of(library), kind); }
  if (!choice.algorithm.empty()) { return std::nullopt; }
  return fmt::format("for {} of {} over {} ranks {} takes {}, which the catalog does not have", kind,
                     to_string(payload(request)), request.collective.ranks, name_of(library), choice.own);
}

std::string mpi_note(const MpiLibrary& library, const RunRequest& request) {
  if (request.collective.ranks < 2) { return ""; }
  const MpiChoice choice = mpi_choice(library, request);
  if (choice.own == choice.algorithm) { return ""; }
  return fmt::format("{} takes {}, which is {} here", name_of(library), choice.own, choice.algorithm);
}

}  // namespace athanor
