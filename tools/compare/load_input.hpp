#pragma once

#include <map>
#include <optional>
#include <string>

#include "models/experiments/scenario/scenario.hpp"
#include "sim/config/json_value.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/compare/comparison.hpp"

namespace athanor {

/// What is simulated, and what is compared.
struct ComparisonOptions {
  ScenarioOptions scenario;
  ComparisonRequest request;
};
void visit(OptionFields& fields, ComparisonOptions& options);

/// What `athanor compare` and `athanor report` are given: results, and the scenario that they are of where it is at
/// hand.
struct LoadedInput {
  ComparedInput input;
  std::string text;                            ///< of the scenario; "": not at hand
  JsonValue manifest;                          ///< of the results
  std::map<std::string, JsonValue> scenarios;  ///< by case, with its patch applied; "" where there are no cases
  std::optional<Scenario> simulated;           ///< whose results these are; none: they were written earlier
};

/// Whether there is such a file, and it is what a sweep writes.
bool is_sweep(const std::string& path);

/// A scenario, which is simulated; a document of --json; or the file of a sweep. None: interrupted. Throws as these
/// commands, and FileError for what is none of them, or not as athanor writes it.
std::optional<LoadedInput> load_input(const std::string& path, const ComparisonOptions& options,
                                      const CommonOptions& common, const Streams& streams);

}  // namespace athanor
