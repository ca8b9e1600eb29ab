#include "models/jobs/schedulers/elastic_scheduler.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/config/fields.hpp"

namespace athanor {

void visit(Fields& fields, ElasticSettings& settings) {
  fields.optional("period", settings.period, "It decides at multiples of this",
                  {WallTime{1'000'000}, WallTime{86'400'000'000}});
  fields.optional("move", settings.move, "What it takes a change of a job's GPUs to cost");
}

Mistake elastic_refusal(const JobList& jobs, std::string_view scheduler, bool looks_at_types) {
  for (const JobId id : jobs.jobs.ids()) {
    if (!jobs.jobs[id].is_elastic()) {
      return {"not-elastic",
              fmt::format("{} is not elastic, and '{}' gives jobs other GPUs", jobs.title(id), scheduler),
              R"(give it "elastic", or choose another scheduler)"};
    }
    if (jobs.shape(id).front().each.gpus != 1) {
      return {"not-elastic",
              fmt::format("the tasks of {} have {} GPUs each, and '{}' gives jobs GPUs one by one", jobs.title(id),
                          jobs.shape(id).front().each.gpus, scheduler),
              "choose another scheduler"};
    }
    if (!looks_at_types && jobs.shape(id).front().each.gpu_types.value != 0) {
      return {"no-effect",
              fmt::format("{} wants GPUs of a type, which '{}' does not look at", jobs.title(id), scheduler),
              R"(leave out "gpu_types", or choose another scheduler)"};
    }
  }
  return {};
}

void ElasticScheduler::enqueue(JobId job, const ClusterState& /*state*/) { waiting_.push_back(job); }

void ElasticScheduler::withdraw(JobId job, const ClusterState& /*state*/) { std::erase(waiting_, job); }

std::string ElasticScheduler::reason(JobId job, const ClusterState& state) const {
  return fmt::format("waits for {} GPUs, {} are free", state.job(job).least_gpus, state.inventory().free_gpus());
}

std::vector<std::uint32_t> ElasticScheduler::capacity(const ClusterState& state) {
  const Inventory& inventory = state.inventory();
  std::vector<std::uint32_t> gpus;
  for (const NodeId node : inventory.nodes().nodes.ids()) {
    gpus.push_back(inventory.is_open(node) ? inventory.nodes().nodes[node].gpus : 0);
  }
  return gpus;
}

std::uint32_t ElasticScheduler::most_gpus(JobId id, const ClusterState& state) const {
  const Job& job = state.job(id);
  return std::min(job.most_gpus, std::max({job.least_gpus, 2 * known_[id].most_gpus, 1U}));
}

double ElasticScheduler::if_moved(JobId id, const ClusterState& state) const {
  const double age = seconds(state.now() - state.job(id).submitted);
  const double cost = seconds(settings_.move);
  return age + cost > 0 ? std::max(0.0, age - known_[id].moves * cost) / (age + cost) : 1;
}

void ElasticScheduler::schedule(ClusterState& state) {
  called_ = state.now();
  std::vector<JobId> jobs = waiting_;
  for (const RunningJob& running : state.running()) { jobs.push_back(running.job); }
  if (jobs.empty()) { return; }
  std::sort(jobs.begin(), jobs.end());
  Rows present;
  for (const JobId job : jobs) {
    present.emplace_back(state.inventory().nodes().count());
    if (!state.is_running(job)) { continue; }
    for (const NodeShare& on : state.running(job).where) {
      present.back()[on.node.value] = static_cast<std::uint16_t>(on.gpus.count());
    }
  }
  const Rows chosen = choose(jobs, present, state);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (chosen[i] != present[i] && state.is_running(jobs[i])) { state.stop(jobs[i]); }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (gpus_of(chosen[i]) > 0 && !state.is_running(jobs[i])) { start(jobs[i], chosen[i], state); }
  }
}

void ElasticScheduler::start(JobId job, const GpuRow& row, ClusterState& state) {
  Allocation where;
  for (std::uint32_t node = 0; node < row.size(); ++node) {
    if (row[node] == 0) { continue; }
    take_tasks(NodeId{node}, 0, state.jobs().shape(job).front().each, row[node], state.inventory(), where);
  }
  Known& known = known_[job];
  known.moves += known.most_gpus > 0 ? 1 : 0;
  known.most_gpus = std::max(known.most_gpus, gpus_of(row));
  state.start(job, std::move(where));
  std::erase(waiting_, job);
}

}  // namespace athanor
