#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace athanor {

/// log(measured / simulated) of a row that was held out.
struct HeldOutError {
  std::size_t table = 0;
  std::string stack;
  double error = 0;
};

/// Between which multiples of the simulated times eight of ten further measured ones are to be expected. Each table
/// counts alike, however many rows it has; where few stacks were seen, the interval is wider than what they scattered.
struct Scatter {
  double low = 1;
  double high = 1;
  double shared = 0;  ///< of the errors' variance, what tables of one stack have in common: from 0 to 0.95
  std::uint32_t tables = 0;
};
/// Requires at least one row.
Scatter scatter_of(const std::vector<HeldOutError>& rows);

/// How many rows lie within their intervals.
class CoverageCount {
 public:
  /// A row whose log(measured / simulated) is `error`, beside the interval from `low` to `high`.
  void add(std::size_t table, double error, double low, double high);
  /// The mean over tables; requires a row.
  double share() const;
  double median_width() const;  ///< of high / low - 1
  std::size_t tables() const { return counts_.size(); }

 private:
  std::map<std::size_t, std::pair<double, double>> counts_;  // by table: within, and all
  std::vector<double> widths_;
};

}  // namespace athanor
