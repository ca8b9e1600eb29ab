#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/job.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/profiles/application_profile.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

class FileReader;

/// One application as a scenario names it.
struct WorkloadApplication {
  std::string name;                               ///< of its folder
  std::optional<std::uint32_t> epochs;            ///< none: all of its profile
  std::optional<std::uint32_t> most_local_batch;  ///< none: the largest that was measured
};

/// Profiles of applications as a scenario names them.
struct WorkloadProfiles {
  std::string folder;
  std::string format;
  std::vector<WorkloadApplication> applications;
  Ratio interference{0, 1};
  bool whole_seconds = false;
  SourceLocation place;
};
void visit(Fields& fields, WorkloadProfiles& profiles);

/// Reads them. What cannot be is a problem.
ProfileSet read_profiles(const WorkloadProfiles& from, const FileReader& files, Problems& problems);

/// Gives jobs that name an application their durations; a problem where they cannot have one.
void resolve_applications(JobList& jobs, const ProfileSet& profiles, const NodeList& nodes, const SourceLocation& place,
                          Problems& problems);

}  // namespace athanor
