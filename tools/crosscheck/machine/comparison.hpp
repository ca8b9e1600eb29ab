#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/library/library.hpp"
#include "sim/config/json_value.hpp"
#include "tools/crosscheck/machine/noise.hpp"
#include "tools/measure/run.hpp"

namespace athanor {

/// A collective that was measured, beside what the calibrated profile says.
struct ComparedRow {
  MeasuredRow measured;
  double simulated_us = 0;
  /// Ends of the interval in which eight of ten measured times are expected; none: the profile has none.
  std::optional<std::pair<double, double>> interval_us{};
  std::optional<TwoModes> modes{};

  /// Requires an interval.
  bool inside() const;
  /// simulated / measured - 1.
  double error() const { return simulated_us / measured.median_us - 1; }
};

struct Compared {
  std::vector<ComparedRow> rows;
  std::vector<std::string> left_out;  ///< collectives that nothing can run with this profile, and why
};

/// Simulates what was measured on the cluster of a scenario, out of place, as its JSON says for so many ranks. Rows
/// that the simulation has no algorithm for are left out. Throws ScenarioError, SimulationError.
Compared compared(const std::vector<MeasuredRow>& rows, const JsonValue& profile,
                  const std::function<JsonValue(std::uint32_t ranks)>& cluster, const Library& library);

/// One line for each row, under a head; with intervals where a row has one.
std::string table_of(const std::vector<ComparedRow>& rows);
/// Points, median and worst |error| of each collective and of all, and how many lie within their intervals.
std::string error_lines(const std::vector<ComparedRow>& rows);
/// Of |error|. Requires a row.
double median_error(const std::vector<ComparedRow>& rows);
/// Which share of the rows that have an interval lies within it; none: no row has one.
std::optional<double> coverage(const std::vector<ComparedRow>& rows);

JsonValue json_of(const ComparedRow& row);

}  // namespace athanor
