#include "tools/compare/load_input.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "models/experiments/scenario/digest.hpp"
#include "sim/config/foreign.hpp"
#include "sim/config/json_value.hpp"
#include "sim/file.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/cli/read_results.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/sweep/table.hpp"

namespace athanor {

namespace {

constexpr std::string_view kSqliteHead = "SQLite format 3";

using Cases = std::map<std::string, JsonValue>;

/// The cases of a scenario's text, each as it is read; none of a text that is not even the frame of a scenario.
Cases cases_of(const std::string& text, const std::string& path) {
  const Document document = parse_foreign(text, path);
  if (!document.root().is_object()) { return {}; }
  const JsonValue* list = document.root().find("cases");
  if (list == nullptr) { return {{"", document.root()}}; }
  Cases cases;
  for (std::size_t i = 0; list->is_list() && i < list->size(); ++i) {
    const JsonValue& own = list->elements()[i];
    if (!own.is_object()) { return {}; }
    const JsonValue* name = own.find("name");
    const bool named = name != nullptr && name->is_string();
    cases[named ? name->string() : fmt::format("case {}", i + 1)] = document.patched("cases", i).root();
  }
  return cases;
}

/// Of a scenario, without results.
LoadedInput empty_input(const std::string& path, const std::string& text) {
  LoadedInput loaded;
  loaded.input.label = path;
  loaded.text = text;
  loaded.manifest = JsonValue::object();
  loaded.scenarios = cases_of(text, path);
  return loaded;
}

/// The scenario of results that were written earlier, if it is still what it was. The results say where it lies, and
/// they may come from anybody: nothing but a file of a usual size is opened, and nothing but what they hold the hash of
/// is used.
void add_scenario(LoadedInput& loaded) {
  const JsonValue* scenarios = loaded.manifest.find("scenarios");
  if (scenarios == nullptr || scenarios->size() != 1 || !scenarios->elements()[0]["hash"].is_string()) { return; }
  const std::string path = scenarios->elements()[0]["path"].string();
  const std::string hash = scenarios->elements()[0]["hash"].string();
  constexpr std::uintmax_t kMostBytes = 64 << 20;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) || std::filesystem::file_size(path, unknown) > kMostBytes) {
    return;
  }
  try {
    std::string text = read_text_file(path);
    if (text_hash(text) != hash) { return; }
    loaded.scenarios = cases_of(text, path);
    loaded.text = std::move(text);
  } catch (const FileError&) { return; }  // without it no differences are told
}

std::optional<LoadedInput> simulated(const std::string& path, const ScenarioOptions& options,
                                     const CommonOptions& common, const Streams& streams) {
  Scenario scenario = read_scenario(path, common.library, changes_of(options));
  LoadedInput loaded = empty_input(path, common.library.files().text(path));
  const PriceList prices = load_prices(common.library);
  Manifest manifest{.command_line = common.command_line,
                    .scenarios = {{path, scenario.hash}},
                    .inputs = {},
                    .seeds = {},
                    .warnings = {}};
  for (const Case& each : scenario.cases) {
    for (std::string& warning : warnings_of(each)) {
      if (!common.quiet) { warn(streams, warning); }
      manifest.warnings.push_back(std::move(warning));
    }
    const JsonValue bill = bill_json(bill_of(each, prices));
    const auto keep = [&](const Record& record) {
      loaded.input.records.push_back(record.json());
      loaded.input.records.back().update(bill);
    };
    if (!run_case(scenario, each, run_options_of(options), common, streams, keep)) { return std::nullopt; }
    manifest.seeds.push_back(each.platform.seed);
  }
  manifest.inputs = InputsRead(common.library.files()).fresh();
  loaded.manifest = manifest_record(manifest, loaded.input.records);
  loaded.simulated = std::move(scenario);
  return loaded;
}

LoadedInput from_sweep(const std::string& path) {
  SweepDatabase database(path, SqliteFile::Access::read);
  LoadedInput loaded = empty_input(path, database.about("scenario_text"));
  for (const char* key : {"scenario", "scenario_hash", "version", "changes", "points", "plan"}) {
    loaded.manifest[key] = database.about(key);
  }
  sweep_records(database, [&](const JsonValue& record) { loaded.input.records.push_back(record); });
  return loaded;
}

}  // namespace

void visit(OptionFields& fields, ComparisonOptions& options) {
  visit(fields, options.scenario);
  fields.text("by", "WHAT", options.request.by,
              "what is compared: input, case, algorithm or a parameter of a sweep; default: what there are several of");
  fields.text("base", "NAME", options.request.base, "what ratios refer to; default: the first");
  fields.text("figure", "KEY", options.request.figure,
              "a key of results, such as busbw_gbps; default: time_us or step_time_s");
  fields.text("pareto", "KEY", options.request.against,
              "what it costs: bill_usd, bill_w, bill_switches, bill_cables, energy_j, ...; marks what nothing beats in "
              "both");
}

bool is_sweep(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kSqliteHead.size(), ' ');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kSqliteHead;
}

std::optional<LoadedInput> load_input(const std::string& path, const ComparisonOptions& options,
                                      const CommonOptions& common, const Streams& streams) {
  if (is_sweep(path)) { return from_sweep(path); }
  const std::string text = read_text_file(path);
  if (text.empty()) { throw FileError(fmt::format("{} is empty: neither a scenario nor results nor a sweep", path)); }
  const ResultKind kind = result_kind(text);
  if (kind == ResultKind::no_object) {
    throw FileError(fmt::format("{}:1:1: no JSON object: neither a scenario nor results nor a sweep", path));
  }
  if (kind != ResultKind::results) { return simulated(path, options.scenario, common, streams); }
  ResultDocument document = read_results(text, path);
  LoadedInput loaded;
  loaded.input.label = path;
  loaded.input.records = std::move(document.records);
  loaded.manifest = std::move(document.manifest);
  add_scenario(loaded);
  return loaded;
}

}  // namespace athanor
