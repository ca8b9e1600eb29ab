#pragma once

#include <string>
#include <vector>

#include "models/execution/candidate.hpp"

namespace athanor {

/// What runs a request the fastest.
struct Choice {
  Candidate candidate;
  RunResult result;                  ///< of its Candidate::run()
  std::vector<std::string> refused;  ///< algorithms that do not fit, and why
};

/// What may run where engines of switches cannot be had: the fallbacks that the scenario has; with NCCL, which then
/// goes on without CollNet, all else that it may take.
std::vector<const Algorithm*> fallback_of(const RunRequest& request);

/// Simulates every pair of an algorithm and a protocol that fit; ties go to those named first. Draws nothing. Where
/// none fits and one of them needs engines, the fallbacks are tried in their place, and the result says why.
/// Throws SimulationError("no-candidate") with the reasons when none fits.
Choice choose_fastest(const RunRequest& request);

/// The result with all that does not depend on the other candidates: size, bound, what limited it, notes.
RunResult complete(const RunRequest& request, const Choice& choice);

}  // namespace athanor
