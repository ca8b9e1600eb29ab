#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/bill/bill.hpp"
#include "models/experiments/run.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

class ExpectedEnd;

/// How a command line changes scenarios and their runs.
struct ScenarioOptions {
  std::vector<std::string> settings;  ///< --set
  std::optional<std::string> sizes;
  std::vector<std::string> cases;
  std::optional<std::string> seed;
  std::optional<std::string> csv;  ///< a file; "": standard output
  bool no_classes = false;
  bool no_repeat = false;
  std::uint32_t threads = 1;
};
/// All of them; commands that have some alone name these themselves.
void visit(OptionFields& fields, ScenarioOptions& options);

/// What --set, --case, --sizes and --seed change.
ScenarioChanges changes_of(const ScenarioOptions& options);
/// --no-classes, --no-repeat and --threads.
RunOptions run_options_of(const ScenarioOptions& options);

/// Reads scenarios with all these changes. Throws ScenarioError with the problems of all files.
std::vector<Scenario> read_scenarios(const std::vector<std::string>& paths, const Library& library,
                                     const ScenarioChanges& changes);
/// The scenarios that the command line names.
std::vector<Scenario> read_scenarios(const CommonOptions& common, const ScenarioOptions& options);

/// Runs a case and gives each row to `see` as soon as it is known. Progress, and with --verbose what each row took to
/// simulate, go to err. False: the user interrupts. Throws as run(). `end`: of this and the cases after it, which
/// progress then tells; null: nobody knows.
bool run_case(const Scenario& scenario, const Case& scenario_case, const RunOptions& options,
              const CommonOptions& common, const Streams& streams, const std::function<void(Record)>& see,
              ExpectedEnd* end = nullptr);

/// What the case's cluster is made of, with what presets and the scenario say of prices.
Bill bill_of(const Case& scenario_case, const PriceList& published);

}  // namespace athanor
