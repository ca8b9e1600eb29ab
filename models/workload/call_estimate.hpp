#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/workload/call_shares.hpp"
#include "models/workload/workload.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What a call takes if nothing else runs, and what of which links.
struct CallEstimate {
  Time time;
  Time latency;  ///< of `time`, before or after what links carry: no other call can use the time in its place
  Bytes size;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string algorithm;
  std::string protocol;
  std::uint32_t channels = 1;
  std::string limited_by;
  bool extrapolated = false;  ///< outside what the profile of collectives was fitted in
  std::shared_ptr<const std::vector<LinkShare>> shares;

  /// The rest of the time, in which its links are busy or others may use them: between the steps of a collective.
  Time transfer() const { return time - latency; }
  /// What it takes of its links during its transfer.
  std::vector<LinkShare> transfer_shares() const;

  /// The link that it keeps busy longest, the first of several; none, with a share of 0, where it moves nothing.
  LinkShare busiest() const;
};

/// What every call and message of a workload takes alone, by the number that operations are given.
struct WorkloadEstimates {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<const CallEstimate*> estimates;                           ///< each once
  std::vector<std::uint32_t> of_call;                                   ///< by call of the workload
  std::map<std::pair<std::uint32_t, Bytes>, std::uint32_t> of_message;  ///< by channel and size

  /// The estimate of an operation; kNone for what is no call or message.
  std::uint32_t of(const Workload::Operation& operation) const;
};

}  // namespace athanor
