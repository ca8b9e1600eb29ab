#pragma once

#include <cstdint>
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

/// What runs a request the fastest.
struct Choice {
  Candidate candidate;
  RunResult result;                  ///< of its Candidate::run()
  std::vector<std::string> refused;  ///< algorithms that do not fit, and why
};

/// What may run where engines of switches cannot be had: the fallbacks that the scenario has; with NCCL, which then
/// goes on without CollNet, all else that it may take.
std::vector<const Algorithm*> fallback_of(const RunRequest& request);

/// Smaller chunks are tried as long as the last ones saved one part of so many of the time.
constexpr std::int64_t kWorthOfChunks = 256;

/// Simulates every pair of an algorithm and a protocol that fit; ties go to those named first. Draws nothing. Where
/// none fits and one of them needs engines, the fallbacks are tried in their place, and the result says why.
/// Throws SimulationError("no-candidate") with the reasons when none fits.
Choice choose_fastest(const RunRequest& request);

/// The result with its size, whether it is extrapolated, and notes of what did not fit.
RunResult described(const RunRequest& request, const Choice& choice);

/// Adds the bound, and a note where the result is below it.
void add_bound(const RunRequest& request, RunResult& result);

/// The result with all that does not depend on the other candidates: described, with its bound and what limited it.
RunResult complete(const RunRequest& request, const Choice& choice);

}  // namespace athanor
