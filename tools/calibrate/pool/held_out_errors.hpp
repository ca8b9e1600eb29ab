#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/software/prediction_error.hpp"
#include "tools/calibrate/pool/scatter.hpp"
#include "tools/calibrate/pool/stack_profile.hpp"

namespace athanor {

/// Of rows that were held out, those that are no spikes and of tables that are not noisy: between which multiples of
/// the simulated time eight of ten measured ones lie, by what was known of the stack, one node or several, and size.
/// Each table counts alike, however many rows it has.
std::vector<PredictionError> prediction_errors(const Tables& tables, const std::vector<StackCase>& cases,
                                               const HeldOutResiduals& residuals);

/// What was held out for predictions of so much knowledge.
HeldOut held_out_of(Knowledge knowledge);

/// A row that was held out, no spike and of a table that is not noisy, and what is like it.
struct HeldOutRow {
  std::size_t row = 0;  ///< of the tables
  HeldOutError error;
  PredictionError kind;
};

/// prediction_errors() of all stacks but one: what is claimed of times that have not shaped it.
class ErrorsOfOtherStacks {
 public:
  ErrorsOfOtherStacks(const Tables& tables, const std::vector<StackCase>& cases, const HeldOutResiduals& residuals);

  const std::vector<HeldOutRow>& rows() const { return rows_; }
  /// Of rows of this kind, whichever their stack; null: no other stack has any.
  const PredictionError* of(const std::string& stack, const PredictionError& kind);

 private:
  std::vector<HeldOutRow> rows_;
  std::map<std::string, std::vector<PredictionError>> without_;  ///< by stack
};

/// Of rows that were held out, by what was known and size: how many lie between `low` and `high` of prediction_errors()
/// of all other stacks, which no table of theirs has shaped.
struct Coverage {
  Knowledge knowledge = Knowledge::nothing;
  SizeBand band = SizeBand::small;
  double share = 0;         ///< mean over tables; 0.8 is what is claimed
  double median_width = 0;  ///< of high / low - 1
  std::size_t tables = 0;
};
std::vector<Coverage> coverage(const Tables& tables, const std::vector<StackCase>& cases,
                               const HeldOutResiduals& residuals);

}  // namespace athanor
