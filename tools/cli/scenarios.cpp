#include "tools/cli/scenarios.hpp"

#include <algorithm>
#include <thread>

#include <fmt/core.h>

#include "sim/config/field_value.hpp"
#include "sim/parse.hpp"
#include "tools/cli/expected_end.hpp"

namespace athanor {

namespace {

std::uint64_t seed_of(const std::string& text) {
  constexpr std::uint64_t kMost = INT64_MAX;  // as in a scenario
  const std::optional<std::uint64_t> seed = parse_count(text);
  if (seed && *seed <= kMost) { return *seed; }
  throw UsageError(fmt::format("--seed: '{}' is not a whole number from 0 to {}", text, kMost));
}

/// What --threads does not do for a case, in a sentence; "": it does what it says.
std::string threads_note(std::uint32_t threads, const NetworkSettings& network) {
  const std::uint32_t processors = std::max(1U, std::thread::hardware_concurrency());
  if (threads == 1) { return ""; }
  if (const std::string_view hindrance = threads_hindrance(network); !hindrance.empty()) {
    return fmt::format("--threads {}: on one thread: {}", threads, hindrance);
  }
  if (threads <= processors) { return ""; }
  return fmt::format("--threads {}: this machine has {} processors, and as many are used", threads, processors);
}

}  // namespace

void visit(OptionFields& fields, ScenarioOptions& options) {
  fields.texts("set", "/POINTER=VALUE", options.settings,
               "changes the scenario, as in --set /collective/channels=4; repeatable");
  fields.text("sizes", "SIZES", options.sizes, "instead of the scenario's: 1MiB..1GiB or 1KiB,3MiB");
  fields.texts("case", "NAME", options.cases, "only this case; repeatable");
  fields.text("seed", "N", options.seed, "instead of the scenario's");
  fields.written_file_or_stdout("csv", options.csv, "results as CSV on stdout or in FILE");
  fields.flag("no-classes", options.no_classes,
              "simulates every agent instead of one of each class (same result, slower)");
  fields.flag("no-repeat", options.no_repeat,
              "simulates every loop instead of multiplying those that repeat (same result, slower)");
  fields.number("threads", "N", options.threads, 1,
                "at packet level: simulates one network on so many threads (same result, faster); default: 1");
}

ScenarioChanges changes_of(const ScenarioOptions& options) {
  ScenarioChanges changes;
  changes.settings = options.settings;
  changes.cases = options.cases;
  if (options.sizes) { changes.sizes = sizes_in(*options.sizes); }
  if (options.seed) { changes.seed = seed_of(*options.seed); }
  return changes;
}

RunOptions run_options_of(const ScenarioOptions& options) {
  return {.classes = !options.no_classes, .repeat_loops = !options.no_repeat, .threads = options.threads};
}

std::vector<Scenario> read_scenarios(const std::vector<std::string>& paths, const Library& library,
                                     const ScenarioChanges& changes) {
  Problems problems;
  std::vector<Scenario> scenarios;
  for (const std::string& path : paths) { scenarios.push_back(read_scenario(path, library, changes, problems)); }
  problems.throw_if_any();
  return scenarios;
}

std::vector<Scenario> read_scenarios(const CommonOptions& common, const ScenarioOptions& options) {
  std::vector<Scenario> scenarios = read_scenarios(common.arguments, common.library, changes_of(options));
  check_outputs(common);
  return scenarios;
}

bool run_case(const Scenario& scenario, const Case& scenario_case, const RunOptions& options,
              const CommonOptions& common, const Streams& streams, const std::function<void(Record)>& see,
              ExpectedEnd* end) {
  const std::string threads = threads_note(options.threads, scenario_case.platform.network);
  if (!threads.empty() && !common.quiet) { tell(streams, threads); }
  Progress progress(streams, !common.quiet);
  const auto begins = [&](const std::string& what) {
    if (end == nullptr) { return progress.show(what); }
    progress.clear();
    end->begins(ExpectedEnd::Clock::now());
    progress.show(what, [end] { return end->text(ExpectedEnd::Clock::now()); });
  };
  const RunObserver observer{.begins = begins,
                             .ends =
                                 [&](Record record) {
                                   progress.clear();
                                   if (common.verbose) { streams.err(fmt::format("athanor: {}\n", record.effort)); }
                                   see(std::move(record));
                                 },
                             .interrupted = streams.interrupted};
  RunOptions stopped = options;
  stopped.stop = streams.stop;
  return run(scenario, scenario_case, stopped, observer);
}

Bill bill_of(const Case& scenario_case, const PriceList& published) {
  return bill_of(*scenario_case.platform.cluster, *scenario_case.cluster_config, scenario_case.prices, published);
}

}  // namespace athanor
