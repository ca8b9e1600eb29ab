#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/schedulers/gavel/shares.hpp"
#include "models/jobs/schedulers/scheduler.hpp"

namespace athanor {

struct GavelSettings {
  GavelPolicy policy = GavelPolicy::max_min_fairness;
  WallTime round{360'000'000};
};

/// Gavel: which share of time each job has GPUs of each type is the solution of a linear program, and rounds of a fixed
/// length come near to it: in each, those jobs run that have had least of what they should have had, each on GPUs of
/// one type. Shares are computed anew when a job has come or gone, or a node.
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
    std::vector<double> speeds;         ///< by type
    std::vector<double> shares;         ///< of the time that it should have, by type
    std::vector<double> received;       ///< seconds since shares were computed
    std::optional<std::uint16_t> type;  ///< on which it runs
  };
  struct Pick {
    double priority = 0;
    JobId job;
    std::uint16_t type = 0;
  };

  std::vector<double> speeds_of(const Job& job) const;
  static std::uint32_t gpus_of(JobId job, const ClusterState& state);
  std::vector<std::uint32_t> gpus_by_type(const ClusterState& state) const;
  void share_out(const std::vector<std::uint32_t>& gpus, const ClusterState& state);
  void note_round(const ClusterState& state);
  std::vector<Pick> picks() const;
  std::map<JobId, std::uint16_t> chosen(std::vector<std::uint32_t> gpus, const ClusterState& state) const;

  GavelSettings settings_;
  const JobList& jobs_;
  const NodeList& nodes_;
  std::map<JobId, Present> present_;
  std::size_t waiting_ = 0;
  std::vector<std::uint32_t> shared_;  ///< GPUs by type when shares were computed
  bool changed_ = false;               ///< who is there, since then
  bool idle_ = false;                  ///< nothing could be started: no round is another one than the last
  WallTime called_;
};

}  // namespace athanor
