#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/record.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Whether algorithms are predicted in the order in which they were measured, at one size.
struct Ranking {
  std::string case_name;
  Bytes size;
  std::size_t algorithms = 0;  ///< simulated and measured
  double correlation = 0;      ///< Spearman's, of the ranks by time; ties share the mean of their ranks
  std::string predicted;       ///< the fastest, simulated
  std::string measured;        ///< the fastest, measured
  double regret = 0;           ///< measured time of `predicted` / that of `measured` - 1: what the choice costs
};

/// Of every size at which at least two algorithms were simulated and measured, in the order of the rows.
std::vector<Ranking> rankings(const std::vector<Record>& records);

/// {"case", "bytes", "algorithms", "correlation", "predicted", "measured", "regret"}.
JsonValue to_json(const Ranking& ranking);

/// "A is predicted and measured to be the fastest", or what choosing the predicted one costs.
std::string choice_text(const std::string& predicted, const std::string& measured, double regret);

/// Median and worst |error| of each algorithm and of all, one line each.
std::string algorithm_error_lines(const std::vector<Record>& records);
std::string ranking_lines(const std::vector<Ranking>& rankings);

}  // namespace athanor
