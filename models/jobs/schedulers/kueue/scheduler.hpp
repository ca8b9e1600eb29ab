#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/jobs/schedulers/kueue/quotas.hpp"
#include "models/jobs/schedulers/scheduler.hpp"

namespace athanor {

/// Admits whole jobs by quotas of GPUs, which know nothing of nodes; what is admitted starts where it fits on GPUs of
/// its flavors.
class KueueScheduler final : public Scheduler {
 public:
  KueueScheduler(const std::vector<KueueQueue>& queues, const JobList& jobs, const NodeList& nodes);

  void enqueue(JobId job, const ClusterState& state) override;
  void ended(JobId job, const ClusterState& /*state*/) override { release(job); }
  void withdraw(JobId job, const ClusterState& state) override;
  void schedule(ClusterState& state) override;
  std::size_t waiting() const override { return waiting_; }
  std::string reason(JobId job, const ClusterState& state) const override;

 private:
  using Flavor = KueueQuotas::Flavor;
  using Amounts = KueueQuotas::Amounts;

  /// Where a job stands in its queue.
  struct Pending {
    std::int64_t priority = 0;  ///< negated: the lower first
    WallTime created;
    JobId job;

    auto operator<=>(const Pending&) const = default;
  };
  struct Queue {
    KueueQueue rules;
    std::set<Pending> pending;
  };
  enum class Mode : std::uint8_t { none, preempt, fit };
  /// The flavors that a job would get.
  struct Assignment {
    Mode mode = Mode::fit;
    bool borrows = false;
    std::vector<std::optional<Flavor>> flavors;  ///< of each group; none: it asks for no GPU
    Amounts amounts;
  };
  struct Admitted {
    JobId job;
    std::size_t queue;
    Assignment assigned;
  };
  /// The first job of a queue that has not been looked at, and what it would get as long as nobody is admitted.
  struct Head {
    std::set<Pending>::const_iterator at;
    std::optional<Assignment> assigned;
  };

  bool known(JobId job) const { return queue_of_[job] < queues_.size(); }
  Queue& queue(JobId job) { return queues_[queue_of_[job]]; }
  std::vector<Admitted>::const_iterator find_admitted(JobId job) const;
  bool is_admitted(JobId job) const { return find_admitted(job) != admitted_.end(); }
  void wait(JobId job, const ClusterState& state);
  void release(JobId job);
  bool start(const Admitted& admitted, ClusterState& state);

  bool suits(Flavor flavor, const Demand& demand) const;
  Assignment assign(JobId job, const ClusterState& state);
  bool assign_group(JobId job, const TaskGroup& group, const ClusterState& state, Assignment& assigned);
  /// `preempts`: jobs may take quota from others.
  void admit_all(bool preempts, ClusterState& state);
  std::optional<std::size_t> best_head(std::vector<Head>& heads, const ClusterState& state);
  bool may_preempt(JobId job, const Amounts& wanted, const Admitted& victim, const ClusterState& state) const;
  std::optional<std::vector<JobId>> victims(JobId job, const Amounts& wanted, const ClusterState& state);
  void evict(JobId victim, ClusterState& state);

  const JobList& jobs_;
  const NodeList& nodes_;
  std::vector<Queue> queues_;
  KueueQuotas quotas_;
  IdVector<JobId, std::size_t> queue_of_;  ///< their number: of a job in none of them
  std::vector<Admitted> admitted_;         ///< in that order, whether they run or not
  std::set<JobId> requeued_;  ///< that have lost their nodes just now, and of whom enqueue() is still to be told
  std::size_t waiting_ = 0;
};

}  // namespace athanor
