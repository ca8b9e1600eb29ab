#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/measure/backend.hpp"
#include "tools/measure/run.hpp"

namespace athanor {

/// What is measured of a machine: float32, out of place.
struct CollectivesWanted {
  std::vector<std::uint32_t> ranks;
  std::vector<Bytes> sizes;
  std::size_t algorithms = 3;  ///< of each collective, the first of the catalog that fit
  std::uint32_t iterations = 20;
};

/// In every process that takes part alike.
struct MeasuredCollectives {
  std::vector<MeasuredRow> rows;
  std::vector<std::string> left_out;  ///< collectives, and why
  bool interrupted = false;           ///< rows are missing
};

/// Every collective that the backend carries out, verified to the bit. `going_on` is told before each turn what is
/// measured, and says whether to go on. Throws what Backend::run throws, and UsageError for sizes that memory does not
/// hold.
MeasuredCollectives measured_collectives(Backend& backend, const CollectivesWanted& wanted,
                                         const std::function<bool(const std::string& what)>& going_on);

}  // namespace athanor
