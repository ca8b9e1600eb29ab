#include "models/jobs/profiles/profile_format.hpp"

#include "models/jobs/profiles/pollux.hpp"

namespace athanor {

const std::vector<ProfileFormat>& profile_formats() {
  static const std::vector<ProfileFormat> all{{"pollux",
                                               "CSV of Pollux's simulator: placements.csv, scalability.csv and "
                                               "validation-BATCH.csv in the application's folder",
                                               &read_pollux_profile}};
  return all;
}

}  // namespace athanor
