#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "models/execution/candidate.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// Makes candidates: decides on the layout step by step, each on what was decided before.
class CandidateBuilder {
 public:
  CandidateBuilder(const RunRequest& request, const Algorithm& algorithm, Candidate::Parts parts)
      : request_(request), algorithm_(algorithm), parts_(std::move(parts)) {}
  CandidateBuilder(const RunRequest& request, const Algorithm& algorithm, Protocol protocol)
      : CandidateBuilder(request, algorithm, Candidate::Parts{std::move(protocol), request.collective, {}, {}, {}}) {}

  /// Lays it out. Why it cannot run, or nothing.
  std::optional<std::string> refuses();
  void set_chunk(Bytes chunk);
  Candidate build() && { return {request_, algorithm_, std::move(parts_)}; }

 private:
  bool uses(const Protocol& protocol) const;
  bool suits(const AlgorithmOrigin& origin) const;
  std::optional<std::string> engine_refuses() const;
  std::optional<std::string> slots_refuse() const;
  TreeGrant ask_for_trees(TreeRequest wanted);
  std::optional<std::string> dimensions_refuse() const;
  void choose_layout();
  Layout library_layout() const;
  void choose_shape();
  std::uint32_t outstanding(std::uint32_t library) const;
  void share_engines();
  void choose_groups();
  GridShape grid() const;
  Collective without_payload() const;
  Bytes largest_operation() const;
  void choose_chunk();

  const RunRequest& request_;
  const Algorithm& algorithm_;
  Candidate::Parts parts_;
};

std::optional<std::string> CandidateBuilder::refuses() {
  if (!uses(parts_.protocol)) { return "no protocol of the profile carries it"; }
  if (algorithm_.origin && !suits(*algorithm_.origin)) {
    return fmt::format("it was written for protocol {}", algorithm_.origin->protocol);
  }
  if (std::optional<std::string> reason = engine_refuses()) { return reason; }
  TreeSource trees;
  if (request_.aggregation) {
    trees = [this](TreeRequest wanted) { return ask_for_trees(std::move(wanted)); };
  }
  static const std::vector<std::uint32_t> kAll;
  const auto& library = parts_.protocol.library;
  const auto& heads = library ? library->of_bytes.as<EngineTreeShape>().heads : kAll;
  parts_.sites = find_engine_sites(request_.cluster, parts_.collective.ranks, algorithm_.engine, trees, heads);
  if (!parts_.sites.refusal.empty()) { return parts_.sites.refusal; }
  choose_layout();
  const std::uint32_t node = request_.cluster.endpoints_per_node;
  if (goes_by_nodes(algorithm_.engine) && parts_.layout.group != node) {
    return fmt::format("its groups are the nodes, of {} ranks, and not of {}", node, parts_.layout.group);
  }
  if (std::optional<std::string> reason = dimensions_refuse()) { return reason; }
  return algorithm_.refuses(parts_.collective, parts_.layout);
}

/// Sides that a user asks for have to be those of the ranks, whether or not the algorithm takes any.
std::optional<std::string> CandidateBuilder::dimensions_refuse() const {
  if (!request_.overrides.dimensions) { return {}; }
  return invalid(parts_.collective, {.shape = GridShape{*request_.overrides.dimensions}});
}

TreeGrant CandidateBuilder::ask_for_trees(TreeRequest wanted) {
  wanted.streaming = parts_.protocol.aggregation.streaming;
  if (algorithm_.engine == Engine::switches) { wanted.trees_of_each = request_.aggregation->engine.trees_per_job; }
  parts_.wanted_trees = wanted;
  if (request_.trees) { return request_.trees(std::move(wanted)); }
  const Cluster& cluster = request_.cluster;
  return AggregationManager(*cluster.fabric, request_.aggregation->engine.limits, cluster.network).grant(wanted);
}

/// Libraries cut what is larger than the most that one operation may have (largest_operation()); a chunk that the user
/// asks for has to fit.
std::optional<std::string> CandidateBuilder::engine_refuses() const {
  if (needs_nvswitches(algorithm_.engine)) {
    static const EngineModel& nvls = find_engine("nvls");
    auto reason = athanor::refuses(nvls, parts_.collective.kind, request_.type, request_.reduction, Bytes::zero());
    if (reason) { return reason; }
  }
  if (!aggregates(algorithm_) || !request_.aggregation) { return {}; }
  if (std::optional<std::string> reason = slots_refuse()) { return reason; }
  const bool asked = algorithm_.engine == Engine::switches && request_.overrides.chunk;
  const Bytes operation = asked ? std::min(payload(request_), *request_.overrides.chunk) : Bytes::zero();
  return athanor::refuses(request_.aggregation->engine, parts_.collective.kind, request_.type, request_.reduction,
                          operation);
}

/// What cannot be simulated packet by packet.
std::optional<std::string> CandidateBuilder::slots_refuse() const {
  const EngineDeployment& aggregation = *request_.aggregation;
  const EngineModel& engine = aggregation.engine;
  if (parts_.collective.ranks > engine.limits.workers) {
    return fmt::format("{} ranks, and {} takes {} of one job at most", parts_.collective.ranks, engine.name,
                       engine.limits.workers);
  }
  if (!aggregation.slots) { return {}; }
  if (algorithm_.engine != Engine::switches) {
    return fmt::format("{} is simulated packet by packet, and so is aggregation_tree alone", engine.name);
  }
  if (aggregation.slots->policy != AggregatorPolicy::best_effort || !aggregation.servers.empty()) { return {}; }
  return fmt::format(
      "no endpoint is left for the parameter server of {}: give the cluster one more node for each job, or the "
      "collective fewer \"ranks\"",
      engine.name);
}

/// Profiles know no imported algorithm: it goes the way that rings go.
bool CandidateBuilder::uses(const Protocol& protocol) const {
  const auto& names = protocol.algorithms;
  if (names.empty()) { return !needs_nvswitches(algorithm_.engine) || request_.profile.protocols.size() == 1; }
  return std::count(names.begin(), names.end(), algorithm_.origin ? "ring" : algorithm_.name) > 0;
}

/// Where the profile has the protocol that an imported algorithm was written for, and the user asks for none.
bool CandidateBuilder::suits(const AlgorithmOrigin& origin) const {
  const auto& all = request_.profile.protocols;
  const bool known = std::any_of(all.begin(), all.end(), [&](const Protocol& p) { return p.name == origin.protocol; });
  return request_.overrides.protocol || !known || origin.protocol == parts_.protocol.name;
}

void CandidateBuilder::choose_layout() {
  const Overrides& asked = request_.overrides;
  if (parts_.protocol.library) {
    parts_.layout = library_layout();
  } else {
    parts_.layout.channels = static_cast<std::uint32_t>(std::min<std::int64_t>(
        parts_.protocol.channels, ceil_div(payload(request_).count(), parts_.protocol.least_per_channel.count())));
    parts_.layout.slices = parts_.protocol.slices;
  }
  parts_.layout.channels = asked.channels.value_or(std::max(1U, parts_.layout.channels));
  if (algorithm_.origin) { parts_.layout.channels = algorithm_.origin->channels; }
  parts_.layout.slices = asked.slices.value_or(parts_.layout.slices);
  choose_groups();
  choose_shape();
  choose_chunk();
}

/// Of a payload of fewer bytes than the library has channels, each channel has one.
Layout CandidateBuilder::library_layout() const {
  Layout layout = for_elements_of(request_.element_size, parts_.protocol.library->of_bytes);
  layout.channels = static_cast<std::uint32_t>(std::min<std::int64_t>(layout.channels, payload(request_).count()));
  return layout;
}

void CandidateBuilder::choose_shape() {
  if (algorithm_.takes_dimensions) {
    parts_.layout.shape = grid();
    return;
  }
  auto* engines = std::get_if<EngineTreeShape>(&parts_.layout.shape);
  if (engines == nullptr && !aggregates(algorithm_) && parts_.sites.trees.empty()) { return; }
  if (engines == nullptr) { engines = &parts_.layout.shape.emplace<EngineTreeShape>(); }
  engines->trees = parts_.sites.trees;
  share_engines();
  engines->outstanding = outstanding(engines->outstanding);
}

/// What engines hold of a channel and what its library lets be under way: the less.
std::uint32_t CandidateBuilder::outstanding(std::uint32_t library) const {
  if (!aggregates(algorithm_)) { return 0; }
  const std::uint32_t engines = parts_.protocol.aggregation.outstanding;
  return engines == 0 || library == 0 ? std::max(engines, library) : std::min(engines, library);
}

/// Channels of one tree share its engines: their memory, their adders and their ports. At packet level packets have the
/// headers that the share of payload stands for.
void CandidateBuilder::share_engines() {
  if (!aggregates(algorithm_)) { return; }
  EngineCost& cost = parts_.protocol.aggregation;
  const bool spread = algorithm_.engine == Engine::switches && !parts_.sites.trees.empty();
  const auto trees = spread ? static_cast<std::uint32_t>(parts_.sites.trees.size()) : 1U;
  const auto channels = static_cast<std::uint32_t>(ceil_div(parts_.layout.channels, trees));
  if (cost.outstanding > 0) { cost.outstanding = std::max(1U, cost.outstanding / channels); }
  if (cost.reduce_rate != Bandwidth::max()) { cost.reduce_rate = cost.reduce_rate / channels; }
  if (cost.rate != Bandwidth::max()) { cost.rate = cost.rate / channels; }
  if (request_.options.level == NetworkLevel::packet) { cost.payload = {1, 1}; }
}

void CandidateBuilder::choose_groups() {
  const std::uint32_t ranks = parts_.collective.ranks;
  const std::uint32_t node = request_.cluster.endpoints_per_node;
  const bool whole_nodes = node > 1 && ranks > node && ranks % node == 0;
  const bool by_node = whole_nodes || goes_by_nodes(algorithm_.engine);
  parts_.layout.group = request_.overrides.group.value_or(by_node ? node : 0);
  const std::uint32_t places = parts_.layout.group == 0 ? ranks : parts_.layout.group;
  if (parts_.layout.orders && parts_.layout.orders->even.front().size() != places) { parts_.layout.orders = {}; }
  if (parts_.layout.group == 0) { return; }
  const bool rotates = parts_.protocol.rotate && !parts_.protocol.library;
  const bool rotate = whole_nodes && request_.overrides.rotate.value_or(rotates);
  parts_.layout.rotation = rotate ? std::max(1U, node / std::max(1U, request_.cluster.nics_per_node)) : 0;
}

/// The sides of the cluster, where it is a torus whose positions are the ranks and the algorithm takes as many.
GridShape CandidateBuilder::grid() const {
  const std::uint32_t rings = request_.overrides.rings.value_or(0);
  if (request_.overrides.dimensions) { return {*request_.overrides.dimensions, rings}; }
  Layout layout = parts_.layout;
  layout.shape = GridShape{request_.cluster.torus, rings};
  return {algorithm_.refuses(without_payload(), layout) ? Dimensions{} : request_.cluster.torus, rings};
}

/// What does not fit because its payload is uneven fits once it is rounded up.
Collective CandidateBuilder::without_payload() const {
  Collective collective = parts_.collective;
  if (!collective.sizes) { collective.count = Elements::zero(); }
  return collective;
}

/// The chunk shrinks where there would be too few loops for a pipeline.
void CandidateBuilder::choose_chunk() {
  const bool asked = request_.overrides.chunk.has_value();
  if (parts_.protocol.library && !asked) { return set_chunk(Bytes{parts_.protocol.library->of_bytes.chunk.count()}); }
  Bytes chunk = request_.overrides.chunk.value_or(parts_.protocol.chunk);
  set_chunk(chunk);
  if (asked || chunk == Bytes::max()) { return; }
  for (const std::uint32_t loops : parts_.protocol.halve_below) {
    if (algorithm_.refuses(parts_.collective, parts_.layout)) { return; }
    if (algorithm_.make(parts_.collective, parts_.layout)->lane(AgentId{0}, LaneId{0}).loops >= loops) { continue; }
    chunk = chunk / 2;
    set_chunk(chunk);
  }
}

/// Of one tree over all ranks, in whose switches a chunk is an operation.
Bytes CandidateBuilder::largest_operation() const {
  const bool limited = aggregates(algorithm_) && algorithm_.engine == Engine::switches && request_.aggregation;
  return limited ? request_.aggregation->engine.limits.message : Bytes::max();
}

/// Also rounds the payload up to what is cut into equal pieces.
void CandidateBuilder::set_chunk(Bytes chunk) {
  if (payload(request_) > largest_operation()) { chunk = std::min(chunk, largest_operation()); }
  parts_.layout.chunk =
      chunk == Bytes::max() ? Elements::max() : Elements{std::max<std::int64_t>(1, chunk / request_.element_size)};
  parts_.collective.count = request_.collective.count;
  if (algorithm_.refuses(without_payload(), parts_.layout)) { return; }
  if (request_.profile.shares_machine()) { return; }  // every agent is simulated, so that pieces need not be equal
  const std::int64_t granule = algorithm_.granule(parts_.collective, parts_.layout).count();
  parts_.collective.count = Elements{ceil_div(parts_.collective.count.count(), granule)} * granule;
}

std::variant<Candidate, Refusal> lay_out(const RunRequest& request, const Algorithm& algorithm, Protocol protocol) {
  CandidateBuilder builder(request, algorithm, std::move(protocol));
  if (std::optional<std::string> reason = builder.refuses()) { return Refusal{std::move(*reason)}; }
  return std::move(builder).build();
}

Candidate Candidate::in_chunks_of(Bytes chunk) const {
  CandidateBuilder builder(request_, algorithm_, parts_);
  builder.set_chunk(chunk);
  return std::move(builder).build();
}

}  // namespace athanor
