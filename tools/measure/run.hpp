#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/measure/request.hpp"

namespace athanor {

/// What came of one subject at one point.
struct MeasuredRow {
  Collective collective;
  std::string algorithm;
  std::string backend;
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  Bytes size;
  double median_us = 0;
  double least_us = 0;
  std::uint32_t iterations = 0;  ///< that were timed
  std::uint64_t wrong = 0;       ///< checked outputs that were not what they should be
  std::optional<std::string> first_wrong;
  std::vector<double> times_us;  ///< of each timed iteration, in their order
};

/// Of at least one value; of an even number of them the mean of the two in the middle.
double median(std::vector<double> values);

/// Measures the subjects of a point in turns: each gets a part of its iterations, with a warm-up, before the first
/// gets its next, so that what else happens on the machine meets all alike. One subject alone gets all at once.
///
/// `going_on` is told before each turn what is measured and says whether to go on; if not, subjects that had no turn
/// are left out. `interrupted` may end a turn before that: what it has timed counts. A row per other subject, in their
/// order. Throws what Backend::run throws.
std::vector<MeasuredRow> measure(
    const MeasureRequest& request, const MeasuredPoint& point, const std::function<bool(const Subject&)>& going_on,
    const std::function<bool()>& interrupted = [] { return false; });

/// Refuses points whose payload does not fit the memory that is available. Throws UsageError with the figures.
void check_memory(const MeasureRequest& request, const std::vector<MeasuredPoint>& points, Bytes available);

}  // namespace athanor
