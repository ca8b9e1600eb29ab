#include "models/execution/simulate.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "models/execution/execution_observer.hpp"
#include "models/execution/executor.hpp"
#include "models/execution/least_time.hpp"
#include "models/execution/machine_substrates.hpp"
#include "models/execution/network_substrate.hpp"
#include "models/execution/prepare.hpp"
#include "models/execution/repetition.hpp"
#include "models/execution/unshared_run.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

void assign_starts(MappedSchedule& mapped, const ConcurrentJobs& jobs) {
  if (jobs.starts.empty()) { return; }
  require(jobs.of_agents.size() == mapped.first_lane.size(), "jobs of {} agents, of {}", jobs.of_agents.size(),
          mapped.first_lane.size());
  std::set<std::uint32_t> awaited;
  for (const JobStart& start : jobs.starts) { awaited.insert(start.after.begin(), start.after.end()); }
  mapped.starts = {};
  std::map<Time, StartIndex> shared;
  std::vector<StartIndex> start_of;  // by job
  for (std::uint32_t job = 0; job < jobs.starts.size(); ++job) {
    const JobStart& start = jobs.starts[job];
    const StartIndex next = mapped.starts.next();
    const bool alone = !start.after.empty() || awaited.contains(job);
    start_of.push_back(alone ? next : shared.try_emplace(start.begin, next).first->second);
    if (start_of.back() != next) { continue; }
    mapped.starts.push_back({start.begin, {}});
    for (const std::uint32_t before : start.after) {
      require(before < job, "job {} waits for job {}", job, before);
      mapped.starts.back().after.push_back(start_of[before]);
    }
  }
  for (MappedSchedule::Lane& lane : mapped.lanes) { lane.start = start_of.at(jobs.of_agents[lane.agent.value]); }
}

namespace {

/// `end_of(lane)`: of each.
template <class EndOf>
std::vector<Time> ends_of_jobs(const MappedSchedule& mapped, const ConcurrentJobs& jobs, const EndOf& end_of) {
  std::vector<Time> ends(jobs.starts.size());
  if (ends.empty()) { return ends; }
  for (const AgentId agent : mapped.first_lane.ids()) {
    Time& end = ends.at(jobs.of_agents[agent.value]);
    for (std::size_t lane = mapped.first_lane[agent]; lane < mapped.end_of_lanes(agent); ++lane) {
      end = std::max(end, end_of(mapped.lane_of[lane]));
    }
  }
  return ends;
}

}  // namespace

std::vector<Time> ends(const MappedSchedule& mapped, const Executor& executor, const ConcurrentJobs& jobs) {
  return ends_of_jobs(mapped, jobs, [&](LaneIndex lane) { return executor.end_of(lane); });
}

namespace {

/// `finish`: of all lanes. `end_of(lane)`: of each.
template <class EndOf>
Time first_end(const MappedSchedule& mapped, Time finish, std::uint32_t ranks, const EndOf& end_of) {
  Time first = finish;
  for (AgentId agent{0}; agent.value < ranks; ++agent.value) {
    Time end;
    for (std::size_t i = mapped.first_lane[agent]; i < mapped.end_of_lanes(agent); ++i) {
      end = std::max(end, end_of(mapped.lane_of[i]));
    }
    if (end > Time::zero()) { first = std::min(first, end); }
  }
  return first;
}

NetworkUse use_of(const FabricConnections& connections, const UnsharedOutcome& outcome, bool each_link) {
  NetworkUse use;
  use.observed = outcome.finish;
  for (const LinkIndex link : connections.links.ids()) {
    use.loads.push_back({connections.links[link], connections.link_members[link], outcome.carried[link]});
  }
  if (!each_link || connections.all_links.empty()) { return use; }
  const std::vector<LinkLoad> classes = std::move(use.loads);
  use.loads.clear();
  for (const LinkIndex link : connections.all_links.ids()) {
    use.loads.push_back({connections.all_links[link], 1, classes[connections.class_of_link[link].value].carried});
  }
  return use;
}

Simulated given_up(Time least) {
  Simulated result;
  result.time = least;
  result.given_up = true;
  return result;
}

/// Nothing where events are needed, or wanted by somebody who watches them.
std::optional<Simulated> simulate_unshared(const PreparedSchedule& prepared, const Schedule& schedule,
                                           const CostModel& costs, const SimulationOptions& options) {
  const MappedSchedule& mapped = prepared.mapped;
  const bool watched = options.timeline != nullptr || !options.observers.empty() || options.count_ports;
  if (watched || !options.repeat_loops) { return {}; }
  const auto outcome = run_unshared(mapped, schedule, costs.element_size(), costs.slots(), options);
  if (!outcome) { return {}; }
  Simulated result;
  result.time = outcome->finish;
  const auto end_of = [&](LaneIndex lane) { return outcome->ends[lane]; };
  result.first_end = first_end(mapped, outcome->finish, schedule.agent_count().ranks, end_of);
  result.ends = ends_of_jobs(mapped, options.jobs, end_of);
  result.network = use_of(mapped.network, *outcome, options.each_link);
  result.lanes = static_cast<std::uint32_t>(mapped.lanes.size());
  result.all_lanes = static_cast<std::uint32_t>(mapped.lane_of.size());
  result.by_blocks = prepared.by_blocks;
  result.primitives = outcome->primitives;
  result.skipped_steps = outcome->skipped_steps;
  return result;
}

}  // namespace

Simulated simulate(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
                   const SimulationOptions& options) {
  return simulate(prepare(schedule, cluster, placement, costs, options, false), schedule, cluster, placement, costs,
                  options);
}

Simulated simulate(const PreparedSchedule& prepared, const Schedule& schedule, const Cluster& cluster,
                   const Placement& placement, const CostModel& costs, const SimulationOptions& options) {
  if (options.give_up_after < Time::max() && options.level != NetworkLevel::ideal) {
    const Time least = least_time(prepared.mapped, schedule, costs.element_size(), options.give_up_after);
    if (least > options.give_up_after) { return given_up(least); }
  }
  if (std::optional<Simulated> unshared = simulate_unshared(prepared, schedule, costs, options)) {
    return std::move(*unshared);
  }
  const MappedSchedule& mapped = prepared.mapped;
  const bool packets = options.level == NetworkLevel::packet;
  Simulator simulator(options.stop);
  NetworkSubstrate network(simulator, mapped, *cluster.fabric, options, placement.seed);
  Executor executor(simulator, mapped, schedule, network, costs.element_size(), costs.slots());
  std::optional<TimelineRecorder> recorder;
  if (options.timeline != nullptr) { executor.observe(recorder.emplace(*options.timeline, options.timeline_offset)); }
  for (ExecutionObserver* each : options.observers) {
    executor.observe(*each);
    network.observe(*each);
  }
  std::optional<Repetition> repetition;
  const bool watched = options.timeline != nullptr || !options.observers.empty();
  if (options.repeat_loops && !packets && !watched) {
    repetition.emplace(simulator, executor, network, mapped, to_double(options.skip_error));
  }
  executor.start(Time::zero());
  if (!simulator.run_until(options.give_up_after) && !executor.finished()) { return given_up(simulator.next()); }
  simulator.run();
  executor.require_finished();

  Simulated result;
  result.time = executor.finish_time();
  result.first_end = first_end(mapped, result.time, schedule.agent_count().ranks,
                               [&](LaneIndex lane) { return executor.end_of(lane); });
  result.ends = ends(mapped, executor, options.jobs);
  result.network = network.use(result.time);
  result.lanes = static_cast<std::uint32_t>(mapped.lanes.size());
  result.all_lanes = static_cast<std::uint32_t>(mapped.lane_of.size());
  result.by_blocks = prepared.by_blocks;
  result.primitives = executor.primitives();
  result.skipped_loops = repetition ? repetition->skipped_loops() : 0;
  result.skipped_steps = repetition ? repetition->skipped_steps() : 0;
  if (repetition) { result.settled = {repetition->settled_loops(), repetition->settled_steps()}; }
  result.events = simulator.events();
  return result;
}

namespace {

Simulated run(Simulator& simulator, Executor& executor, const MappedSchedule& mapped, Time launch, Timeline* timeline,
              Time offset) {
  std::optional<TimelineRecorder> recorder;
  if (timeline != nullptr) { executor.observe(recorder.emplace(*timeline, offset)); }
  executor.start(launch);
  simulator.run();
  executor.require_finished();
  Simulated result;
  result.time = executor.finish_time();
  result.primitives = executor.primitives();
  result.events = simulator.events();
  result.lanes = result.all_lanes = static_cast<std::uint32_t>(mapped.lanes.size());
  return result;
}

}  // namespace

Simulated simulate_on_threads(const Schedule& schedule, std::uint32_t processors, const ThreadCosts& costs,
                              Bytes element_size, std::uint32_t slots, const SimulationOptions& options) {
  const MappedSchedule mapped = flatten(schedule);
  const std::uint32_t workers = std::min(processors, schedule.agent_count().ranks);
  PrimitiveWork work(schedule, costs, workers, element_size, slots);
  Simulated result;
  for (const bool timed : {false, true}) {
    Simulator simulator(options.stop);
    ThreadSubstrate threads(simulator, mapped, costs, work, workers);
    Executor executor(simulator, mapped, schedule, threads, element_size, slots);
    result =
        run(simulator, executor, mapped, Time::zero(), timed ? options.timeline : nullptr, options.timeline_offset);
    work.begin_again();
  }
  return result;
}

Simulated simulate_on_gpus(const Schedule& schedule, std::uint32_t gpus, const GpuCosts& costs, Bytes element_size,
                           std::uint32_t slots, const SimulationOptions& options) {
  const MappedSchedule mapped = flatten(schedule);
  const std::uint32_t enough = std::max(slots, costs.slots);
  Simulator simulator(options.stop);
  GpuSubstrate blocks(simulator, mapped, schedule, costs, gpus, element_size, enough);
  Executor executor(simulator, mapped, schedule, blocks, element_size, enough);
  return run(simulator, executor, mapped, costs.launch, options.timeline, options.timeline_offset);
}

}  // namespace athanor
