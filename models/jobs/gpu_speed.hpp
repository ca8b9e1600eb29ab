#pragma once

#include <memory>
#include <vector>

#include "models/jobs/speed.hpp"

namespace athanor {

/// Jobs that are not as fast on all GPUs work as fast as on the slowest that they have: their tasks wait for each
/// other.
class GpuSpeed final : public SpeedModel {
 public:
  /// `others`: what else their speed hangs on. Borrows the jobs and the nodes.
  GpuSpeed(std::unique_ptr<SpeedModel> others, const JobList& jobs, const NodeList& nodes);

  JobPace pace(const RunningJob& running, WallTime done, const ClusterState& state) override;
  bool depends_on_others() const override { return others_->depends_on_others(); }
  bool take_changes() override { return others_->take_changes(); }
  void stopped(JobId job, WallTime done, WallTime now) override { others_->stopped(job, done, now); }
  std::optional<double> expected(JobId job, WallTime done, std::uint32_t nodes, std::uint32_t gpus) override {
    return others_->expected(job, done, nodes, gpus);
  }

 private:
  std::unique_ptr<SpeedModel> others_;
  const JobList& jobs_;
  const NodeList& nodes_;
  IdVector<GpuSpeedsId, std::vector<Speed>> speeds_;  ///< by type of GPU
};

}  // namespace athanor
