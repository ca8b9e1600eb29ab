#include "models/execution/run.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/engines/engine_sites.hpp"
#include "models/execution/by_packets.hpp"
#include "models/execution/choice.hpp"
#include "models/network/link_use.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Those links that were busy the longest, and how long.
struct Busiest {
  Time time;
  std::vector<LinkLoad> links;
};

Busiest busiest_links(const Fabric& fabric, const std::vector<LinkLoad>& loads) {
  Busiest busiest;
  for (const LinkLoad& load : loads) {
    const Time busy = busy_time(fabric, load);
    if (busy > busiest.time) { busiest = {busy, {}}; }
    if (busy == busiest.time && busy > Time::zero()) { busiest.links.push_back(load); }
  }
  return busiest;
}

/// One link alone by its devices, as well as two whose kinds or ends differ (in and out of a server); else the kind and
/// ends of the first. Classes do not matter: links of one class are alike in kind and ends.
std::string busiest_name(const Fabric& fabric, const std::vector<LinkLoad>& links) {
  const std::string first = link_class(fabric, links[0].link);
  const bool two = links.size() == 2 && link_class(fabric, links[1].link) != first;
  const auto alone = [](const LinkLoad& load) { return load.members == 1; };
  if ((links.size() != 1 && !two) || !std::all_of(links.begin(), links.end(), alone)) { return first; }
  const auto devices = [&](LinkId link) {
    return fmt::format("{}->{}", fabric.name(fabric.source(link)), fabric.name(fabric.target(link)));
  };
  const std::string one = fmt::format("{} {}", name(fabric.link(links[0].link).kind), devices(links[0].link));
  return two ? fmt::format("{}, {}", one, devices(links[1].link)) : one;
}

/// The busiest link if it is busy for at least half of the time. Else launch or latency, if they take that much, and
/// transfers otherwise: over several links in turn, or over links that are crowded for a part of the time.
std::string limit(const RunRequest& request, const RunResult& result, const Candidate& candidate) {
  const Fabric& fabric = *request.cluster.fabric;
  const Busiest busiest = busiest_links(fabric, result.simulated.network.loads);
  const std::string link = busiest.links.empty() ? "" : busiest_name(fabric, busiest.links);
  if (busiest.time * 2 >= result.time && busiest.time > Time::zero()) { return link; }
  const Time launch = result.calls ? candidate.launch() : result.time - result.simulated.time;
  if (launch * 2 >= result.time) { return "launch"; }
  if (result.slots) { return result.slots->retransmissions > 0 ? "timeouts" : "latency"; }
  SimulationOptions options = request.options;
  options.timeline = nullptr;
  const bool latency = (launch + candidate.latency(options)) * 2 >= result.time;
  if (request.profile.shares_machine() && !latency) { return "memory"; }
  if (request.profile.shares_machine()) {
    return request.profile.gpus ? "overheads of blocks" : "overheads of threads";
  }
  if (link.empty() || latency) { return "latency"; }
  return "transfers, most on " + link;
}

/// Whether some candidate may reduce elsewhere than at the ranks: the bound then holds for all of them.
bool may_use_engine(const RunRequest& asked) {
  RunRequest request = asked;
  request.trees = nullptr;  // what hardware can do, whoever else has its trees
  return std::any_of(request.algorithms.begin(), request.algorithms.end(), [&](const Algorithm* algorithm) {
    return algorithm->engine != Engine::none && !why_not(request, *algorithm);
  });
}

}  // namespace

RunResult run_collective(const RunRequest& request) {
  const Choice choice = choose_fastest(request);
  if (request.options.timeline != nullptr) { choice.candidate.draw(); }
  RunResult result = complete(request, choice);
  if (result.slots) {
    const std::string how = fmt::format("{} of {} B packet by packet: {}", result.protocol, result.size.count(),
                                        aggregation_text(*result.slots));
    result.notes.insert(result.notes.begin(), how);
  }
  return result;
}

RunResult described(const RunRequest& request, const Choice& choice) {
  RunResult result = choice.result;
  result.size = payload(request);
  result.extrapolated =
      !request.profile.covers(request.collective.kind, request.collective.ranks, result.size, request.cluster);
  if (!result.fell_back.empty()) { result.notes.push_back("fell back from " + result.fell_back); }
  for (const std::string& reason : choice.refused) {
    if (reason == result.fell_back) { continue; }
    result.notes.push_back("does not fit: " + reason);
  }
  return result;
}

void add_bound(const RunRequest& request, RunResult& result) {
  const auto bound = request.calls > 1 ? lower_bound_of_many : lower_bound;
  result.bound = bound(request.cluster, request.collective, result.size, may_use_engine(request));
  if (result.time >= result.bound.time) { return; }
  result.notes.emplace_back("less than the bound: the ideal network lets connections share a link at full speed");
}

RunResult complete(const RunRequest& request, const Choice& choice) {
  RunResult result = described(request, choice);
  add_bound(request, result);
  result.limited_by = limit(request, result, choice.candidate);
  return result;
}

std::optional<std::string> why_not(const RunRequest& request, const Algorithm& algorithm) {
  const Candidates candidates = candidates_of(request, algorithm);
  return candidates.fitting.empty() ? std::optional(candidates.reason) : std::nullopt;
}

double algorithm_bandwidth(Bytes size, Time time) {
  return time == Time::zero() ? 0 : static_cast<double>(size.count()) / seconds(time) * 1e-9;
}

double bus_factor(CollectiveKind kind, std::uint32_t of_ranks) {
  const double ranks = of_ranks;
  switch (kind) {
    case CollectiveKind::all_reduce: return 2 * (ranks - 1) / ranks;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter: return (ranks - 1) / ranks;
    case CollectiveKind::barrier: return 0;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_receive: break;
  }
  return 1;
}

double bus_bandwidth(const Collective& collective, Bytes size, Time time) {
  return bus_factor(collective.kind, collective.ranks) * algorithm_bandwidth(size, time);
}

}  // namespace athanor
