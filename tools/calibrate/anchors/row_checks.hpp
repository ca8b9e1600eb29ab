#pragma once

#include <optional>

#include "tools/calibrate/anchors/given_rows.hpp"
#include "tools/calibrate/anchors/row_fit.hpp"

namespace athanor {

/// Where rows are measured, as far as the command line says it.
struct RowClaims {
  std::string scenario;               ///< its path
  std::optional<std::uint32_t> nics;  ///< of each node, that were used
};

/// What the facts of a file and the settings of a scenario tell without any simulation. Adds problems:
/// "another-machine" where GPU or nodes are others, "which-nics" where somebody chose NICs and nobody says which of the
/// scenario's these are.
void check_machine(const GivenRows& rows, const Tables::MeasuredCase& measured, const RowClaims& claims,
                   Problems& problems);

/// What rows say beside what is expected of them (`expected_us`, in the order of the points) and what the hardware
/// allows. Adds problems: "units" where one is off by about 1000 or a million, "faster-than-hardware", "which-nics"
/// where a large payload took about as long as some of the NICs take.
void check_times(const GivenRows& rows, const Tables::MeasuredCase& measured, const std::vector<double>& expected_us,
                 const RowClaims& claims, Problems& problems);

}  // namespace athanor
