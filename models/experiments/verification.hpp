#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/record.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// The "verify" of a collective: what its results are held against.
struct Verification {
  Measurement measurement;
  std::optional<Ratio> max_error;         ///< of |simulated / measured - 1|, at any size
  std::optional<Ratio> max_median_error;  ///< of the same, over all sizes and algorithms
  Bytes from;                             ///< sizes that count
  Bytes to = Bytes::max();
};

/// A value of a column, from elsewhere.
struct MeasuredFigure {
  const Column* column = nullptr;
  double value = 0;
};

/// What `verify` holds results against. Borrows from their experiment.
struct Reference {
  const Measurement* table = nullptr;   ///< of times by size; null: figures of a workload, or one time of a step, which
                                        ///< records have beside theirs
  Measurement::Wanted rows = {};        ///< of the table, whatever their algorithm
  std::optional<Ratio> max_error = {};  ///< of |simulated / measured - 1|
  std::optional<Ratio> max_median_error =
      {};           ///< of the same over all sizes and algorithms, or all steps of a scenario
  Bytes from = {};  ///< sizes that count
  Bytes to = Bytes::max();
  std::vector<MeasuredFigure> figures = {};   ///< of a workload of jobs
  bool logged_waits = false;                  ///< a workload's log says how long its jobs waited, which records have
  std::vector<std::string> differences = {};  ///< between what was measured and what is simulated, in sentences
};

}  // namespace athanor
