#pragma once

#include <string>
#include <vector>

#include "models/execution/candidate.hpp"
#include "models/nccl/execution/runtime.hpp"

namespace athanor {

/// What fits of an algorithm with the protocols of the profile, or why nothing does.
struct Candidates {
  std::vector<Candidate> fitting;
  std::string reason = "no protocol of the profile is meant for this size";
  bool passed_over = false;  ///< nothing is in its way, but the library takes another one
};

/// `allowed`: what NCCL may choose from, where it does.
Candidates candidates_of(const RunRequest& request, const Algorithm& algorithm,
                         const std::vector<const Algorithm*>& allowed);
/// NCCL may choose from all algorithms of the request.
Candidates candidates_of(const RunRequest& request, const Algorithm& algorithm);

/// The request as NCCL sees it. Borrows its profile. Requires one with "nccl".
NcclRequest nccl_request(const RunRequest& request);

}  // namespace athanor
