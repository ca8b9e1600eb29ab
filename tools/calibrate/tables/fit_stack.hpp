#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/software/profile.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

struct StackFitSettings {
  std::vector<std::string> free;  ///< figures that may change; empty: those that the rows tell most of
  std::size_t most_free = 8;      ///< of these
  /// Whose word decides what runs: that of the least loss, of a fit with each. At least one.
  std::vector<NcclChoosing> choosings{NcclChoosing::tuner, NcclChoosing::algorithm, NcclChoosing::fastest};
  int cycles = 3;   ///< over the groups of figures
  double pull = 1;  ///< of figures towards those of the start, as a share of the usual one
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct StackFit {
  Profile profile;
  std::vector<std::string> free;      ///< what was found
  std::vector<std::string> at_bound;  ///< of these: the rows pull them to where no healthy stack is
  double loss = 0;                    ///< stack_loss() of the rows
};

/// The figures of a profile's "nccl" with which the flow level takes as long as the rows say, beginning with those of
/// `start`, which what the rows do not tell keeps. Requires start.nccl.
StackFit fit_stack(const Tables& tables, const Profile& start, const StackFitSettings& settings);

}  // namespace athanor
