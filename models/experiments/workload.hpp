#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/workload/run_workload.hpp"

namespace athanor {

/// A workload that has run.
struct WorkloadRun {
  Time time;        ///< of the step
  Time stragglers;  ///< what they add to the workload's own time
  WorkloadResult result;
  std::vector<std::string> notes;
};

/// How calls are timed: by NCCL where the profile has it, else by rings, pairwise exchanges and messages, or by the
/// engines of the network's switches where these are faster. Borrows the platform.
PricingSettings pricing_of(const WorkloadNccl& nccl, const Platform& platform, const RunOptions& options);

/// What workers compute and call, known in full before it runs: a step of training, a trace. One run without a size.
class WorkloadExperiment : public Experiment {
 public:
  explicit WorkloadExperiment(WorkloadNccl nccl) : nccl_(std::move(nccl)) {}

  /// What is run. Throws as run().
  virtual Workload workload() const = 0;
  /// Throws as run(). `timer`: made of pricing() of this platform, or one that is equal.
  virtual WorkloadRun simulate(const Platform& platform, CollectiveTimer& timer,
                               const WorkloadOptions& options) const = 0;
  /// Where eight of ten measured times of what has run so are expected, and what of it had been measured, as far as
  /// anybody knows: as results have it.
  virtual void put_interval(const Platform& platform, const WorkloadRun& run, Record& record) const = 0;
  /// As pricing_of().
  PricingSettings pricing(const Platform& platform, const RunOptions& options) const {
    return pricing_of(nccl_, platform, options);
  }

  std::span<const Bytes> sizes() const override;
  std::string label(Bytes size) const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  bool has_collectives() const override { return true; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 protected:
  static std::string work_text(const WorkloadResult& result);

 private:
  WorkloadNccl nccl_;
};

}  // namespace athanor
