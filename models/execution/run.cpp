#include "models/execution/run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algorithms/catalog.hpp"
#include "models/execution/engine_sites.hpp"
#include "models/execution/pricing.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// An algorithm with a protocol, laid out for one size.
class Candidate {
 public:
  Candidate(const RunRequest& request, const Algorithm& algorithm, const Protocol& protocol)
      : request_(request), algorithm_(algorithm), protocol_(protocol), collective_(request.collective) {}

  /// Why it cannot run, or nothing.
  std::optional<std::string> refuses() {
    if (!uses(protocol_)) { return "no protocol of the profile carries it"; }
    if (algorithm_.origin && !suits(*algorithm_.origin)) {
      return fmt::format("it was written for protocol {}", algorithm_.origin->protocol);
    }
    sites_ = find_engine_sites(request_.cluster, collective_.ranks, algorithm_.engine, request_.aggregation);
    if (!sites_.refusal.empty()) { return sites_.refusal; }
    choose_layout();
    return algorithm_.refuses(collective_, layout_);
  }

  /// Would smaller chunks help, and does nobody say how large they are?
  bool may_choose_chunk() const {
    return !request_.profile.shares_machine() && algorithm_.pipelines && !request_.overrides.chunk &&
           protocol_.chunk == Bytes::max();
  }
  /// The same in chunks of so much. Requires that it does not refuse.
  Candidate in_chunks_of(Bytes chunk) const {
    Candidate other = *this;
    other.set_chunk(chunk);
    return other;
  }

  RunResult run(const SimulationOptions& options) const {
    RunResult result;
    result.algorithm = algorithm_.name;
    result.chosen = &algorithm_;
    result.protocol = protocol_.name;
    result.channels = layout_.channels;
    result.padded = collective_.count != request_.collective.count;
    result.simulated = simulate_with(request_.element_size, options);
    result.time = result.simulated.time + request_.profile.launch + protocol_.start;
    return result;
  }

  /// What it would take if bytes cost nothing: every latency and overhead, and nothing else.
  Time latency(const SimulationOptions& options) const { return simulate_with(Bytes::zero(), options).time; }

  void draw() const {
    SimulationOptions options = request_.options;
    options.timeline_offset = request_.profile.launch + protocol_.start;
    run(options);
  }

 private:
  Simulated simulate_with(Bytes element_size, const SimulationOptions& options) const {
    const auto schedule = algorithm_.make(collective_, layout_);
    const std::uint32_t slots = schedule->least_slots();
    const auto with = [&](const CostModel& costs) {
      return simulate(*schedule, request_.cluster, place(schedule->roster()), costs, options);
    };
    if (const auto& threads = request_.profile.threads) { return with(ThreadPricing(*threads, element_size, slots)); }
    if (const auto& gpus = request_.profile.gpus) { return with(GpuPricing(*gpus, element_size, slots)); }
    const std::uint32_t devices = algorithm_.engine == Engine::server ? schedule->roster().agents : collective_.ranks;
    return with(ProfilePricing(*request_.cluster.fabric, request_.profile, protocol_, devices, element_size, slots));
  }

  /// Profiles know no imported algorithm: it goes the way that rings go.
  bool uses(const Protocol& protocol) const {
    const auto& names = protocol.algorithms;
    if (names.empty()) { return algorithm_.engine != Engine::nvswitch || request_.profile.protocols.size() == 1; }
    return std::count(names.begin(), names.end(), algorithm_.origin ? "ring" : algorithm_.name) > 0;
  }

  /// Where the profile has the protocol that an imported algorithm was written for, and the user asks for none.
  bool suits(const AlgorithmOrigin& origin) const {
    const auto& all = request_.profile.protocols;
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const Protocol& p) { return p.name == origin.protocol; });
    return request_.overrides.protocol || !known || origin.protocol == protocol_.name;
  }

  void choose_layout() {
    const Bytes size = request_.element_size * request_.collective.count.count();
    const auto worth = static_cast<std::uint32_t>(
        std::min<std::int64_t>(protocol_.channels, ceil_div(size.count(), protocol_.least_per_channel.count())));
    layout_.channels = request_.overrides.channels.value_or(std::max(1U, worth));
    if (algorithm_.origin) { layout_.channels = algorithm_.origin->channels; }
    layout_.slices = request_.overrides.slices.value_or(protocol_.slices);
    layout_.rings = request_.overrides.rings.value_or(0);
    if (sites_.tree) { layout_.trees = {sites_.tree}; }
    choose_groups();
    choose_dimensions();
    choose_chunk(request_.overrides.chunk.value_or(protocol_.chunk));
  }

  void choose_groups() {
    const std::uint32_t ranks = collective_.ranks;
    const std::uint32_t node = request_.cluster.endpoints_per_node;
    const bool whole_nodes = node > 1 && ranks > node && ranks % node == 0;
    layout_.group = request_.overrides.group.value_or(whole_nodes ? node : 0);
    if (layout_.group == 0) { return; }
    const bool rotate = whole_nodes && request_.overrides.rotate.value_or(protocol_.rotate);
    layout_.rotation = rotate ? std::max(1U, node / std::max(1U, request_.cluster.nics_per_node)) : 0;
  }

  /// Those of the cluster, where it is a torus whose positions are the ranks and the algorithm takes as many.
  void choose_dimensions() {
    layout_.dimensions = request_.overrides.dimensions.value_or(request_.cluster.torus);
    if (request_.overrides.dimensions) { return; }
    if (algorithm_.refuses(without_payload(), layout_)) { layout_.dimensions = {}; }
  }

  /// What does not fit because its payload is uneven fits once it is rounded up.
  Collective without_payload() const {
    Collective collective = collective_;
    if (!collective.sizes) { collective.count = Elements::zero(); }
    return collective;
  }

  /// The chunk shrinks where there would be too few loops for a pipeline.
  void choose_chunk(Bytes chunk) {
    set_chunk(chunk);
    if (request_.overrides.chunk || chunk == Bytes::max()) { return; }
    for (const std::uint32_t loops : protocol_.halve_below) {
      if (algorithm_.refuses(collective_, layout_)) { return; }
      if (algorithm_.make(collective_, layout_)->lane(AgentId{0}, LaneId{0}).loops >= loops) { continue; }
      chunk = chunk / 2;
      set_chunk(chunk);
    }
  }

  /// Also rounds the payload up to what is cut into equal pieces.
  void set_chunk(Bytes chunk) {
    layout_.chunk =
        chunk == Bytes::max() ? Elements::max() : Elements{std::max<std::int64_t>(1, chunk / request_.element_size)};
    collective_.count = request_.collective.count;
    if (algorithm_.refuses(without_payload(), layout_)) { return; }
    if (request_.profile.shares_machine()) { return; }  // every agent is simulated, so that pieces need not be equal
    const std::int64_t granule = algorithm_.granule(collective_, layout_).count();
    collective_.count = Elements{ceil_div(collective_.count.count(), granule)} * granule;
  }

  Placement place(const Roster& roster) const {
    Placement placement;
    const auto& endpoints = request_.cluster.endpoints;
    placement.vertices.assign(endpoints.begin(), endpoints.begin() + roster.ranks);
    const auto& engines = sites_.vertices;
    placement.vertices.insert(placement.vertices.end(), engines.begin(), engines.end());
    placement.vertices.resize(roster.agents);  // one rank alone needs no engine
    placement.seed = request_.seed;
    const bool alone = request_.options.level == NetworkLevel::ideal || request_.profile.shares_machine();
    placement.queue_pairs = alone ? 1 : request_.options.queue_pairs;
    return placement;
  }

  const RunRequest& request_;
  const Algorithm& algorithm_;
  const Protocol& protocol_;
  Collective collective_;
  EngineSites sites_;
  Layout layout_;
};

std::string link_ends(const Fabric& fabric, LinkId link) {
  return fmt::format("{} {}->{}", name(fabric.link(link).kind), name(fabric.vertex(fabric.source(link)).kind),
                     name(fabric.vertex(fabric.target(link)).kind));
}

/// Those links that were busy the longest, and how long.
struct Busiest {
  Time time;
  std::vector<LinkLoad> links;
};

Busiest busiest_links(const Fabric& fabric, const std::vector<LinkLoad>& loads) {
  Busiest busiest;
  for (const LinkLoad& load : loads) {
    const Time busy = transfer_time(load.carried, fabric.link(load.link).usable);
    if (busy > busiest.time) { busiest = {busy, {}}; }
    if (busy == busiest.time && busy > Time::zero()) { busiest.links.push_back(load); }
  }
  return busiest;
}

/// One link alone by its devices, as well as two whose kinds or ends differ (in and out of a server); else the kind and
/// ends of the first. Classes do not matter: links of one class are alike in kind and ends.
std::string busiest_name(const Fabric& fabric, const std::vector<LinkLoad>& links) {
  const std::string first = link_ends(fabric, links[0].link);
  const bool two = links.size() == 2 && link_ends(fabric, links[1].link) != first;
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
  const Busiest busiest = busiest_links(fabric, result.simulated.loads);
  const std::string link = busiest.links.empty() ? "" : busiest_name(fabric, busiest.links);
  if (busiest.time * 2 >= result.time && busiest.time > Time::zero()) { return link; }
  const Time launch = result.time - result.simulated.time;
  if (launch * 2 >= result.time) { return "launch"; }
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

Bytes payload(const RunRequest& request) { return request.element_size * request.collective.count.count(); }

/// Whether some candidate may reduce elsewhere than at the ranks: the bound then holds for all of them.
bool may_use_engine(const RunRequest& request) {
  return std::any_of(request.algorithms.begin(), request.algorithms.end(), [&](const Algorithm* algorithm) {
    const Engine engine = algorithm->engine;
    return engine != Engine::none &&
           find_engine_sites(request.cluster, request.collective.ranks, engine, request.aggregation).refusal.empty();
  });
}

/// What fits of an algorithm with the protocols of the profile, or why nothing does.
struct Candidates {
  std::vector<Candidate> fitting;
  std::string reason = "no protocol of the profile is meant for this size";
};

Candidates candidates_of(const RunRequest& request, const Algorithm& algorithm) {
  Candidates candidates;
  for (const Protocol& protocol : request.profile.protocols) {
    const bool asked = !request.overrides.protocol || *request.overrides.protocol == protocol.name;
    if (!asked || payload(request) < protocol.from || payload(request) > protocol.to) { continue; }
    Candidate candidate(request, algorithm, protocol);
    if (std::optional<std::string> refusal = candidate.refuses()) {
      candidates.reason = std::move(*refusal);
    } else {
      candidates.fitting.push_back(std::move(candidate));
    }
  }
  return candidates;
}

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
/// quarter of the payload, a sixteenth and so on, as long as that is not slower: time is convex in the number of
/// chunks, whose latencies add up while their transfers overlap. So the number is within a factor of two of the best.
void try_chunks(const RunRequest& request, const Candidate& whole, const SimulationOptions& options, Best& best) {
  Time before = keep_fastest(whole, options, best);
  if (!whole.may_choose_chunk()) { return; }
  for (Bytes chunk = payload(request) / 4; chunk >= request.element_size; chunk = chunk / 4) {
    const Time time = keep_fastest(whole.in_chunks_of(chunk), options, best);
    if (time > before) { return; }
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

/// Runs an algorithm with every protocol that takes it, and keeps the fastest. Returns why none does.
std::optional<std::string> consider(const RunRequest& request, const Algorithm& algorithm, Best& best) {
  SimulationOptions undrawn = request.options;
  undrawn.timeline = nullptr;
  const Candidates candidates = candidates_of(request, algorithm);
  for (const Candidate& candidate : candidates.fitting) { choose_and_run(request, candidate, undrawn, best); }
  return candidates.fitting.empty() ? std::optional(candidates.reason) : std::nullopt;
}

}  // namespace

RunResult run_collective(const RunRequest& request) {
  Best best;
  std::vector<std::string> refused;
  for (const Algorithm* algorithm : request.algorithms) {
    const std::optional<std::string> reason = consider(request, *algorithm, best);
    if (reason) { refused.push_back(fmt::format("{}: {}", algorithm->name, *reason)); }
  }
  if (!best.result) {
    throw SimulationError("no-candidate",
                          fmt::format("nothing can run {} of {} bytes here:\n  {}", name(request.collective.kind),
                                      payload(request).count(), fmt::join(refused, "\n  ")));
  }
  if (request.options.timeline != nullptr) { best.candidate->draw(); }
  RunResult result = std::move(*best.result);
  result.size = payload(request);
  result.bound = lower_bound(request.cluster, request.collective, result.size, may_use_engine(request));
  result.limited_by = limit(request, result, *best.candidate);
  result.extrapolated = !request.profile.covers(request.collective.kind, request.collective.ranks, result.size);
  for (const std::string& reason : refused) { result.notes.push_back("does not fit: " + reason); }
  if (result.time < result.bound.time) {
    result.notes.emplace_back("less than the bound: the ideal network lets connections share a link at full speed");
  }
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
