#include "tools/command_line/compare/load_input.hpp"

#include <fstream>

#include <fmt/format.h>

#include "sim/file.hpp"
#include "sim/json/document.hpp"
#include "sim/json/text.hpp"
#include "tools/command_line/compare/add_bill.hpp"
#include "tools/command_line/inputs_read.hpp"
#include "tools/command_line/run/run_case.hpp"
#include "tools/command_line/run/simulate_case.hpp"
#include "tools/scenario/digest.hpp"
#include "tools/sweep/table.hpp"

namespace athanor {

namespace {

constexpr std::string_view kSqliteHead = "SQLite format 3";

/// The cases of a scenario's text, each as it is read.
std::map<std::string, nlohmann::json> cases_of(const std::string& text, const std::string& path) {
  std::map<std::string, nlohmann::json> cases;
  const Document document = Document::parse(text, path);
  if (!document.root().contains("cases")) { return {{"", document.root()}}; }
  for (std::size_t i = 0; i < document.root()["cases"].size(); ++i) {
    const nlohmann::json root = document.patched("cases", i).root();
    const nlohmann::json& own = document.root()["cases"][i];
    cases[own.value("name", fmt::format("case {}", i + 1))] = root;
  }
  return cases;
}

/// Of a scenario, without results.
LoadedInput empty_input(const std::string& path, const std::string& text) {
  return {{path, {}}, text, nlohmann::ordered_json::object(), cases_of(text, path), {}};
}

/// The scenario of results that were written earlier, if it is still what it was.
void add_scenario(LoadedInput& loaded) {
  const auto scenarios = loaded.manifest.value("scenarios", nlohmann::ordered_json::array());
  if (scenarios.size() != 1) { return; }
  const auto path = scenarios[0].value("path", "");
  try {
    std::string text = read_text_file(path);
    if (text_hash(text) != scenarios[0].value("hash", "")) { return; }
    loaded.scenarios = cases_of(text, path);
    loaded.text = std::move(text);
  } catch (const FileError&) { return; }  // without it no differences are told
}

std::optional<LoadedInput> simulated(const std::string& path, const Invocation& invocation, const Streams& streams) {
  Problems problems;
  Scenario scenario = read_scenario(path, invocation.library, changes_of(invocation), problems);
  problems.throw_if_any();
  LoadedInput loaded = empty_input(path, read_text_file(path));
  Invocation quiet = invocation;
  quiet.options.erase("json");
  quiet.options.erase("csv");
  Streams silent = streams;
  silent.out = [](std::string_view) {};
  const PriceList prices = load_prices(invocation.library);
  std::vector<std::string> warnings;
  for (const Case& each : scenario.cases) {
    ResultSink sink(quiet, silent);
    if (!run_case(scenario, each, quiet, nullptr, silent, sink)) { return std::nullopt; }
    std::vector<nlohmann::ordered_json> records = result_records(sink.results());
    add_bill(each, prices, records);
    loaded.input.records.insert(loaded.input.records.end(), records.begin(), records.end());
    warnings.insert(warnings.end(), sink.warnings().begin(), sink.warnings().end());
  }
  Manifest manifest{.command_line = invocation.command_line,
                    .scenarios = {{path, scenario.hash}},
                    .inputs = inputs_read(invocation),
                    .seeds = {},
                    .warnings = {}};
  for (const Case& each : scenario.cases) { manifest.seeds.push_back(each.seed); }
  manifest.warnings = warnings;
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
  sweep_records(database, [&](const nlohmann::ordered_json& record) { loaded.input.records.push_back(record); });
  return loaded;
}

}  // namespace

bool is_sweep(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kSqliteHead.size(), ' ');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kSqliteHead;
}

std::optional<LoadedInput> load_input(const std::string& path, const Invocation& invocation, const Streams& streams) {
  if (is_sweep(path)) { return from_sweep(path); }
  const std::string text = read_text_file(path);
  if (text.empty()) { throw FileError(fmt::format("{} is empty: neither a scenario nor results nor a sweep", path)); }
  const auto document = nlohmann::ordered_json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.contains("results")) { return simulated(path, invocation, streams); }
  LoadedInput loaded{{path, {}}, "", document.value("manifest", nlohmann::ordered_json::object()), {}, {}};
  for (const auto& record : document["results"]) { loaded.input.records.push_back(record); }
  add_scenario(loaded);
  return loaded;
}

}  // namespace athanor
