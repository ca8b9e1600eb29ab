#include "models/execution/choice.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

NcclRequest nccl_request(const RunRequest& request) {
  return {.kind = request.collective.kind,
          .ranks = request.collective.ranks,
          .root = request.collective.root,
          .payload = payload(request),
          .type = request.type,
          .reduction = request.reduction,
          .algorithms = request.algorithms,
          .protocol = request.overrides.protocol,
          .costs = *request.profile.nccl};
}

namespace {

/// The profile's ways to move data, or those that NCCL makes of it; of engines in the network their own.
std::vector<Protocol> protocols_of(const RunRequest& request, const Algorithm& algorithm,
                                   const std::vector<const Algorithm*>& allowed, Candidates& candidates) {
  const bool has_modes = aggregates(algorithm) && request.aggregation != nullptr;
  if (!request.profile.nccl) {
    return has_modes ? engine_protocols(request.aggregation->engine, request.profile) : request.profile.protocols;
  }
  require(request.nccl != nullptr, "a profile with \"nccl\" needs what NCCL has found on the cluster");
  NcclRequest asked = nccl_request(request);
  asked.algorithms = allowed;
  NcclOffer offer = request.nccl->offer(asked, algorithm);
  if (offer.protocols.empty()) { candidates.reason = std::move(offer.reason); }
  candidates.passed_over = offer.passed_over;
  if (!has_modes || offer.protocols.empty()) { return std::move(offer.protocols); }
  const std::size_t heads = offer.protocols.front().library->of_bytes.as<EngineTreeShape>().heads.size();
  const auto operations = heads == 0 ? request.cluster.endpoints_per_node : static_cast<std::uint32_t>(heads);
  return engine_protocols(request.aggregation->engine, offer.protocols, std::max(1U, operations));
}

}  // namespace

Candidates candidates_of(const RunRequest& request, const Algorithm& algorithm) {
  return candidates_of(request, algorithm, request.algorithms);
}

Candidates candidates_of(const RunRequest& request, const Algorithm& algorithm,
                         const std::vector<const Algorithm*>& allowed) {
  Candidates candidates;
  for (const Protocol& protocol : protocols_of(request, algorithm, allowed, candidates)) {
    const bool asked = !request.overrides.protocol || *request.overrides.protocol == protocol.name;
    if (!asked || payload(request) < protocol.from || payload(request) > protocol.to) { continue; }
    std::variant<Candidate, Refusal> laid_out = lay_out(request, algorithm, protocol);
    if (auto* const candidate = std::get_if<Candidate>(&laid_out)) {
      candidates.fitting.push_back(std::move(*candidate));
    } else {
      candidates.reason = std::move(std::get<Refusal>(laid_out).reason);
    }
  }
  return candidates;
}

namespace {

struct Best {
  std::optional<RunResult> result;
  std::optional<Candidate> candidate;
};

/// Runs a candidate and keeps it if it is the fastest so far. Returns its time.
Time keep_fastest(const Candidate& candidate, const SimulationOptions& options, Best& best) {
  RunResult result = candidate.run(options);
  const Time time = result.time;
  if (best.result && time >= best.result->time) { return time; }
  best.result = std::move(result);
  best.candidate.emplace(candidate);
  return time;
}

/// Where neither the user nor the profile says how large a chunk is, an algorithm that pipelines is tried with a
/// quarter of the payload, a sixteenth and so on, as long as that saves time worth the simulation: time is convex in
/// the number of chunks, whose latencies add up while their transfers overlap. So the number is within a factor of two
/// of the best, or chunks that are smaller still would save less than a third of the last saving.
void try_chunks(const RunRequest& request, const Candidate& whole, const SimulationOptions& options, Best& best) {
  constexpr std::int64_t kWorth = 256;
  constexpr std::int64_t kEqual = 1'000'000;
  Time before = keep_fastest(whole, options, best);
  if (!whole.may_choose_chunk()) { return; }
  const bool packets = request.options.level == NetworkLevel::packet;  // none is worth less than one of these
  const Bytes least =
      packets ? std::max(request.element_size, request.options.packet.transport.payload) : request.element_size;
  for (Bytes chunk = payload(request) / 4; chunk >= least; chunk = chunk / 4) {
    const Time time = keep_fastest(whole.in_chunks_of(chunk), options, best);
    const Time rounding = before / kEqual;  // as long as before: both are whole pieces
    if (time > before + rounding) { return; }
    if (time < before - rounding && time > before - before / kWorth) { return; }
    before = time;
  }
}

/// Packets take long to simulate: there, flows say which chunk is the fastest.
void choose_and_run(const RunRequest& request, const Candidate& candidate, const SimulationOptions& options,
                    Best& best) {
  if (options.level != NetworkLevel::packet || !candidate.may_choose_chunk()) {
    try_chunks(request, candidate, options, best);
    return;
  }
  SimulationOptions flows = options;
  flows.level = NetworkLevel::flow;
  Best by_flows;
  try_chunks(request, candidate, flows, by_flows);
  keep_fastest(*by_flows.candidate, options, best);
}

using Algorithms = std::vector<const Algorithm*>;

/// Runs an algorithm with every protocol that takes it, and keeps the fastest. Returns why none does.
std::optional<std::string> consider(const RunRequest& request, const Algorithm& algorithm, const Algorithms& allowed,
                                    Best& best) {
  SimulationOptions undrawn = request.options;
  undrawn.timeline = nullptr;
  const Candidates candidates = candidates_of(request, algorithm, allowed);
  for (const Candidate& candidate : candidates.fitting) { choose_and_run(request, candidate, undrawn, best); }
  if (!candidates.fitting.empty() || candidates.passed_over) { return {}; }
  return candidates.reason;
}

/// Where engines were asked for and cannot be had.
std::string why_fall_back(const RunRequest& request, const std::vector<std::string>& refused) {
  for (const Algorithm* algorithm : request.algorithms) {
    if (!aggregates(*algorithm)) { continue; }
    const auto of_it = [&](const std::string& reason) { return reason.starts_with(algorithm->name + ":"); };
    const auto found = std::find_if(refused.begin(), refused.end(), of_it);
    if (found != refused.end()) { return *found; }
  }
  return "";
}

}  // namespace

std::vector<const Algorithm*> fallback_of(const RunRequest& request) {
  if (!request.aggregation) { return {}; }
  if (!request.nccl) { return request.aggregation->fallback; }
  Algorithms others = request.algorithms;
  std::erase_if(others, [](const Algorithm* each) { return aggregates(*each); });
  return others;
}

Choice choose_fastest(const RunRequest& request) {
  Best best;
  std::vector<std::string> refused;
  const auto try_all = [&](const Algorithms& algorithms) {
    for (const Algorithm* algorithm : algorithms) {
      const std::optional<std::string> reason = consider(request, *algorithm, algorithms, best);
      if (reason) { refused.push_back(fmt::format("{}: {}", algorithm->name, *reason)); }
    }
  };
  try_all(request.algorithms);
  const Algorithms fallback = best.result ? Algorithms{} : fallback_of(request);
  const std::string why = fallback.empty() ? "" : why_fall_back(request, refused);
  if (!why.empty()) {
    try_all(fallback);
    if (best.result) { best.result->fell_back = why; }
  }
  if (!best.result) {
    throw SimulationError("no-candidate",
                          fmt::format("nothing can run {} of {} bytes here:\n  {}", name(request.collective.kind),
                                      payload(request).count(), joined(refused, "\n  ")));
  }
  return {*best.candidate, std::move(*best.result), std::move(refused)};
}

}  // namespace athanor
