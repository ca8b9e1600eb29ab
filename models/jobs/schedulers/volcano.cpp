#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/volcano/scheduler.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

bool has_slices(const JobList& jobs) {
  return std::any_of(jobs.jobs.begin(), jobs.jobs.end(), [&](const Job& job) {
    const Shape& shape = jobs.shape(job.shape);
    return std::any_of(shape.begin(), shape.end(), [](const TaskGroup& group) { return group.each.slice > 0; });
  });
}

}  // namespace

struct Volcano final : SchedulerKind {
  static constexpr std::string_view kName = "volcano";
  static constexpr std::string_view kMeaning =
      "Volcano: sessions that let jobs into queues, place whole gangs and take back what queues do not deserve";
  VolcanoSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }

  Mistake refusal(const JobList& jobs, const NodeList& nodes) const override {
    const bool evicts = settings.has(VolcanoAction::preempt) || settings.has(VolcanoAction::reclaim);
    if (evicts && has_slices(jobs)) {
      return {"not-simulated", "where in a GPU its slices are is not known where Volcano evicts tasks",
              R"(leave out "preempt" and "reclaim", or "mig" of tasks)"};
    }
    if (const auto* tdm = settings.use_of(VolcanoPlugin::tdm)) {
      const std::string mistake = zones_mistake(tdm->zones, nodes.count());
      if (!mistake.empty()) {
        return {"out-of-range", mistake, R"(change "first_node" and "nodes" of the zones of "tdm")"};
      }
    }
    if (settings.queues.empty()) { return {}; }
    for (const VolcanoQueue& queue : settings.queues) {
      if (!queue.guarantee || queue.guarantee->gpus.value_or(0) <= nodes.gpus()) { continue; }
      return {"out-of-range",
              fmt::format("the queue '{}' is guaranteed more GPUs than the {} of all nodes", queue.name, nodes.gpus()),
              "make its guarantee smaller"};
    }
    std::vector<std::string> known = {"default"};
    for (const VolcanoQueue& queue : settings.queues) {
      if (queue.name != known.front()) { known.push_back(queue.name); }
    }
    for (const Job& job : jobs.jobs) {
      const std::string& queue = jobs.name(job.queue);
      if (queue.empty() || std::find(known.begin(), known.end(), queue) != known.end()) { continue; }
      return {"no-such-queue", fmt::format("there is no queue '{}', in which a job is", queue),
              fmt::format("queues are {}", enumeration(known))};
    }
    return {};
  }
  bool places_jobs() const override { return settings.scores_nodes(); }
  bool minds_preemptible() const override { return settings.has(VolcanoPlugin::tdm); }
  bool resizes_jobs() const override { return true; }
  bool places_lost_tasks() const override { return true; }

  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& nodes) const override {
    return std::make_unique<VolcanoScheduler>(settings, jobs, nodes);
  }
};

template SchedulerEntry scheduler_entry_of<Volcano>();

}  // namespace athanor
