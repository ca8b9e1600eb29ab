#pragma once

#include <cstdint>
#include <vector>

#include "sim/time.hpp"

namespace athanor {

/// What somebody asks of a model that is served.
struct ServedRequest {
  Time arrival;
  std::uint32_t prompt = 1;  ///< tokens; at least 1
  std::uint32_t output = 1;  ///< tokens that are generated; at least 1
  bool operator==(const ServedRequest&) const = default;

  /// Tokens whose keys and values are kept when the last one is generated: that one's are not.
  std::uint64_t most_kept() const { return std::uint64_t{prompt} + output - 1; }
};

/// In the order of their arrival.
using ServedRequests = std::vector<ServedRequest>;

/// What became of a request.
struct ServedOutcome {
  Time scheduled;    ///< the first iteration with tokens of it begins
  Time first_token;  ///< the iteration that generates its first token ends
  Time finished;     ///< the same of the last
  std::uint32_t preemptions = 0;
  bool operator==(const ServedOutcome&) const = default;
};

}  // namespace athanor
