#pragma once

#include <string>
#include <vector>

#include "tools/calibrate/tables/fit_stack.hpp"

namespace athanor {

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
