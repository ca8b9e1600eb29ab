#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/profile.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

struct StackFitSettings {
  std::vector<std::string> free;  ///< figures that may change; empty: those that the rows tell most of
  std::size_t most_free = 8;      ///< of these
  /// Whose word decides what runs: that of the least loss, of a rough fit with each. At least one.
  std::vector<NcclChoosing> choosings{NcclChoosing::tuner, NcclChoosing::algorithm, NcclChoosing::fastest};
  int evaluations = 240;  ///< of the model, by each fit
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct StackFit {
  Profile profile;
  std::vector<std::string> free;      ///< what was found
  std::vector<std::string> at_bound;  ///< of these: the rows pull them to where no healthy stack is
  double loss = 0;                    ///< see stack_loss()
};

/// The figures of a profile's "nccl" with which the flow level takes as long as the rows say, beginning with those of
/// `start`. Requires start.nccl. Least soft-L1 loss of log(simulated / measured) found on the
/// logarithms of the figures, within bounds, with a weak pull towards `start`, which decides what the rows do not.
StackFit fit_stack(const Tables& tables, const Profile& start, const StackFitSettings& settings);

/// The mean over rows of 2 w^2 (sqrt(1 + (log(simulated / measured) / w)^2) - 1) with w = 0.1: squares near nothing,
/// the distance from there on, so that a few wild rows hardly count.
double stack_loss(const std::vector<TableRow>& rows);

}  // namespace athanor
