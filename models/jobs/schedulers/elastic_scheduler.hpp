#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/schedulers/gpu_row.hpp"
#include "models/jobs/schedulers/scheduler.hpp"

namespace athanor {

class Fields;

/// Keys that all schedulers of elastic jobs have.
struct ElasticSettings {
  WallTime period{60'000'000};
  WallTime move{30'000'000};
};
void visit(Fields& fields, ElasticSettings& settings);

/// Why a scheduler of that name cannot have these jobs, which are not elastic or, where it does not look at types, want
/// GPUs of one; no message: it can.
Mistake elastic_refusal(const JobList& jobs, std::string_view scheduler, bool looks_at_types = false);

/// Gives all jobs GPUs anew in each period, wherever it likes. A job whose GPUs change is stopped and started again.
class ElasticScheduler : public Scheduler {
 public:
  ElasticScheduler(const ElasticSettings& settings, const JobList& jobs) : settings_(settings), known_(jobs.size()) {}

  WallTime period() const final { return settings_.period; }
  WallTime next_call(const ClusterState& state) const final {
    return state.running().empty() ? WallTime::max() : called_ + settings_.period;
  }
  std::size_t waiting() const final { return waiting_.size(); }
  void enqueue(JobId job, const ClusterState& state) final;
  void withdraw(JobId job, const ClusterState& state) final;
  void schedule(ClusterState& state) final;
  std::string reason(JobId job, const ClusterState& state) const override;

 protected:
  using Rows = std::vector<GpuRow>;

  /// GPUs of all jobs, in the order of their ids; `present`: what they have. No more than the nodes have.
  virtual Rows choose(const std::vector<JobId>& jobs, const Rows& present, const ClusterState& state) = 0;

  /// GPUs of each node; none of a closed one.
  static std::vector<std::uint32_t> capacity(const ClusterState& state);
  /// At most twice as many as it has had.
  std::uint32_t most_gpus(JobId job, const ClusterState& state) const;
  /// What a move leaves of its speed: the part of the time since its submission that moves have not cost so far, as if
  /// they would go on so.
  double if_moved(JobId job, const ClusterState& state) const;

 private:
  struct Known {
    std::uint32_t most_gpus = 0;  ///< that it has had
    std::uint32_t moves = 0;
  };
  void start(JobId job, const GpuRow& row, ClusterState& state);

  ElasticSettings settings_;
  IdVector<JobId, Known> known_;
  WallTime called_;
  std::vector<JobId> waiting_;
};

}  // namespace athanor
