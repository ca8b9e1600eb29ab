#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "models/jobs/profiles/batch_choices.hpp"
#include "models/jobs/profiles/job_course.hpp"
#include "models/jobs/speed.hpp"

namespace athanor {

/// Jobs that name an application work as fast as its profile says of where their GPUs are; all others at full speed.
/// Elastic ones take the best batch anew at each start and in each epoch.
class ProfileSpeed final : public SpeedModel {
 public:
  /// Borrows them. Requires jobs that set_durations() had nothing against.
  ProfileSpeed(const ProfileSet& profiles, const JobList& jobs, const NodeList& nodes);

  JobPace pace(const RunningJob& running, WallTime done, const ClusterState& state) override;
  std::optional<double> expected(JobId job, WallTime done, std::uint32_t nodes, std::uint32_t gpus) override;
  bool depends_on_others() const override { return profiles_.interference > 0; }

 private:
  /// Of an application on so many nodes with so many GPUs.
  struct OfSize {
    BatchChoices choices;
    std::vector<double> rates;  ///< by epoch; below 0: not asked for yet
  };
  const JobCourse& course(JobId job);

  const ProfileSet& profiles_;
  const JobList& jobs_;
  std::uint32_t per_node_;
  std::map<std::tuple<NameId, std::uint32_t, ShapeId>, JobCourse> courses_;
  std::map<std::tuple<const ApplicationProfile*, std::uint32_t, std::uint32_t>, OfSize> sizes_;
};

}  // namespace athanor
