#include "models/execution/candidate.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "models/execution/shared_machine.hpp"
#include "models/software/profile.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

Candidate::Candidate(const RunRequest& request, const Algorithm& algorithm, Protocol protocol)
    : request_(request), algorithm_(algorithm), protocol_(std::move(protocol)), collective_(request.collective) {}

std::optional<std::string> Candidate::refuses() {
  if (!uses(protocol_)) { return "no protocol of the profile carries it"; }
  if (algorithm_.origin && !suits(*algorithm_.origin)) {
    return fmt::format("it was written for protocol {}", algorithm_.origin->protocol);
  }
  if (std::optional<std::string> reason = engine_refuses()) { return reason; }
  TreeSource trees;
  if (request_.aggregation) {
    trees = [this](TreeRequest wanted) { return ask_for_trees(std::move(wanted)); };
  }
  sites_ = find_engine_sites(request_.cluster, collective_.ranks, algorithm_.engine, trees, protocol_.hints.heads);
  if (!sites_.refusal.empty()) { return sites_.refusal; }
  choose_layout();
  const std::uint32_t node = request_.cluster.endpoints_per_node;
  if (goes_by_nodes(algorithm_.engine) && layout_.group != node) {
    return fmt::format("its groups are the nodes, of {} ranks, and not of {}", node, layout_.group);
  }
  return algorithm_.refuses(collective_, layout_);
}

TreeGrant Candidate::ask_for_trees(TreeRequest wanted) {
  wanted.streaming = protocol_.aggregation.streaming;
  if (algorithm_.engine == Engine::switches) { wanted.trees_of_each = request_.aggregation->engine.trees_per_job; }
  wanted_trees_ = wanted;
  if (request_.trees) { return request_.trees(std::move(wanted)); }
  const Cluster& cluster = request_.cluster;
  return AggregationManager(*cluster.fabric, request_.aggregation->engine.limits, cluster.network).grant(wanted);
}

bool Candidate::by_packets() const { return goes_by_packets(request_, algorithm_); }

bool Candidate::may_choose_chunk() const {
  return !request_.profile.shares_machine() && !by_packets() && algorithm_.pipelines && !request_.overrides.chunk &&
         protocol_.chunk == Bytes::max();
}

Candidate Candidate::in_chunks_of(Bytes chunk) const {
  Candidate other = *this;
  other.set_chunk(chunk);
  return other;
}

std::optional<Candidate> Candidate::on(const RunRequest& elsewhere) const {
  Candidate other(elsewhere, algorithm_, protocol_);
  if (other.refuses()) { return std::nullopt; }
  if (other.layout_.chunk == layout_.chunk) { return other; }
  return other.in_chunks_of(layout_.chunk == Elements::max() ? Bytes::max()
                                                             : request_.element_size * layout_.chunk.count());
}

RunResult Candidate::run(const SimulationOptions& options) const {
  RunResult result;
  result.algorithm = algorithm_.name;
  result.chosen = &algorithm_;
  result.protocol = protocol_.name;
  if (by_packets()) {
    AggregationResult packets = run_by_packets(request_, protocol_, options);
    result.slots = packets.jobs.front();
    result.simulated = simulated_of(std::move(packets));
    result.time = result.simulated.time + launch();
    return result;
  }
  result.channels = layout_.channels;
  result.padded = collective_.count != request_.collective.count;
  result.roots = roots();
  result.simulated = simulate_with(request_.element_size, options);
  result.time = overlapped_launch(result.simulated.time + launch(), host_time());
  return result;
}

Time Candidate::launch() const { return request_.profile.launch + protocol_.start; }

Time Candidate::host_time() const {
  const auto& nccl = request_.profile.nccl;
  if (!nccl) { return Time::zero(); }
  return nccl->host_launch + nccl->host_channel * (layout_.channels - 1);
}

std::vector<std::string> Candidate::roots() const {
  std::vector<std::string> names;
  std::size_t engines = 0;
  for (const auto& tree : sites_.trees) { engines += tree->nodes(); }
  std::size_t first = sites_.vertices.size() - engines;  // after the NVSwitches
  for (const auto& tree : sites_.trees) {
    names.push_back(request_.cluster.fabric->name(sites_.vertices[first]));
    first += tree->nodes();
  }
  return names;
}

void Candidate::draw() const {
  if (by_packets()) { return; }
  SimulationOptions options = request_.options;
  options.timeline_offset = launch();
  run(options);
}

Simulated Candidate::simulate_with(Bytes element_size, const SimulationOptions& options) const {
  const auto schedule = this->schedule();
  const std::uint32_t slots = schedule->least_slots();
  const std::uint32_t processors = request_.cluster.processors;
  const std::uint32_t gpus = request_.cluster.shared_gpus;
  const auto& threads = request_.profile.threads;
  require((processors > 0) == threads.has_value(), "shared memory and its costs go together");
  if (threads) { return simulate_on_threads(*schedule, processors, *threads, element_size, slots, options); }
  const auto& blocks = request_.profile.gpus;
  require((gpus > 0) == blocks.has_value(), "shared GPUs and their costs go together");
  if (blocks) { return simulate_on_gpus(*schedule, gpus, *blocks, element_size, slots, options); }
  return simulate(*schedule, request_.cluster, place(schedule->agent_count()), *costs(*schedule, element_size),
                  options);
}

std::unique_ptr<const CostModel> Candidate::costs(const Schedule& schedule, Bytes element_size) const {
  return std::make_unique<ProfilePricing>(*request_.cluster.fabric, request_.profile, protocol_, kinds(schedule),
                                          element_size, schedule.least_slots());
}

AgentKinds Candidate::kinds(const Schedule& schedule) const {
  if (algorithm_.engine == Engine::server) { return {schedule.agent_count().agents, 0}; }
  const auto in_node = [&](VertexId vertex) {
    return request_.cluster.fabric->vertex(vertex).kind == VertexKind::nvswitch;
  };
  const auto nvswitches = std::count_if(sites_.vertices.begin(), sites_.vertices.end(), in_node);
  return {collective_.ranks, static_cast<std::uint32_t>(nvswitches)};
}

/// Libraries cut what is larger than the most that one operation may have (largest_operation()); a chunk that the user
/// asks for has to fit.
std::optional<std::string> Candidate::engine_refuses() const {
  if (needs_nvswitches(algorithm_.engine)) {
    static const EngineModel& nvls = find_engine("nvls");
    auto reason = athanor::refuses(nvls, collective_.kind, request_.type, request_.reduction, Bytes::zero());
    if (reason) { return reason; }
  }
  if (!aggregates(algorithm_) || !request_.aggregation) { return {}; }
  if (std::optional<std::string> reason = slots_refuse()) { return reason; }
  const bool asked = algorithm_.engine == Engine::switches && request_.overrides.chunk;
  const Bytes operation = asked ? std::min(payload(request_), *request_.overrides.chunk) : Bytes::zero();
  return athanor::refuses(request_.aggregation->engine, collective_.kind, request_.type, request_.reduction, operation);
}

/// What cannot be simulated packet by packet.
std::optional<std::string> Candidate::slots_refuse() const {
  const EngineDeployment& aggregation = *request_.aggregation;
  const EngineModel& engine = aggregation.engine;
  if (collective_.ranks > engine.limits.workers) {
    return fmt::format("{} ranks, and {} takes {} of one job at most", collective_.ranks, engine.name,
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
bool Candidate::uses(const Protocol& protocol) const {
  const auto& names = protocol.algorithms;
  if (names.empty()) { return !needs_nvswitches(algorithm_.engine) || request_.profile.protocols.size() == 1; }
  return std::count(names.begin(), names.end(), algorithm_.origin ? "ring" : algorithm_.name) > 0;
}

/// Where the profile has the protocol that an imported algorithm was written for, and the user asks for none.
bool Candidate::suits(const AlgorithmOrigin& origin) const {
  const auto& all = request_.profile.protocols;
  const bool known = std::any_of(all.begin(), all.end(), [&](const Protocol& p) { return p.name == origin.protocol; });
  return request_.overrides.protocol || !known || origin.protocol == protocol_.name;
}

void Candidate::choose_layout() {
  const Bytes size = request_.element_size * request_.collective.count.count();
  const auto worth = static_cast<std::uint32_t>(
      std::min<std::int64_t>(protocol_.channels, ceil_div(size.count(), protocol_.least_per_channel.count())));
  layout_.channels = request_.overrides.channels.value_or(std::max(1U, worth));
  if (algorithm_.origin) { layout_.channels = algorithm_.origin->channels; }
  layout_.slices = request_.overrides.slices.value_or(protocol_.slices);
  layout_.rings = request_.overrides.rings.value_or(0);
  layout_.trees = sites_.trees;
  share_engines();
  layout_.outstanding = outstanding();
  layout_.heads = protocol_.hints.heads;
  layout_.messages_per_step = protocol_.hints.messages_per_step;
  layout_.parts = protocol_.hints.parts;
  layout_.peers_at_once = protocol_.hints.peers_at_once;
  if (const auto& by_size = protocol_.hints.parts_by_size) {
    const auto elements = [&](Bytes bytes) {
      return Elements{std::max<std::int64_t>(1, bytes / request_.element_size)};
    };
    layout_.parts_by_size = MessageParts{elements(by_size->small), elements(by_size->large), by_size->least};
  }
  layout_.tree_heads = protocol_.hints.tree_heads;
  layout_.least_slice = Elements{std::max<std::int64_t>(1, protocol_.hints.least_slice / request_.element_size)};
  choose_groups();
  choose_dimensions();
  choose_chunk(request_.overrides.chunk.value_or(protocol_.chunk));
}

/// What engines hold of a channel and what its library lets be under way: the less.
std::uint32_t Candidate::outstanding() const {
  if (!aggregates(algorithm_)) { return 0; }
  const std::uint32_t engines = protocol_.aggregation.outstanding;
  const std::uint32_t library = protocol_.hints.outstanding;
  return engines == 0 || library == 0 ? std::max(engines, library) : std::min(engines, library);
}

/// Channels of one tree share its engines: their memory, their adders and their ports. At packet level packets have the
/// headers that the share of payload stands for.
void Candidate::share_engines() {
  if (!aggregates(algorithm_)) { return; }
  EngineCost& cost = protocol_.aggregation;
  const bool spread = algorithm_.engine == Engine::switches && !layout_.trees.empty();
  const auto trees = spread ? static_cast<std::uint32_t>(layout_.trees.size()) : 1U;
  const auto channels = static_cast<std::uint32_t>(ceil_div(layout_.channels, trees));
  if (cost.outstanding > 0) { cost.outstanding = std::max(1U, cost.outstanding / channels); }
  if (cost.reduce_rate != Bandwidth::max()) { cost.reduce_rate = cost.reduce_rate / channels; }
  if (cost.rate != Bandwidth::max()) { cost.rate = cost.rate / channels; }
  if (request_.options.level == NetworkLevel::packet) { cost.payload = {1, 1}; }
}

void Candidate::choose_groups() {
  const std::uint32_t ranks = collective_.ranks;
  const std::uint32_t node = request_.cluster.endpoints_per_node;
  const bool whole_nodes = node > 1 && ranks > node && ranks % node == 0;
  layout_.group = request_.overrides.group.value_or(whole_nodes ? node : 0);
  const std::uint32_t places = layout_.group == 0 ? ranks : layout_.group;
  if (protocol_.hints.orders && protocol_.hints.orders->even.front().size() == places) {
    layout_.orders = protocol_.hints.orders;
  }
  if (layout_.group == 0) { return; }
  const bool rotate = whole_nodes && request_.overrides.rotate.value_or(protocol_.rotate);
  layout_.rotation = rotate ? std::max(1U, node / std::max(1U, request_.cluster.nics_per_node)) : 0;
}

/// Those of the cluster, where it is a torus whose positions are the ranks and the algorithm takes as many.
void Candidate::choose_dimensions() {
  layout_.dimensions = request_.overrides.dimensions.value_or(request_.cluster.torus);
  if (request_.overrides.dimensions) { return; }
  if (algorithm_.refuses(without_payload(), layout_)) { layout_.dimensions = {}; }
}

/// What does not fit because its payload is uneven fits once it is rounded up.
Collective Candidate::without_payload() const {
  Collective collective = collective_;
  if (!collective.sizes) { collective.count = Elements::zero(); }
  return collective;
}

/// The chunk shrinks where there would be too few loops for a pipeline.
void Candidate::choose_chunk(Bytes chunk) {
  set_chunk(chunk);
  if (request_.overrides.chunk || chunk == Bytes::max()) { return; }
  for (const std::uint32_t loops : protocol_.halve_below) {
    if (algorithm_.refuses(collective_, layout_)) { return; }
    if (algorithm_.make(collective_, layout_)->lane(AgentId{0}, LaneId{0}).loops >= loops) { continue; }
    chunk = chunk / 2;
    set_chunk(chunk);
  }
}

/// Of one tree over all ranks, in whose switches a chunk is an operation.
Bytes Candidate::largest_operation() const {
  const bool limited = aggregates(algorithm_) && algorithm_.engine == Engine::switches && request_.aggregation;
  return limited ? request_.aggregation->engine.limits.message : Bytes::max();
}

/// Also rounds the payload up to what is cut into equal pieces.
void Candidate::set_chunk(Bytes chunk) {
  if (payload(request_) > largest_operation()) { chunk = std::min(chunk, largest_operation()); }
  layout_.chunk =
      chunk == Bytes::max() ? Elements::max() : Elements{std::max<std::int64_t>(1, chunk / request_.element_size)};
  collective_.count = request_.collective.count;
  if (algorithm_.refuses(without_payload(), layout_)) { return; }
  if (request_.profile.shares_machine()) { return; }  // every agent is simulated, so that pieces need not be equal
  const std::int64_t granule = algorithm_.granule(collective_, layout_).count();
  collective_.count = Elements{ceil_div(collective_.count.count(), granule)} * granule;
}

Placement Candidate::place(const AgentCount& agent_count) const {
  Placement placement;
  const auto& endpoints = request_.cluster.endpoints;
  placement.vertices.assign(endpoints.begin(), endpoints.begin() + agent_count.ranks);
  const auto& engines = sites_.vertices;
  placement.vertices.insert(placement.vertices.end(), engines.begin(), engines.end());
  placement.vertices.resize(agent_count.agents);  // one rank alone needs no engine
  placement.seed = request_.seed;
  placement.queue_pairs = request_.profile.shares_machine() ? 1 : request_.options.pairs_of_connections();
  if (protocol_.hints.nics) {
    use_nics(agent_count, placement);
  } else {
    placement.queue_pairs = striped(placement.queue_pairs, request_.cluster);
  }
  return placement;
}

/// A rank on another GPU than the library looked at, as where nodes have ranks in different places, has its own NIC.
void Candidate::use_nics(const AgentCount& agent_count, Placement& placement) const {
  const auto& nics = protocol_.hints.nics;
  placement.nic_users.resize(agent_count.agents);
  for (std::uint32_t rank = 0; rank < agent_count.ranks; ++rank) {
    const Vertex& vertex = request_.cluster.fabric->vertex(placement.vertices[rank]);
    if (vertex.kind == VertexKind::gpu && vertex.index != nics->gpus[rank % nics->places]) { continue; }
    placement.nic_users[rank] = {nics, rank};
  }
}

bool alike(const Candidate& a, const Candidate& b) {
  const auto what = [](const Collective& c) { return std::tie(c.kind, c.ranks, c.count, c.root, c.in_place, c.sizes); };
  const auto how = [](const Layout& l) {
    return std::tie(l.channels, l.chunk, l.slices, l.grain, l.rotation, l.group, l.dimensions, l.rings, l.outstanding,
                    l.least_slice, l.tree_heads, l.heads, l.parts, l.peers_at_once, l.parts_by_size,
                    l.messages_per_step);
  };
  const auto same_orders = [](const Layout& one, const Layout& other) {
    return one.orders == other.orders || (one.orders && other.orders && *one.orders == *other.orders);
  };
  const auto same_tree = [](const auto& one, const auto& other) { return *one == *other; };
  const auto& trees = a.layout().trees;
  const auto& others = b.layout().trees;
  return &a.algorithm() == &b.algorithm() && what(a.collective()) == what(b.collective()) &&
         how(a.layout()) == how(b.layout()) && same_orders(a.layout(), b.layout()) &&
         std::equal(trees.begin(), trees.end(), others.begin(), others.end(), same_tree);
}

Bytes payload(const RunRequest& request) { return request.element_size * request.collective.count.count(); }

bool aggregates(const Algorithm& algorithm) {
  const auto names = aggregating_algorithms();
  return std::find(names.begin(), names.end(), algorithm.name) != names.end();
}

}  // namespace athanor
