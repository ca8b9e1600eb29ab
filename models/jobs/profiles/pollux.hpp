#pragma once

#include <string>

#include "models/jobs/profiles/application_profile.hpp"

namespace athanor {

class FileReader;

/// As the simulator of Pollux (OSDI 2021) has them: placements.csv (placement: a digit for each node; local_bsz,
/// step_time and sync_time in seconds), scalability.csv, which may be absent (num_nodes and num_replicas in place of
/// the placement), and for each batch that was tried validation-BATCH.csv (an epoch a line: progress, grad_sqr,
/// grad_var). The smallest and largest local batch are those of placements.csv.
ApplicationProfile read_pollux_profile(const std::string& folder, const FileReader& files);

}  // namespace athanor
