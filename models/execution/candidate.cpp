#include "models/execution/candidate.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/schedule/aggregation_tree.hpp"
#include "models/execution/by_packets.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/prepare.hpp"
#include "models/execution/simulate_calls.hpp"
#include "models/software/profile.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

bool Candidate::by_packets() const { return goes_by_packets(request_, algorithm_); }

bool Candidate::may_choose_chunk() const {
  return !request_.profile.shares_machine() && !by_packets() && algorithm_.pipelines && !request_.overrides.chunk &&
         !parts_.protocol.library && parts_.protocol.chunk == Bytes::max();
}

std::optional<Candidate> Candidate::on(const RunRequest& elsewhere) const {
  std::variant<Candidate, Refusal> laid_out = lay_out(elsewhere, algorithm_, parts_.protocol);
  const Candidate* const other = std::get_if<Candidate>(&laid_out);
  if (other == nullptr) { return std::nullopt; }
  const Elements chunk = parts_.layout.chunk;
  if (other->parts_.layout.chunk == chunk) { return *other; }
  return other->in_chunks_of(chunk == Elements::max() ? Bytes::max() : request_.element_size * chunk.count());
}

RunResult Candidate::run(const SimulationOptions& options) const {
  RunResult result;
  result.algorithm = algorithm_.name;
  result.chosen = &algorithm_;
  result.protocol = parts_.protocol.name;
  if (by_packets()) {
    AggregationResult packets = run_by_packets(request_, parts_.protocol, options);
    result.slots = packets.jobs.front();
    result.simulated = simulated_of(std::move(packets));
    result.time = result.simulated.time + launch();
    return result;
  }
  result.channels = parts_.layout.channels;
  result.padded = parts_.collective.count != request_.collective.count;
  result.roots = roots();
  result.simulated = simulate_with(request_.element_size, options);
  result.time = launched(result.simulated.time);
  if (request_.calls > 1 && !result.simulated.given_up) { call_again(options, result); }
  return result;
}

/// Ranks that are all done at once leave nothing behind: then each call is like the first.
void Candidate::call_again(const SimulationOptions& options, RunResult& result) const {
  const Time latency = result.time;
  result.calls = BackToBack{latency, latency, true};
  if (result.simulated.first_end == result.simulated.time) { return; }
  const auto schedule = this->schedule();
  const SimulatedCalls many =
      simulate_calls(*schedule, request_.cluster, place(schedule->agent_count()),
                     *costs(*schedule, request_.element_size), options, {request_.calls, launch()});
  result.time = overlapped_launch((many.end + launch()) / request_.calls, host_time());
  result.calls = BackToBack{latency, overlapped_launch(many.period, host_time()), many.exact};
}

Time Candidate::launch() const { return request_.profile.launch + parts_.protocol.start; }

Time Candidate::launched(Time primitives) const { return overlapped_launch(primitives + launch(), host_time()); }

Time Candidate::host_time() const {
  const auto& nccl = request_.profile.nccl;
  if (!nccl) { return Time::zero(); }
  const std::int64_t gpus = request_.nccl != nullptr ? request_.nccl->communicator().most_local_ranks : 1;
  return nccl->host_launch_per_gpu * gpus + nccl->host_channel * (parts_.layout.channels - 1);
}

std::vector<std::string> Candidate::roots() const {
  std::vector<std::string> names;
  std::size_t engines = 0;
  for (const auto& tree : parts_.sites.trees) { engines += tree->nodes(); }
  std::size_t first = parts_.sites.vertices.size() - engines;  // after the NVSwitches
  for (const auto& tree : parts_.sites.trees) {
    names.push_back(request_.cluster.fabric->name(parts_.sites.vertices[first]));
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
  const Placement placement = place(schedule->agent_count());
  return simulate(*prepared(*schedule, placement, options), *schedule, request_.cluster, placement,
                  *costs(*schedule, element_size), options);
}

/// Kept where agents are in classes: the whole schedule may be large.
std::shared_ptr<const PreparedSchedule> Candidate::prepared(const Schedule& schedule, const Placement& placement,
                                                            const SimulationOptions& options) const {
  const bool in_classes = finds_classes(options);
  if (in_classes && prepared_) { return prepared_; }
  const auto made = std::make_shared<const PreparedSchedule>(
      prepare(schedule, request_.cluster, placement, *costs(schedule, request_.element_size), options, false));
  if (in_classes) { prepared_ = made; }
  return made;
}

std::unique_ptr<const CostModel> Candidate::costs(const Schedule& schedule, Bytes element_size) const {
  return std::make_unique<ProfilePricing>(*request_.cluster.fabric, request_.profile, parts_.protocol, kinds(schedule),
                                          element_size, schedule.least_slots());
}

AgentKinds Candidate::kinds(const Schedule& schedule) const {
  if (algorithm_.engine == Engine::server) { return {schedule.agent_count().agents, 0}; }
  const auto in_node = [&](VertexId vertex) {
    return request_.cluster.fabric->vertex(vertex).kind == VertexKind::nvswitch;
  };
  const auto nvswitches = std::count_if(parts_.sites.vertices.begin(), parts_.sites.vertices.end(), in_node);
  return {parts_.collective.ranks, static_cast<std::uint32_t>(nvswitches)};
}

Placement Candidate::place(const AgentCount& agent_count) const {
  Placement placement;
  const auto& endpoints = request_.cluster.endpoints;
  placement.vertices.assign(endpoints.begin(), endpoints.begin() + agent_count.ranks);
  const auto& engines = parts_.sites.vertices;
  placement.vertices.insert(placement.vertices.end(), engines.begin(), engines.end());
  placement.vertices.resize(agent_count.agents);  // one rank alone needs no engine
  placement.seed = request_.seed;
  placement.queue_pairs = request_.profile.shares_machine() ? 1 : request_.options.pairs_of_connections();
  if (parts_.protocol.library && parts_.protocol.library->nics) {
    placement.queue_pairs *= parts_.protocol.library->nics->ports;
    use_nics(agent_count, placement);
  } else {
    placement.queue_pairs = striped(placement.queue_pairs, request_.cluster);
  }
  return placement;
}

/// A rank on another GPU than the library looked at, as where nodes have ranks in different places, has its own NIC.
void Candidate::use_nics(const AgentCount& agent_count, Placement& placement) const {
  const auto& nics = parts_.protocol.library->nics;
  placement.nic_users.resize(agent_count.agents);
  for (std::uint32_t rank = 0; rank < agent_count.ranks; ++rank) {
    const Vertex& vertex = request_.cluster.fabric->vertex(placement.vertices[rank]);
    if (vertex.kind == VertexKind::gpu && vertex.index != nics->gpus[rank % nics->places]) { continue; }
    placement.nic_users[rank] = {nics, rank};
  }
}

bool same_schedule(const Candidate& a, const Candidate& b) {
  return &a.algorithm() == &b.algorithm() && a.collective() == b.collective() && a.layout() == b.layout();
}

Bytes payload(const RunRequest& request) { return request.element_size * request.collective.count.count(); }

bool aggregates(const Algorithm& algorithm) {
  const auto names = aggregating_algorithms();
  return std::find(names.begin(), names.end(), algorithm.name) != names.end();
}

}  // namespace athanor
