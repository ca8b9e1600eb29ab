#include <map>
#include <set>

#include <fmt/core.h>

#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/model_section.hpp"
#include "models/experiments/scenario/software_section.hpp"
#include "models/training/compute_pool.hpp"
#include "sim/config/document.hpp"
#include "sim/words.hpp"
#include "tools/list/columns.hpp"
#include "tools/list/listings.hpp"
#include "tools/list/pool_listing.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// "dense", "experts", "layers": of the models that the library knows.
std::vector<std::string> kinds_of(const std::vector<std::string>& models,
                                  const std::map<std::string, ModelPreset>& known) {
  std::set<std::string> kinds;
  for (const std::string& name : models) {
    const auto found = known.find(name);
    if (found == known.end()) { continue; }
    const auto& transformer = found->second.model.transformer;
    kinds.insert(!transformer ? "layers" : transformer->experts ? "experts" : "dense");
  }
  return {kinds.begin(), kinds.end()};
}

Json profile_row(const std::string& name, const ComputeProfile& profile, const Json& file,
                 const std::map<std::string, ModelPreset>& models) {
  const ComputeProfile::Domain& fitted = profile.fitted;
  std::vector<std::string> precisions;
  for (const Precision each : fitted.precisions) { precisions.emplace_back(athanor::name(each)); }
  const Json* errors = file.at("/fitted/errors");
  return {{"kind", "profile"},
          {"name", name},
          {"summary", profile.description},
          {"source", profile.source},
          {"gpus", fitted.gpus},
          {"precisions", precisions},
          {"software", fitted.software},
          {"frameworks", fitted.frameworks},
          {"models", fitted.models},
          {"kinds_of_models", kinds_of(fitted.models, models)},
          {"measurements", fitted.measurements},
          {"steps", fitted.steps},
          {"errors", errors == nullptr ? Json::object() : *errors}};
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

/// "dgx-cloud-recipes 24.11, 25.02": a software that took steps with several releases once.
std::string software_text(const Json& row) {
  std::vector<std::string> all;
  std::string last;
  for (const Json& each : row["software"].elements()) {
    const std::string& text = each.string();
    const std::string software = text.substr(0, text.find(' '));
    const bool again = software == last && software.size() < text.size();
    all.push_back(again ? text.substr(software.size() + 1) : text);
    last = software;
  }
  return or_dash(joined(all, ", "));
}

std::string percent(const Json& errors, std::string_view kind, std::string_view figure) {
  const Json* error = errors.find(kind);
  if (error == nullptr || error->number_at("steps") == 0) { return "-"; }
  return fmt::format("{:.1f}", error->number_at(figure) * 100);
}

const std::vector<ColumnHead> kHeads{{"profile"},
                                     {"GPUs"},
                                     {"in"},
                                     {"software"},
                                     {"models"},
                                     {"steps", Side::right},
                                     {"fitted", Side::right},
                                     {"p90", Side::right},
                                     {"step", Side::right},
                                     {"p90", Side::right},
                                     {"model", Side::right},
                                     {"p90", Side::right}};

/// Of one that was fitted on nothing, what it is.
std::vector<std::string> profile_line(const Json& row) {
  const std::string& name = row["name"].string();
  if (row["gpus"].empty()) { return {name, row["summary"].string()}; }
  std::vector<std::string> line{name,
                                or_dash(words_of(row["gpus"])),
                                or_dash(words_of(row["precisions"])),
                                software_text(row),
                                fmt::format("{} {}", row["models"].size(), or_dash(words_of(row["kinds_of_models"]))),
                                text_of(row["steps"])};
  for (const char* kind : {"fitted", "rows_held_out", "model_held_out"}) {
    for (const char* figure : {"median", "p90"}) { line.push_back(percent(row["errors"], kind, figure)); }
  }
  return line;
}

std::string errors_text(const ComputePool& pool) {
  if (pool.errors.empty()) { return ""; }
  std::vector<std::vector<std::string>> lines;
  for (const StepError& each : pool.errors) {
    lines.push_back({fmt::format("  {}", name(each.knowledge)), off_text(each.low, each.high)});
  }
  return in_columns({{"  # 8 of 10 measured steps, in % off, where known:"}, {"all steps", Side::right}}, lines);
}

}  // namespace

Listing list_compute(const Library& library) {
  Json rows = Json::list();
  std::vector<std::vector<std::string>> lines;
  Problems problems;
  const std::map<std::string, ModelPreset> models = load_models(library, problems);
  for (const std::string& name : library.names(LibraryFolder::compute)) {
    const std::string path = library.path(LibraryFolder::compute, name);
    const ComputeProfile profile = read_compute_profile_file(library.files(), path, problems);
    rows.push_back(profile_row(name, profile, Document::load(library.files(), path).root(), models));
    lines.push_back(profile_line(rows.back()));
  }
  problems.throw_if_any();
  std::string text =
      "# |error| in %, median and 90th percentile: of steps as fitted, and of what no fit had seen: every other step, "
      "a model\n" +
      in_columns(kHeads, lines);
  PoolCache pools;
  if (const auto pool = pools.steps(library)) {
    rows.push_back(pool_row(json_of(*pool), pool->figures));
    text += pool_heading(rows.back()) + errors_text(*pool);
  }
  return {rows, text};
}

}  // namespace athanor
