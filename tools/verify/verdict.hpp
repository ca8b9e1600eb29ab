#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/verification.hpp"
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

/// Prints whether a limit holds, where there is one. `what`: was found, "|error| of ..."; `where`: " at 4 GiB".
bool is_within(std::optional<Ratio> limit, double found, const std::string& what, const ResultSink& sink,
               const std::string& where = "");

/// Whether the errors of a case are within what `threshold`, or else its reference, allows; prints each comparison.
/// Requires a reference with a table. Throws ScenarioError where no row that counts was measured.
bool within_limits(const Scenario& scenario, const Case& scenario_case, const Reference& reference,
                   std::optional<Ratio> threshold, const std::vector<Record>& records, const ResultSink& sink);

/// Warns of a profile that says nothing of the machine that was measured; the comparison is shown all the same.
/// Requires a reference with a table.
void warn_of_another_machine(const Case& scenario_case, const Reference& reference, ResultSink& sink);

/// Warns of what else differs between what was measured and what is simulated.
void warn_of_differences(const Case& scenario_case, const Reference& reference, ResultSink& sink);

}  // namespace athanor
