#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/kueue/scheduler.hpp"
#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// The types of GPUs that a job of a queue wants, where no flavor of the queue has any of them; empty: one has, or it
/// takes any.
std::vector<std::string> without_flavor(const Shape& shape, const KueueQueue& queue, const JobList& jobs) {
  for (const TaskGroup& group : shape) {
    const std::vector<std::string>& wanted = jobs.gpu_types(group.each.gpu_types);
    const auto suits = [&](const KueueFlavor& flavor) {
      return flavor.gpu_types.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& type) {
               return std::find(flavor.gpu_types.begin(), flavor.gpu_types.end(), type) != flavor.gpu_types.end();
             });
    };
    if (wanted.empty()) { continue; }
    const std::vector<KueueFlavor> flavors = flavors_of(queue);
    if (std::none_of(flavors.begin(), flavors.end(), suits)) { return wanted; }
  }
  return {};
}

}  // namespace

struct Kueue final : SchedulerKind {
  static constexpr std::string_view kName = "kueue";
  static constexpr std::string_view kMeaning =
      "ClusterQueues of Kueue: jobs are admitted by quotas of GPUs, borrowed within cohorts, and start where they fit";
  std::vector<KueueQueue> queues;

  void visit(Fields& fields) override {
    fields.required_list("cluster_queues", queues, "Quotas of the jobs' queues",
                         [](Fields& f, KueueQueue& queue) { athanor::visit(f, queue); });
    std::set<std::string> names;
    for (const KueueQueue& queue : queues) {
      if (names.insert(queue.name).second || !fields.ok()) { continue; }
      fields.problem("cluster_queues", "conflict", fmt::format("there are two queues '{}'", queue.name),
                     "name each differently");
    }
  }

  /// Of a flavor that no node has.
  Mistake flavor_mistake(const NodeList& nodes) const {
    for (const KueueQueue& queue : queues) {
      for (const KueueFlavor& flavor : queue.flavors) {
        for (const std::string& type : flavor.gpu_types) {
          if (std::find(nodes.gpu_types.begin(), nodes.gpu_types.end(), type) != nodes.gpu_types.end()) { continue; }
          return {
              "no-type",
              fmt::format("no node has GPUs of the type '{}', of which the queue '{}' has a flavor", type, queue.name),
              "nodes have " + enumeration(nodes.gpu_types)};
        }
      }
    }
    return {};
  }

  Mistake refusal(const JobList& jobs, const NodeList& nodes) const override {
    if (Mistake mistake = flavor_mistake(nodes); !mistake.message.empty()) { return mistake; }
    std::vector<std::string> known;
    for (const auto& queue : queues) { known.push_back(queue.name); }
    for (const JobId id : jobs.jobs.ids()) {
      const std::string& name = jobs.name(jobs.jobs[id].queue);
      const auto queue =
          std::find_if(queues.begin(), queues.end(), [&](const auto& each) { return each.name == name; });
      if (queue == queues.end()) {
        return {"no-such-queue",
                name.empty() ? "a job has no queue"
                             : fmt::format("there is no cluster queue '{}', in which a job is", name),
                fmt::format("cluster_queues are {}", enumeration(known))};
      }
      if (const auto types = without_flavor(jobs.shape(id), *queue, jobs); !types.empty()) {
        return {"no-flavor",
                fmt::format("{} wants GPUs of the type {}, and no flavor of its queue '{}' has them", jobs.title(id),
                            joined(types, " or "), name),
                "add a flavor, or put it into another queue"};
      }
    }
    return {};
  }

  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& nodes) const override {
    return std::make_unique<KueueScheduler>(queues, jobs, nodes);
  }
};

template SchedulerEntry scheduler_entry_of<Kueue>();

}  // namespace athanor
