#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/record.hpp"
#include "sim/units.hpp"

namespace athanor {

/// How far simulated times are from measured ones, over the sizes from `from` up to, not including, `below`.
struct ErrorBand {
  Bytes from;
  Bytes below = Bytes::max();
  std::size_t points = 0;  ///< that have a measurement
  double mean = 0;         ///< of |error|; 0 without points
  double median = 0;       ///< of |error|, the greater of the two in the middle; 0 without points
  std::optional<Record> worst;
  std::size_t with_interval = 0;  ///< points of which an interval is known
  std::size_t inside = 0;         ///< of these, whose measured time lies within it
  double median_width = 0;        ///< of high / low - 1, of these; 0 without them
};

/// Below 1 MiB, 1 MiB to 64 MiB, and from 64 MiB on.
std::vector<ErrorBand> error_bands(const std::vector<Record>& records);
ErrorBand error_band(const std::vector<Record>& records, Bytes from, Bytes below);

/// Columns of a table of errors: size, measured and simulated time, error, both bus bandwidths, and what was simulated.
std::vector<const Column*> error_columns();
/// A collective's record with what these columns need.
Record with_errors(Record record);
/// One line per band that has points.
std::string band_lines(const std::vector<ErrorBand>& bands);

}  // namespace athanor
