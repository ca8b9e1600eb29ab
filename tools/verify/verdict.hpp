#pragma once

#include <optional>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "sim/parse.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/run/result_sink.hpp"

namespace athanor {

struct VerifyOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  std::optional<Ratio> max_error;
  bool all = false;
  std::optional<std::string> directory;
};
void visit(OptionFields& fields, VerifyOptions& options);

/// "0.05" or "5%", from 0 on.
Parsed<Ratio> parse_error_limit(std::string_view text);

/// Whether the errors of a case are within what `threshold`, or else the case itself, allows; prints each comparison.
/// Requires a case that names a measurement. Throws ScenarioError where no row that counts was measured.
bool within_limits(const Scenario& scenario, const Case& scenario_case, std::optional<Ratio> threshold,
                   const std::vector<Record>& records, const ResultSink& sink);

/// Warns of a profile that says nothing of the machine that was measured; the comparison is shown all the same.
void warn_of_another_machine(const Case& scenario_case, ResultSink& sink);

/// Warns of elements of another type, and of another reduction, than the row that the first size is held against.
void warn_of_other_elements(const Case& scenario_case, ResultSink& sink);

}  // namespace athanor
