#include "models/jobs/gpu_speed.hpp"

#include <algorithm>

namespace athanor {

GpuSpeed::GpuSpeed(std::unique_ptr<SpeedModel> others, const JobList& jobs, const NodeList& nodes)
    : others_(std::move(others)), jobs_(jobs), nodes_(nodes) {
  for (const GpuSpeeds& known : jobs.gpu_speeds()) {
    std::vector<Speed> by_type;
    for (const std::string& type : nodes.gpu_types) {
      const auto found = known.find(type);
      by_type.push_back(found == known.end() ? Speed{} : Speed::of(found->second));
    }
    speeds_.push_back(std::move(by_type));
  }
}

JobPace GpuSpeed::pace(const RunningJob& running, WallTime done, const ClusterState& state) {
  JobPace pace = others_->pace(running, done, state);
  const GpuSpeedsId id = jobs_.jobs[running.job].gpu_speeds;
  if (id.value == 0) { return pace; }
  std::uint64_t least = UINT64_MAX;
  for (const NodeShare& share : running.where) {
    if (share.gpus.empty()) { continue; }
    least = std::min(least, speeds_[id].at(nodes_.nodes[share.node].gpu_type).parts);
  }
  if (least != UINT64_MAX) { pace.speed = pace.speed.scaled(least, std::uint64_t{1} << Speed::kBits); }
  return pace;
}

}  // namespace athanor
