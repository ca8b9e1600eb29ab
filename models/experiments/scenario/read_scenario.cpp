#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "models/experiments/scenario/digest.hpp"
#include "models/experiments/scenario/experiment_kinds.hpp"
#include "models/experiments/scenario/key_scopes.hpp"
#include "models/experiments/scenario/read_case.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/scenario/trace_section.hpp"
#include "models/synthesis/synthesis_cache.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// What is wrong with the file's common part is found once per case, and said once.
void add_once(const Problems& found, Problems& problems) {
  using Key = std::tuple<std::string, int, int, std::string, std::string>;
  const auto key = [](const Problem& problem) {
    return Key{problem.place.file, problem.place.line, problem.place.column, problem.code, problem.message};
  };
  std::set<Key> known;
  for (const Problem& problem : problems.list()) { known.insert(key(problem)); }
  for (const Problem& problem : found.list()) {
    if (known.insert(key(problem)).second) { problems.add(problem); }
  }
}

bool has_list_of_cases(const Document& document) {
  return document.root().is_object() && document.root().contains("cases");
}

/// Whether "cases" is a list of objects, at least one; else reports what it is.
bool check_cases(const Document& document, Problems& problems) {
  const JsonValue& cases = document.root()["cases"];
  if (!cases.is_list() || cases.empty()) {
    problems.add({"wrong-type", "\"cases\" is a list of at least one case", document.place("/cases"),
                  R"(write "cases": [{"name": "..."}, ...], or leave it out)"});
    return false;
  }
  bool fine = true;
  std::set<std::string> names;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const JsonValue& each = cases.elements()[i];
    const JsonValue* name = each.find("name");
    if (name != nullptr && !names.insert(text_of(*name)).second) {
      problems.add({"duplicate-name", fmt::format("two cases are called {}", text_of(*name)),
                    document.place(fmt::format("/cases/{}/name", i)), "give each a name of its own"});
      fine = false;
    }
    if (each.is_object() && !each.contains("cases") && !each.contains("sweep")) { continue; }
    problems.add({"wrong-type",
                  "a case is an object with keys of the scenario that it changes, without cases or a sweep of its own",
                  document.place(fmt::format("/cases/{}", i)), ""});
    fine = false;
  }
  return fine;
}

bool is_wanted(const ScenarioChanges& changes, const std::string& name) {
  return changes.cases.empty() || std::find(changes.cases.begin(), changes.cases.end(), name) != changes.cases.end();
}

/// The documents of all cases: each is the file with its patch and the settings of the command line applied.
std::vector<Document> documents_of(Document document, const ScenarioChanges& changes, Problems& problems) {
  std::vector<std::string> later;
  for (const std::string& setting : changes.settings) {
    if (setting.starts_with("/cases/")) {
      document.set(setting);
    } else {
      later.push_back(setting);
    }
  }
  std::vector<Document> documents;
  if (!has_list_of_cases(document)) {
    documents.push_back(std::move(document));
  } else if (check_cases(document, problems)) {
    const std::size_t count = document.root()["cases"].size();
    for (std::size_t i = 0; i < count; ++i) {
      if (changes.only.value_or(i) == i) { documents.push_back(document.patched("cases", i)); }
    }
  }
  for (Document& each : documents) {
    for (const std::string& setting : later) { each.set(setting); }
  }
  return documents;
}

/// "" where the root has no such text.
std::string text_at(const Document& document, const char* key) { return document.root().string_at(key); }

/// A case's own name: that of the scenario does not count, nor does none.
void name_case(Case& scenario_case, const Scenario& scenario) {
  if (!scenario.has_cases) {
    scenario_case.name = scenario.name;
  } else if (scenario_case.name.empty() || scenario_case.name == scenario.name) {
    scenario_case.name = fmt::format("case {}", scenario_case.place + 1);
  }
}

void keep_wanted_cases(Scenario& scenario, const ScenarioChanges& changes) {
  std::vector<std::string> names;
  for (const Case& each : scenario.cases) { names.push_back(each.name); }
  for (const std::string& wanted : changes.cases) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) { continue; }
    if (std::all_of(names.begin(), names.end(), [](const std::string& each) { return each.empty(); })) {
      throw UsageError(fmt::format("--case: {} has no \"cases\"; leave it out", scenario.path));
    }
    const std::string near = nearest(wanted, names);
    throw UsageError(fmt::format("--case: {} has no case '{}'; {}", scenario.path, wanted,
                                 near.empty() ? fmt::format("its cases are: {}", joined(names, ", "))
                                              : fmt::format("did you mean '{}'?", near)));
  }
  std::erase_if(scenario.cases, [&](const Case& each) { return !is_wanted(changes, each.name); });
}

/// Whether no sweep, and no choice among cases, leaves algorithms out.
bool sees_all_algorithms(const ScenarioChanges& changes) {
  const auto of_algorithm = [](const std::string& setting) { return setting.starts_with("/collective/algorithm"); };
  return changes.cases.empty() && !changes.only &&
         std::none_of(changes.settings.begin(), changes.settings.end(), of_algorithm);
}

void read_cases(Scenario& scenario, Document document, ReadingContext context) {
  scenario.has_cases = has_list_of_cases(document);
  scenario.name = text_at(document, "name");
  EnginesInUse engines;
  for (const Document& each : documents_of(std::move(document), context.changes, context.problems)) {
    Case& scenario_case = scenario.cases.emplace_back();
    scenario_case.place = context.changes.only.value_or(scenario.cases.size() - 1);
    scenario_case.name = text_at(each, "name");
    name_case(scenario_case, scenario);
    if (!is_wanted(context.changes, scenario_case.name)) { continue; }  // nor does it matter what is wrong with it
    Problems found;
    ReadingContext own{context.files,  context.library, context.changes,  found, context.clusters, context.imports,
                       context.traces, context.pools,   context.syntheses};
    scenario.sweep.clear();
    const auto visit_case = [&](Fields& fields) { read_case(fields, own, scenario_case, scenario.sweep); };
    if (context.changes.resolve) {
      scenario_case.resolved = std::make_shared<const JsonValue>(resolved_document(each, found, visit_case));
    } else {
      read_document(each, found, visit_case);
    }
    if (found.empty() && scenario_case.experiment) {
      engines.see(each, scenario_case);
      refuse_keys_without_effect(each, scenario_case, found);
    }
    name_case(scenario_case, scenario);
    if (context.changes.open_plan || context.changes.resolve) {
      scenario_case.text = std::make_shared<const JsonValue>(each.root());
    }
    add_once(found, context.problems);
  }
  const auto unused = engines.problem();
  if (unused && sees_all_algorithms(context.changes)) { context.problems.add(*unused); }
}

}  // namespace

struct ScenarioReader::Caches {
  explicit Caches(const Library& library) : clusters(library, {}) {}

  /// Relative paths in a scenario start at its folder.
  ImportCache& imports_of(const std::string& directory, const FileReader& files) {
    return imports.try_emplace(directory, files).first->second;
  }

  ClusterCache clusters;
  std::map<std::string, ImportCache> imports;
  std::shared_ptr<TraceCache> traces = std::make_shared<TraceCache>();
  PoolCache pools;
  SynthesisCache syntheses;
};

ScenarioReader::ScenarioReader(const Library& library)
    : library_(library), caches_(std::make_unique<Caches>(library)) {}

ScenarioReader::~ScenarioReader() = default;

Scenario ScenarioReader::read(const std::string& path, const ScenarioChanges& changes, Problems& problems) {
  return read_text(library_.files().text(path), path, changes, problems);
}

Scenario ScenarioReader::read_text(std::string text, const std::string& path, const ScenarioChanges& changes,
                                   Problems& problems) {
  constexpr std::size_t kMostClusters = 4;
  caches_->clusters.tidy(kMostClusters);
  Scenario scenario{.path = path, .name = "", .hash = text_hash(text), .cases = {}, .traces = {}, .sweep = {}};
  scenario.traces = changes.traces ? changes.traces : caches_->traces;
  ClusterCache of_other_links(library_, changes.links);
  ClusterCache& clusters = changes.links.empty() ? caches_->clusters : of_other_links;
  Problems found;
  try {
    const std::string directory = std::filesystem::path(path).parent_path().string();
    const FileReader files = library_.files().in(directory);
    read_cases(scenario, Document::parse(std::move(text), path),
               {files, library_, changes, found, clusters, caches_->imports_of(directory, files), *scenario.traces,
                caches_->pools, caches_->syntheses});
  } catch (const ScenarioError& error) {
    for (const Problem& problem : error.problems()) { found.add(problem); }
  }
  if (found.empty()) {
    keep_wanted_cases(scenario, changes);
    for (const Case& each : scenario.cases) {
      if (changes.sizes) { each.experiment->check_asked_sizes(); }
    }
  }
  add_once(found, problems);
  return scenario;
}

Scenario read_scenario(const std::string& path, const Library& library, const ScenarioChanges& changes,
                       Problems& problems) {
  return ScenarioReader(library).read(path, changes, problems);
}

Scenario read_scenario(const std::string& path, const Library& library, const ScenarioChanges& changes) {
  Problems problems;
  Scenario scenario = read_scenario(path, library, changes, problems);
  problems.throw_if_any();
  return scenario;
}

JsonValue scenario_schema(const Library& library) {
  const ScenarioChanges unchanged;
  Problems dropped;
  ClusterCache clusters(library, {});
  ImportCache imports(library.files());
  TraceCache traces;
  PoolCache pools;
  SynthesisCache syntheses;
  ReadingContext context{library.files(), library, unchanged, dropped, clusters, imports, traces, pools, syntheses};
  JsonValue whole = describe_schema("", [&](Fields& fields) {
    Case described;
    std::vector<SweepAxis> sweep;
    read_case(fields, context, described, sweep);
  });
  for (const char* key : {"$schema", "title"}) { whole.erase(key); }
  JsonValue one_case = patch_schema(whole);
  JsonValue common = one_case;
  one_case["properties"].erase("sweep");
  common["properties"]["cases"] = JsonValue{
      {"type", "array"},
      {"minItems", 1},
      {"description", "Several runs in one file: each changes the rest of it as by a JSON merge patch (RFC 7396)"},
      {"items", JsonValue{{"$ref", "#/definitions/case"}}}};
  for (const ExperimentKind& kind : experiment_kinds()) {
    whole["oneOf"].push_back(JsonValue{{"required", JsonValue::List{kind.key}}});
  }
  JsonValue schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"title", "Athanor scenario"},
                   {"definitions", JsonValue{{"case", std::move(one_case)}}},
                   {"if", JsonValue{{"required", JsonValue::List{"cases"}}}},
                   {"then", std::move(common)},
                   {"else", std::move(whole)}};
  schema.sort_keys();
  return schema;
}

}  // namespace athanor
