#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/inventory.hpp"
#include "models/jobs/schedulers/gavel/shares.hpp"
#include "models/jobs/schedulers/scheduler.hpp"

namespace athanor {

struct GavelSettings {
  GavelPolicy policy = GavelPolicy::max_min_fairness;
  WallTime round{360'000'000};
};

/// Of each type of GPUs, whether all tasks of a job fit on its nodes while nothing else is there. `empty`: all nodes,
/// which are given back as they were.
std::vector<bool> types_that_fit(const Shape& shape, Inventory& empty);

/// Gavel: which share of time each job has GPUs of each type is the solution of a linear program, and rounds of a fixed
/// length come near to it: in each, those jobs run that are owed most of the time that they should have had, each on
/// GPUs of one type. Shares are computed anew when a job has come or gone, or a node; what is owed stays.
class GavelScheduler final : public Scheduler {
 public:
  GavelScheduler(const GavelSettings& settings, const JobList& jobs, const NodeList& nodes);

  void enqueue(JobId job, const ClusterState& state) override;
  void ended(JobId job, const ClusterState& state) override;
  void withdraw(JobId job, const ClusterState& state) override;
  void schedule(ClusterState& state) override;
  WallTime period() const override { return settings_.round; }
  WallTime next_call(const ClusterState& state) const override;
  std::size_t waiting() const override { return waiting_; }
  std::string reason(JobId job, const ClusterState& state) const override;

 private:
  /// A job that waits or runs.
  struct Present {
    std::vector<double> speeds;         ///< by type; 0: it cannot be there
    std::vector<std::int64_t> shares;   ///< of the time that it should have, by type, in millionths
    std::vector<WallTime> owed;         ///< by type: what it should have had so far, less what it has had
    std::optional<std::uint16_t> type;  ///< on which it runs
  };
  struct Pick {
    WallTime owed;  ///< at the end of the round if it does not run in it
    JobId job;
    std::uint16_t type = 0;
  };

  std::vector<double> speeds_of(const Job& job);
  static std::uint32_t gpus_of(JobId job, const ClusterState& state);
  std::vector<std::uint32_t> gpus_by_type(const ClusterState& state) const;
  void share_out(const std::vector<std::uint32_t>& gpus, const ClusterState& state);
  void note_round(const ClusterState& state);
  /// In the order in which jobs get GPUs.
  std::vector<Pick> picks() const;
  /// Those of the picks for whom there are GPUs, by number.
  std::map<JobId, std::uint16_t> chosen(const std::vector<Pick>& picks, std::vector<std::uint32_t> gpus,
                                        const ClusterState& state) const;
  /// False: its GPUs are not free where its tasks fit.
  bool start(JobId job, std::uint16_t type, ClusterState& state);

  GavelSettings settings_;
  const JobList& jobs_;
  const NodeList& nodes_;
  Inventory empty_;                            ///< all nodes, with nothing on them
  std::map<ShapeId, std::vector<bool>> fits_;  ///< types_that_fit() of shapes that have been seen
  std::map<JobId, Present> present_;
  std::size_t waiting_ = 0;
  std::vector<std::uint32_t> gpus_when_shared_;  ///< by type, when shares were computed
  bool changed_ = false;                         ///< who is there, since then
  bool idle_ = false;                            ///< no job could be started, and none runs: until a node comes back
  WallTime called_;
};

}  // namespace athanor
