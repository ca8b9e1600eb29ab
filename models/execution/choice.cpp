#include "models/execution/choice.hpp"

#include <algorithm>
#include <numeric>
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
  std::size_t place = 0;  ///< in the order in which candidates were named
};

/// Nobody waits for the end of a candidate of which no more is asked than that it is slower.
constexpr Time kWhatever = Time::zero();
constexpr Time kToItsEnd = Time::max();

/// Runs a candidate and keeps it if it is the fastest so far. Returns its time, or one that is above `at_least` and
/// that of the fastest, and not above its own.
Time keep_fastest(const Candidate& candidate, std::size_t place, Time at_least, SimulationOptions options, Best& best) {
  if (best.result) { options.give_up_after = std::max(at_least, best.result->time); }
  RunResult result = candidate.run(options);
  const Time time = result.time;
  if (best.result && (time > best.result->time || (time == best.result->time && place >= best.place))) { return time; }
  best.result = std::move(result);
  best.candidate.emplace(candidate);
  best.place = place;
  return time;
}

/// Where neither the user nor the profile says how large a chunk is, an algorithm that pipelines is tried with a
/// quarter of the payload, a sixteenth and so on, as long as that saves time worth the simulation: time is convex in
/// the number of chunks, whose latencies add up while their transfers overlap. So the number is within a factor of two
/// of the best, or chunks that are smaller still would save less than a third of the last saving.
void try_chunks(const RunRequest& request, const Candidate& whole, std::size_t place, const SimulationOptions& options,
                Best& best) {
  constexpr std::int64_t kEqual = 1'000'000;
  const bool calls_overlap = request.calls > 1;  // and may take less each than the first one alone
  const bool may_choose = whole.may_choose_chunk();
  Time before = keep_fastest(whole, place, may_choose || calls_overlap ? kToItsEnd : kWhatever, options, best);
  if (!may_choose) { return; }
  const bool packets = request.options.level == NetworkLevel::packet;  // none is worth less than one of these
  const Bytes least =
      packets ? std::max(request.element_size, request.options.packet.transport.payload) : request.element_size;
  for (Bytes chunk = payload(request) / 4; chunk >= least; chunk = chunk / 4) {
    const Time rounding = before / kEqual;  // as long as before: both are whole pieces
    const Time enough = calls_overlap ? kToItsEnd : before + rounding;
    const Time time = keep_fastest(whole.in_chunks_of(chunk), place, enough, options, best);
    if (time > before + rounding) { return; }
    if (time < before - rounding && time > before - before / kWorthOfChunks) { return; }
    before = time;
  }
}

/// Packets take long to simulate: there, flows say which chunk is the fastest.
void choose_and_run(const RunRequest& request, const Candidate& candidate, std::size_t place,
                    const SimulationOptions& options, Best& best) {
  if (options.level != NetworkLevel::packet || !candidate.may_choose_chunk()) {
    try_chunks(request, candidate, place, options, best);
    return;
  }
  SimulationOptions flows = options;
  flows.level = NetworkLevel::flow;
  Best by_flows;
  try_chunks(request, candidate, place, flows, by_flows);
  keep_fastest(*by_flows.candidate, place, request.calls > 1 ? kToItsEnd : kWhatever, options, best);
}

using Algorithms = std::vector<const Algorithm*>;

/// Those first that put the least on the wire, which are most often the fastest: others are given up the sooner.
std::vector<std::size_t> in_order_of_wire_bytes(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return to_double(candidates[a].protocol().payload) > to_double(candidates[b].protocol().payload);
  });
  return order;
}

/// Runs an algorithm with every protocol that takes it, and keeps the fastest. Returns why none does. `place`: of the
/// algorithm's first candidate; becomes that behind its last one.
std::optional<std::string> consider(const RunRequest& request, const Algorithm& algorithm, const Algorithms& allowed,
                                    std::size_t& place, Best& best) {
  SimulationOptions undrawn = request.options;
  undrawn.timeline = nullptr;
  const Candidates candidates = candidates_of(request, algorithm, allowed);
  for (const std::size_t each : in_order_of_wire_bytes(candidates.fitting)) {
    choose_and_run(request, candidates.fitting[each], place + each, undrawn, best);
  }
  place += candidates.fitting.size();
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
  std::size_t place = 0;
  const auto try_all = [&](const Algorithms& algorithms) {
    for (const Algorithm* algorithm : algorithms) {
      const std::optional<std::string> reason = consider(request, *algorithm, algorithms, place, best);
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
