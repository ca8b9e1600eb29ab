#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/gavel/scheduler.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct Gavel final : SchedulerKind {
  static constexpr std::string_view kName = "gavel";
  static constexpr std::string_view kMeaning =
      "rounds that come near to the shares of time on each type of GPU that a policy wants (Gavel, OSDI 2020)";
  GavelSettings settings;

  void visit(Fields& fields) override {
    fields.optional("policy", settings.policy, "What GPUs are shared out for",
                    {{"max_min_fairness", GavelPolicy::max_min_fairness},
                     {"makespan", GavelPolicy::makespan},
                     {"fifo", GavelPolicy::fifo}});
    fields.optional("round", settings.round, "It decides at multiples of this",
                    {WallTime{1'000'000}, WallTime{86'400'000'000}});
  }
  Mistake refusal(const JobList& jobs, const NodeList& nodes) const override {
    Inventory empty(nodes, jobs);
    std::vector<bool> known(jobs.shapes());
    for (const JobId id : jobs.jobs.ids()) {
      if (known[jobs.jobs[id].shape.value]) { continue; }
      known[jobs.jobs[id].shape.value] = true;
      for (const TaskGroup& group : jobs.shape(id)) {
        if (group.each.gpus > 0 && group.each.gpu_milli == 0) { continue; }
        return {"not-simulated",
                fmt::format("'gavel' shares out whole GPUs, and a task of {} has none", jobs.title(id)),
                "give all tasks whole GPUs, or choose another scheduler"};
      }
      const std::vector<bool> fits = types_that_fit(jobs.shape(id), empty);
      if (std::none_of(fits.begin(), fits.end(), [](bool each) { return each; })) {
        return {
            "job-too-large",
            fmt::format("'gavel' gives a job GPUs of one type, and those of {}, {} in all, fit on the nodes of none",
                        jobs.title(id), gpu_milli_of(jobs.shape(id)) / Inventory::kWhole),
            "make the job smaller, or choose another scheduler"};
      }
    }
    return {};
  }
  bool places_jobs() const override { return true; }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& nodes) const override {
    return std::make_unique<GavelScheduler>(settings, jobs, nodes);
  }
};

template SchedulerEntry scheduler_entry_of<Gavel>();

}  // namespace athanor
