#include "models/jobs/schedulers/volcano/jobs.hpp"

#include <algorithm>
#include <vector>

#include "models/jobs/task_count.hpp"

namespace athanor {

namespace {

/// Who of two jobs that both wait comes first: neither is ready, and none has a share.
bool is_before(const Job& a, const Job& b, const VolcanoSettings& settings) {
  for (const VolcanoTier& tier : settings.tiers) {
    for (const VolcanoPluginUse& use : tier) {
      if (use.plugin == VolcanoPlugin::priority && a.priority != b.priority) { return a.priority > b.priority; }
      if (use.plugin == VolcanoPlugin::sla && a.submitted != b.submitted) { return a.submitted < b.submitted; }
      if (use.plugin == VolcanoPlugin::tdm && a.preemptible != b.preemptible) { return b.preemptible; }
    }
  }
  return false;
}

}  // namespace

VolcanoJobs::VolcanoJobs(const VolcanoSettings& settings, const VolcanoQueues& queues, const JobList& jobs)
    : list_(jobs), jobs_(jobs.size()) {
  std::vector<JobId> order;
  for (const JobId id : jobs.jobs.ids()) {
    const Job& job = jobs.jobs[id];
    const Shape& shape = jobs.shape(job.shape);
    VolcanoJob& known = jobs_[id];
    known.queue = queues.queue_of(jobs.name(job.queue));
    known.needed = known.most = tasks_of(shape);
    if (job.is_elastic()) {
      const std::uint32_t of_each = std::max<std::uint32_t>(shape.front().each.gpus, 1);
      known.needed = std::max(job.least_gpus / of_each, 1U);
      known.most = job.most_gpus / of_each;
      least_shapes_[id] = {{known.needed, shape.front().each}};
    }
    known.is_best_effort =
        std::all_of(shape.begin(), shape.end(), [](const auto& group) { return asks_for_nothing(group.each); });
    order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](JobId a, JobId b) { return is_before(jobs.jobs[a], jobs.jobs[b], settings); });
  for (std::size_t i = 0; i < order.size(); ++i) { jobs_[order[i]].rank = static_cast<std::int64_t>(i); }
}

Amounts VolcanoJobs::most(JobId job) const {
  const Shape& shape = list_.shape(job);
  return list_.jobs[job].is_elastic() ? amounts_of(shape.front().each, jobs_[job].most) : amounts_of(shape);
}

const Shape& VolcanoJobs::needed_shape(JobId job) const {
  return list_.jobs[job].is_elastic() ? least_shapes_.at(job) : list_.shape(job);
}

}  // namespace athanor
