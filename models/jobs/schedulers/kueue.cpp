#include <algorithm>
#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/jobs/schedulers/entry.hpp"
#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

enum class Strategy : std::uint8_t { best_effort_fifo, strict_fifo };
enum class Preempt : std::uint8_t { never, lower_priority, any };

struct ClusterQueue {
  std::string name;
  std::uint32_t nominal_quota = 0;  ///< GPUs
  std::string cohort;               ///< "": none
  std::optional<std::uint32_t> borrowing_limit;
  Strategy strategy = Strategy::best_effort_fifo;
  Preempt within_cluster_queue = Preempt::never;
  Preempt reclaim_within_cohort = Preempt::never;
};

/// Where a job stands in its queue.
struct Workload {
  std::int64_t priority = 0;  ///< negated: the lower first
  WallTime created;
  JobId job;

  auto operator<=>(const Workload&) const = default;
};

/// Admits whole jobs by quotas of GPUs, which know nothing of nodes; what is admitted starts where it fits.
class KueueScheduler final : public Scheduler {
 public:
  KueueScheduler(const std::vector<ClusterQueue>& queues, const JobList& jobs) : queue_of_(jobs.size()) {
    for (const ClusterQueue& queue : queues) { queues_.push_back({queue, {}, 0}); }
    for (const JobId job : jobs.jobs.ids()) {
      const std::string& name = jobs.name(jobs.jobs[job].queue);
      const auto at = std::find_if(queues.begin(), queues.end(), [&](const auto& queue) { return queue.name == name; });
      queue_of_[job] = static_cast<std::size_t>(at - queues.begin());
    }
  }

  void enqueue(JobId job, const ClusterState& state) override {
    if (admitted(job)) { release(job, state); }
    ++waiting_;
    if (!known(job)) { return; }
    queue(job).pending.insert({-std::int64_t{state.job(job).priority}, state.job(job).submitted, job});
  }
  void ended(JobId job, const ClusterState& state) override { release(job, state); }
  void withdraw(JobId job, const ClusterState& state) override {
    --waiting_;
    if (admitted(job)) { return release(job, state); }
    if (known(job)) {
      queue(job).pending.erase({-std::int64_t{state.job(job).priority}, state.job(job).submitted, job});
    }
  }

  void schedule(ClusterState& state) override {
    admit_all(state);
    for (const Admitted& each : admitted_) {
      if (!state.is_running(each.job) && state.start(each.job)) { --waiting_; }
    }
  }

  std::size_t waiting() const override { return waiting_; }

  std::string reason(JobId job, const ClusterState& state) const override {
    if (!known(job)) { return "is in no queue of cluster_queues, and is never admitted"; }
    if (admitted(job)) {
      return fmt::format("is admitted by quota, but fits nowhere: {} GPUs are free, not where it needs them",
                         state.inventory().free_gpus());
    }
    const Queue& at = queues_[queue_of_[job]];
    return fmt::format("is not admitted: {} of {} GPUs of its queue's quota are used, and it asks for {}",
                       gpus(at.used), at.rules.nominal_quota, gpus(need(job, state)));
  }

 private:
  struct Queue {
    ClusterQueue rules;
    std::set<Workload> pending;
    std::uint64_t used = 0;  ///< thousandths of GPUs that are admitted
    std::uint64_t nominal() const { return std::uint64_t{rules.nominal_quota} * Inventory::kWhole; }
  };
  struct Admitted {
    JobId job;
    std::size_t queue;
  };

  static double gpus(std::uint64_t milli) { return static_cast<double>(milli) / Inventory::kWhole; }
  static std::uint64_t need(JobId job, const ClusterState& state) { return gpu_milli_of(state.jobs().shape(job)); }
  bool known(JobId job) const { return queue_of_[job] < queues_.size(); }
  Queue& queue(JobId job) { return queues_[queue_of_[job]]; }
  bool admitted(JobId job) const {
    return std::any_of(admitted_.begin(), admitted_.end(), [&](const Admitted& each) { return each.job == job; });
  }
  void release(JobId job, const ClusterState& state) {
    queue(job).used -= need(job, state);
    std::erase_if(admitted_, [&](const Admitted& each) { return each.job == job; });
  }

  bool same_cohort(const Queue& a, const Queue& b) const {
    return &a == &b || (!a.rules.cohort.empty() && a.rules.cohort == b.rules.cohort);
  }

  /// Whether the quotas of a queue and of its cohort leave room for so much.
  bool fits(const Queue& at, std::uint64_t need) const {
    if (at.rules.borrowing_limit) {
      const std::uint64_t limit = std::uint64_t{*at.rules.borrowing_limit} * Inventory::kWhole;
      if (at.used + need > at.nominal() + limit) { return false; }
    }
    std::uint64_t used = need;
    std::uint64_t nominal = 0;
    for (const Queue& other : queues_) {
      if (!same_cohort(at, other)) { continue; }
      used += other.used;
      nominal += other.nominal();
    }
    return used <= nominal;
  }

  void admit_all(ClusterState& state) {
    std::vector<std::set<Workload>::const_iterator> heads;
    for (const Queue& each : queues_) { heads.push_back(each.pending.begin()); }
    while (const auto best = best_head(heads, state)) {
      Queue& at = queues_[*best];
      const JobId job = heads[*best]->job;
      if (fits(at, need(job, state)) || make_room(job, state)) {
        heads[*best] = at.pending.erase(heads[*best]);
        at.used += need(job, state);
        admitted_.push_back({job, *best});
      } else {
        heads[*best] = at.rules.strategy == Strategy::strict_fifo ? at.pending.end() : std::next(heads[*best]);
      }
    }
  }

  /// The queue whose head is next: those that need not borrow, then by priority and age; none: no heads are left.
  std::optional<std::size_t> best_head(const std::vector<std::set<Workload>::const_iterator>& heads,
                                       const ClusterState& state) const {
    std::optional<std::size_t> best;
    const auto borrows = [&](std::size_t i) {
      return queues_[i].used + need(heads[i]->job, state) > queues_[i].nominal();
    };
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (heads[i] == queues_[i].pending.end()) { continue; }
      if (!best || std::pair(borrows(i), *heads[i]) < std::pair(borrows(*best), *heads[*best])) { best = i; }
    }
    return best;
  }

  bool may_preempt(JobId job, const Admitted& victim, const ClusterState& state) const {
    const std::size_t mine = queue_of_[job];
    const Queue& at = queues_[mine];
    const Queue& other = queues_[victim.queue];
    const bool lower = state.job(victim.job).priority < state.job(job).priority;
    const auto allows = [&](Preempt policy) {
      return policy == Preempt::any || (policy == Preempt::lower_priority && lower);
    };
    if (victim.queue == mine) { return allows(at.rules.within_cluster_queue); }
    return same_cohort(at, other) && other.used > other.nominal() && at.used + need(job, state) <= at.nominal() &&
           allows(at.rules.reclaim_within_cohort);
  }

  /// Takes quota away from others, from borrowers first, then from the lowest priority and the latest admitted; those
  /// that turn out not to be needed keep theirs.
  bool make_room(JobId job, ClusterState& state) {
    std::vector<Admitted> candidates(admitted_.rbegin(), admitted_.rend());
    const auto rank = [&](const Admitted& each) {
      return std::pair(each.queue == queue_of_[job], state.job(each.job).priority);
    };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Admitted& a, const Admitted& b) { return rank(a) < rank(b); });
    std::vector<Admitted> losers;
    for (const Admitted& each : candidates) {
      if (fits(queue(job), need(job, state))) { break; }
      if (!may_preempt(job, each, state)) { continue; }
      queues_[each.queue].used -= need(each.job, state);
      losers.push_back(each);
    }
    const bool enough = fits(queue(job), need(job, state));
    for (std::size_t i = losers.size(); i-- > 0;) {
      queues_[losers[i].queue].used += need(losers[i].job, state);
      if (enough && !fits(queue(job), need(job, state))) {
        queues_[losers[i].queue].used -= need(losers[i].job, state);
        continue;
      }
      losers.erase(losers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (const Admitted& each : losers) { evict(each, state); }
    return enough;
  }

  /// Its quota is given back already. One that runs waits again when its nodes are gone.
  void evict(const Admitted& victim, ClusterState& state) {
    std::erase_if(admitted_, [&](const Admitted& each) { return each.job == victim.job; });
    if (state.is_running(victim.job)) { return state.stop(victim.job); }
    --waiting_;
    enqueue(victim.job, state);
  }

  std::vector<Queue> queues_;
  IdVector<JobId, std::size_t> queue_of_;  ///< their number: of a job in none of them
  std::vector<Admitted> admitted_;         ///< in that order, whether they run or not
  std::size_t waiting_ = 0;
};

}  // namespace

struct Kueue final : SchedulerKind {
  static constexpr std::string_view kName = "kueue";
  static constexpr std::string_view kMeaning =
      "ClusterQueues of Kueue: jobs are admitted by quotas of GPUs, borrowed within cohorts, and start where they fit";
  std::vector<ClusterQueue> queues;

  static void check(Fields& fields, const ClusterQueue& queue) {
    if (!fields.ok() || !queue.cohort.empty()) { return; }
    const auto refuse = [&](std::string_view key) {
      fields.problem(key, "no-effect", "only queues of a cohort lend each other what they do not use",
                     R"(leave it out, or write "cohort")");
    };
    if (queue.borrowing_limit) { refuse("borrowing_limit"); }
    if (queue.reclaim_within_cohort != Preempt::never) { refuse("reclaim_within_cohort"); }
  }

  void visit(Fields& fields) override {
    fields.required_list("cluster_queues", queues, "Quotas of the jobs' queues", [](Fields& f, ClusterQueue& queue) {
      f.required("name", queue.name, "The queue of its jobs");
      f.required("nominal_quota", queue.nominal_quota, "GPUs");
      f.optional("cohort", queue.cohort, "Queues of one cohort lend each other what they do not use; absent: none");
      f.optional("borrowing_limit", queue.borrowing_limit, "GPUs beyond its quota; absent: all of its cohort");
      f.optional("strategy", queue.strategy, "Whether a job that is not admitted blocks those behind it",
                 {{"best_effort_fifo", Strategy::best_effort_fifo}, {"strict_fifo", Strategy::strict_fifo}});
      f.optional("within_cluster_queue", queue.within_cluster_queue, "Of its own queue, a job takes the quota of",
                 {{"never", Preempt::never}, {"lower_priority", Preempt::lower_priority}});
      f.optional("reclaim_within_cohort", queue.reclaim_within_cohort,
                 "Of queues that borrow, a job within its quota takes that of",
                 {{"never", Preempt::never}, {"lower_priority", Preempt::lower_priority}, {"any", Preempt::any}});
      check(f, queue);
    });
    std::set<std::string> names;
    for (const ClusterQueue& queue : queues) {
      if (names.insert(queue.name).second || !fields.ok()) { continue; }
      fields.problem("cluster_queues", "conflict", fmt::format("there are two queues '{}'", queue.name),
                     "name each differently");
    }
  }
  Mistake refusal(const JobList& jobs) const override {
    std::vector<std::string> known;
    for (const auto& queue : queues) { known.push_back(queue.name); }
    for (const Job& job : jobs.jobs) {
      const std::string& queue = jobs.name(job.queue);
      if (std::find(known.begin(), known.end(), queue) != known.end()) { continue; }
      return {"no-such-queue",
              queue.empty() ? "a job has no queue"
                            : fmt::format("there is no cluster queue '{}', in which a job is", queue),
              fmt::format("cluster_queues are {}", enumeration(known))};
    }
    return {};
  }
  std::unique_ptr<Scheduler> make(const JobList& jobs, const NodeList& /*nodes*/) const override {
    return std::make_unique<KueueScheduler>(queues, jobs);
  }
};

template SchedulerEntry scheduler_entry_of<Kueue>();

}  // namespace athanor
