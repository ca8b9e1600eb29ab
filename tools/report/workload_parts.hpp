#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/workload/workload_result.hpp"

namespace athanor {

/// Calls of one use, kind, size and way, of all groups.
struct CallsOfAKind {
  const CallEstimate* estimate = nullptr;
  Parallelism use = Parallelism::other;
  std::uint64_t count = 0;
  Time time;
  Time alone;
};

/// What took longest first; borrows the result. What stays on one rank is left out.
std::vector<CallsOfAKind> calls_by_kind(const WorkloadResult& result);

/// What is called and how: "all-reduce of 64 MiB, ring Simple".
std::string describe(const CallEstimate& estimate);

/// A line for each of the kinds of calls that took longest, and one that counts the others.
std::string call_lines(const WorkloadResult& result);

/// "TP 1.20 %, DP 0.31 %" of the shares that show; "": of none.
std::string exposed_text(const WorkloadShares& shares);

/// What the devices computed, with the longest labels' shares of `whole`, averaged over workers: "attention 12.3 %".
std::string computing_text(const WorkloadResult& result, Time whole);

/// {"computing", `waiting`: what waiting is called there, "exposed_TP", ...}: shares of the time.
nlohmann::ordered_json breakdown_json(const WorkloadShares& shares, const char* waiting);

}  // namespace athanor
