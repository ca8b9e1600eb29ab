#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/calibrate/pool/hold_out.hpp"

namespace athanor {

/// What stands around the costs in the profile of a stack.
struct StackNote {
  std::string name;
  std::string source;
  std::string date;
  std::string versions;
};

/// log(simulated / measured) of all rows of the tables by what was held out; NaN of rows that were not judged.
using HeldOutResiduals = std::array<std::vector<double>, kHeldOuts>;

/// Mean |simulated / measured - 1| of one table by bands, without spikes and rows that were not judged.
struct TableError {
  std::string table;
  BandErrors errors;
};
std::vector<TableError> errors_by_table(const Tables& tables, const std::vector<double>& residuals);

/// Of the rows of tables: what a profile that is fitted to them covers.
Profile::Domain domain_of(const Tables& tables);
/// Under "fit" and the like of "calibration": by table and band; null where no row was judged.
JsonValue errors_json(const std::vector<TableError>& errors);

/// Under "tables" of "calibration": of each the collective and how many nodes were measured together.
JsonValue kinds_json(const Tables& tables);

/// A profile as scenarios read it: costs, the domain of the rows of the stack's cases, and under "calibration" how far
/// each table is off, fitted and held out.
JsonValue stack_profile(Profile profile, const Tables& stack, const HeldOutResiduals& residuals, const StackNote& note);

/// "fit", "hold_out_sizes", ...: the keys of "calibration".
std::string_view name(HeldOut what);

}  // namespace athanor
