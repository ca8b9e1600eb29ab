#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/collective.hpp"
#include "sim/json/object_reader.hpp"

namespace athanor {

/// A collective that somebody measured: a table of times, with its source.
struct Measurement {
  std::string id;
  std::string source;
  std::string hardware;   ///< "2 x 8 A100 SXM4 (DGX A100)"
  std::string algorithm;  ///< the library's choice or what was forced on it: "Ring", "auto"
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  struct Row {
    Bytes bytes;
    std::optional<double> time_us;       ///< absent where the source has only bandwidths
    std::optional<std::uint32_t> ranks;  ///< where rows differ in it
  };
  std::vector<Row> rows;

  /// The first row of that size and so many ranks that has a time; sizes between rows are not interpolated.
  std::optional<double> time_us(Bytes size, std::uint32_t of_ranks) const;
  /// Whether some row has so many ranks.
  bool covers(std::uint32_t of_ranks) const;
};

/// Reads one from a file; everything wrong with it, or that it is no measurement at all, is added to `problems`.
/// Throws FileError.
Measurement read_measurement(const std::string& path, Problems& problems);

}  // namespace athanor
