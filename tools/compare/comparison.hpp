#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/json_value.hpp"

namespace athanor {

/// Results of one file or scenario: as athanor writes them (read_result).
struct ComparedInput {
  std::string label;
  std::vector<JsonValue> records;  ///< as in "results" of --json; "parameters" those of a sweep
};

/// What is compared, and by what.
struct ComparisonRequest {
  std::string
      by;  ///< "input", "case", "algorithm" or a parameter of a sweep; "": what there are several of, in this order
  std::string base;     ///< the alternative that ratios refer to; "": the first
  std::string figure;   ///< a key of results; "": time_us or step_time_s
  std::string against;  ///< a key of which less is better, for Pareto fronts: "bill_usd"; "": there are none
};

/// One alternative at one condition: a size, a model, other parameters.
struct ComparisonEntry {
  double value = 0;
  std::string algorithm;  ///< "" where results have none
  std::optional<double> against{};
  /// Ends of the interval of 80 %, of a time or of what is in inverse proportion to one; none: nobody knows.
  std::optional<std::pair<double, double>> interval{};
  std::optional<double> spread{};  ///< of the same: standard deviation of its logarithm
  double shared = 0;               ///< of its variance, what other times of the same profile share
  std::string profile{};           ///< whose software costs the time has; "": the figure is none of a time

  /// False where the time is that of the hardware alone, and so of a time with software only the least that it could
  /// be.
  bool counts_software() const;
};

/// One condition with what each alternative reached there.
struct ComparisonLine {
  std::vector<std::string> conditions;                    ///< as Comparison::conditions
  double size = 0;                                        ///< bytes; 0 where results have none
  std::vector<std::optional<ComparisonEntry>> entries{};  ///< by alternative
  /// All who reach the best; none where all do, where one is there alone, and where the best counts no software and
  /// others do.
  std::vector<std::size_t> winners{};
  /// That the one winner beats whoever comes next of those that something is known of; none: nobody knows.
  std::optional<double> certainty{};

  /// Some entries count software, others do not.
  bool mixes_software() const;
};
/// A winner counts as one from this certainty on.
constexpr double kCertain = 0.8;

/// Of a line with its entries. A time without software is the least that it could be with it: it can lose against one
/// with software, and not win.
void find_winners(ComparisonLine& line, bool more_is_better);

/// Where one alternative overtakes another, as sizes grow.
struct Crossover {
  std::vector<std::string> conditions;  ///< all but the size
  std::size_t before = 0;               ///< alternative that wins below
  std::size_t after = 0;
  double from = 0;  ///< bytes, measured: `before` wins
  double to = 0;    ///< `after` wins
  double at = 0;    ///< about where they are equal, by interpolation of both logarithms
};

/// Results of several alternatives, side by side.
struct Comparison {
  std::string by;
  std::string figure;
  std::string against;
  bool more_is_better = false;
  std::vector<std::string> alternatives;
  std::vector<std::string> conditions;  ///< names of what tells lines apart: "collective", "bytes", ...
  std::vector<ComparisonLine> lines;
  std::size_t base = 0;
  std::vector<std::size_t> extrapolated;  ///< by alternative: results outside of what their profiles were fitted on
  std::size_t unmatched = 0;              ///< results at conditions that one alternative alone has

  /// The alternative's figure over that of the base, as the geometric mean over all lines that have both; 0: none has.
  double mean_ratio(std::size_t alternative) const;
  std::vector<std::size_t> wins() const;
  /// Alternatives that count no software where others do.
  std::vector<std::size_t> without_software() const;
  std::vector<Crossover> crossovers() const;
  /// Alternatives that no other beats in one of figure and `against` without losing in the other; those alone that have
  /// both.
  std::vector<std::size_t> front(const ComparisonLine& line) const;
};

/// Throws UsageError where nothing can be compared: one alternative, no such parameter, figure or base, no condition
/// that two alternatives share, and several results of one alternative at one condition.
Comparison compared(const std::vector<ComparedInput>& inputs, const ComparisonRequest& request);

}  // namespace athanor
