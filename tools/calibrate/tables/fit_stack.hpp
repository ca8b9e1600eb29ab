#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/software/profile.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

struct StackFitSettings {
  std::vector<std::string> free;  ///< figures that may change; empty: those that the rows tell most of
  std::size_t most_free = 8;      ///< how many figures may change at most
  /// Whose word decides what runs: that of the least loss, of a fit with each. At least one.
  std::vector<NcclChoosing> choosings{NcclChoosing::tuner, NcclChoosing::algorithm, NcclChoosing::fastest};
  int cycles = 3;   ///< over the groups of figures
  double pull = 1;  ///< of figures towards those of the start, as a share of the usual one
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct StackFit {
  Profile profile;
  std::vector<std::string> free;      ///< what was found
  std::vector<std::string> at_bound;  ///< figures that the rows pull to where no healthy stack is
  double loss = 0;                    ///< stack_loss() of the rows
};

/// The figures of a profile's "nccl" with which the flow level takes as long as the rows say, beginning with those of
/// `start`, which what the rows do not tell keeps. Requires start.nccl.
StackFit fit_stack(const Tables& tables, const Profile& start, const StackFitSettings& settings);

/// How far rows are off that a fit has not seen.
struct HoldOut {
  std::string table;
  BandErrors errors;
};

/// Of each table of a stack.
struct HoldOuts {
  std::vector<HoldOut> fitted;   ///< by the fit itself
  std::vector<HoldOut> sizes;    ///< every other size of each table by a fit on the others, and the other way round
  std::vector<HoldOut> tables;   ///< each table by a fit on the other tables; none where there is one
  std::vector<HoldOut> anchors;  ///< all but five rows of each table, by a fit of another stack to these five
};

/// Of the rows as they were simulated last, by table.
std::vector<HoldOut> errors_by_table(const Tables& tables);

std::vector<HoldOut> hold_out_sizes(const Tables& tables, const Profile& start, const StackFitSettings& settings);
std::vector<HoldOut> hold_out_tables(const Tables& tables, const Profile& start, const StackFitSettings& settings);

/// Each table by `start`, a profile of another stack, of which only what two anchors tell is fitted: the launch on the
/// three smallest sizes, the links' efficiencies on the two largest. These five rows are not judged.
std::vector<HoldOut> hold_out_but_anchors(const Tables& tables, const Profile& start, const StackFitSettings& settings);

}  // namespace athanor
