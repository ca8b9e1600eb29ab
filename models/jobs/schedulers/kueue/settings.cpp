#include "models/jobs/schedulers/kueue/settings.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

void visit_limits(Fields& fields, KueueQuota& quota) {
  fields.optional("borrowing_limit", quota.borrowing_limit, "GPUs beyond its quota; absent: all of its cohort");
  fields.optional("lending_limit", quota.lending_limit, "GPUs of its quota that others may have; absent: all");
}

void check_limits(Fields& fields, const KueueQuota& quota) {
  if (fields.ok() && quota.lending_limit && *quota.lending_limit > quota.nominal) {
    fields.problem("lending_limit", "out-of-range", "nobody can lend more than the quota",
                   fmt::format("{} at most", quota.nominal));
  }
}

void visit_flavor(Fields& fields, KueueFlavor& flavor) {
  fields.required("gpu_types", flavor.gpu_types, "Names of GPUs, one of which jobs then have");
  fields.required("nominal_quota", flavor.quota.nominal, "GPUs");
  visit_limits(fields, flavor.quota);
  check_limits(fields, flavor.quota);
  std::sort(flavor.gpu_types.begin(), flavor.gpu_types.end());
  flavor.gpu_types.erase(std::unique(flavor.gpu_types.begin(), flavor.gpu_types.end()), flavor.gpu_types.end());
}

void check_flavors(Fields& fields, const KueueQueue& queue) {
  for (const char* key : {"nominal_quota", "borrowing_limit", "lending_limit"}) {
    if (!fields.has(key)) { continue; }
    fields.problem(key, "conflict", fmt::format("\"{}\" beside \"flavors\", each of which has its own", key),
                   "leave one of them out");
  }
  for (std::size_t i = 0; i < queue.flavors.size(); ++i) {
    const auto same = [&](const KueueFlavor& other) { return other.gpu_types == queue.flavors[i].gpu_types; };
    const auto before = queue.flavors.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::none_of(queue.flavors.begin(), before, same)) { continue; }
    fields.problem("flavors", "conflict",
                   fmt::format("'{}' has two flavors of {}", queue.name, joined(queue.flavors[i].gpu_types, ", ")),
                   "make one quota of them");
  }
}

void check_fungibility(Fields& fields, const KueueQueue& queue) {
  if (queue.flavors.size() > 1) { return; }
  for (const char* key : {"when_can_borrow", "when_can_preempt"}) {
    if (!fields.has(key)) { continue; }
    fields.problem(key, "no-effect", "there is no other flavor to go on to", "leave it out");
  }
}

void check_cohort(Fields& fields, const KueueQueue& queue) {
  if (!queue.cohort.empty()) { return; }
  if (queue.reclaim_within_cohort != KueuePreempt::never) {
    fields.problem("reclaim_within_cohort", "no-effect", fmt::format("'{}' is in no cohort", queue.name),
                   R"(leave it out, or write "cohort")");
  }
  for (const KueueFlavor& flavor : flavors_of(queue)) {
    if (!flavor.quota.borrowing_limit && !flavor.quota.lending_limit) { continue; }
    fields.problem("", "no-effect",
                   fmt::format("'{}' limits what it borrows or lends, and is in no cohort", queue.name),
                   R"(leave out "borrowing_limit" and "lending_limit", or write "cohort")");
    return;
  }
}

}  // namespace

void visit(Fields& fields, KueueQueue& queue) {
  fields.required("name", queue.name, "The queue of its jobs");
  fields.optional("nominal_quota", queue.nominal_quota, "GPUs of any type; or \"flavors\"");
  queue.limits.nominal = queue.nominal_quota.value_or(0);
  visit_limits(fields, queue.limits);
  fields.optional_list("flavors", queue.flavors, "Quotas of GPUs by type, in the order in which they are tried",
                       [](Fields& f, KueueFlavor& flavor) { visit_flavor(f, flavor); });
  fields.optional("when_can_borrow", queue.when_can_borrow, "Where a flavor takes a job only by borrowing",
                  {{"borrow", KueueFungibility::stop}, {"try_next_flavor", KueueFungibility::try_next_flavor}});
  fields.optional("when_can_preempt", queue.when_can_preempt, "Where a flavor takes a job only by preempting others",
                  {{"preempt", KueueFungibility::stop}, {"try_next_flavor", KueueFungibility::try_next_flavor}});
  fields.optional("cohort", queue.cohort, "Queues of one cohort lend each other what they do not use; absent: none");
  fields.optional("strategy", queue.strategy, "Whether a job that is not admitted blocks those behind it",
                  {{"best_effort_fifo", KueueStrategy::best_effort_fifo}, {"strict_fifo", KueueStrategy::strict_fifo}});
  fields.optional("within_cluster_queue", queue.within_cluster_queue, "Of its own queue, a job takes the quota of",
                  {{"never", KueuePreempt::never}, {"lower_priority", KueuePreempt::lower_priority}});
  fields.optional(
      "reclaim_within_cohort", queue.reclaim_within_cohort,
      "Of queues that borrow, a job within its quota takes that of",
      {{"never", KueuePreempt::never}, {"lower_priority", KueuePreempt::lower_priority}, {"any", KueuePreempt::any}});
  if (!fields.ok()) { return; }
  if (!queue.flavors.empty()) {
    check_flavors(fields, queue);
  } else if (!queue.nominal_quota) {
    fields.problem("", "missing-key", fmt::format("'{}' has neither \"nominal_quota\" nor \"flavors\"", queue.name),
                   R"(as in "nominal_quota": 64)");
  } else {
    check_limits(fields, queue.limits);
  }
  check_fungibility(fields, queue);
  check_cohort(fields, queue);
}

std::vector<KueueFlavor> flavors_of(const KueueQueue& queue) {
  if (!queue.flavors.empty()) { return queue.flavors; }
  return {{{}, queue.limits}};
}

}  // namespace athanor
