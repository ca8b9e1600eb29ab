#pragma once

#include <map>
#include <tuple>

#include "models/jobs/profiles/job_course.hpp"
#include "models/jobs/speed.hpp"

namespace athanor {

/// Jobs that name an application work as fast as its profile says of where their GPUs are; all others at full speed.
class ProfileSpeed final : public SpeedModel {
 public:
  /// Borrows them. Requires jobs that set_durations() had nothing against.
  ProfileSpeed(const ProfileSet& profiles, const JobList& jobs, const NodeList& nodes);

  JobPace pace(const RunningJob& running, WallTime done, const ClusterState& state) override;
  bool depends_on_others() const override { return profiles_.interference > 0; }

 private:
  const JobCourse& course(JobId job);

  const ProfileSet& profiles_;
  const JobList& jobs_;
  std::uint32_t per_node_;
  std::map<std::tuple<NameId, std::uint32_t, ShapeId>, JobCourse> courses_;
};

}  // namespace athanor
