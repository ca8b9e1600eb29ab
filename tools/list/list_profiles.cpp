#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/scenario/software_section.hpp"
#include "models/software/software_pool.hpp"
#include "sim/config/document.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "tools/list/columns.hpp"
#include "tools/list/fit_errors.hpp"
#include "tools/list/fitted_tables.hpp"
#include "tools/list/listings.hpp"
#include "tools/list/pool_listing.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

std::string library_of(const Profile& profile) {
  if (profile.threads) { return "threads"; }
  if (profile.gpus) { return "GPU kernels"; }
  if (!profile.nccl) { return ""; }
  return profile.nccl->rccl ? "RCCL" : "NCCL";
}

/// How many processes drive the GPUs of a node, in the words of "software".
std::string launch_of(const Profile& profile) {
  if (!profile.nccl) { return ""; }
  return profile.nccl->host_launch_per_gpu > Time::zero() ? "process_per_node" : "process_per_gpu";
}

/// Those that calibrations on probes timed; 0: not said.
std::uint64_t points_of(const Json& file) {
  const Json* points = file.at("/calibration/fit/points");
  return points == nullptr ? 0 : static_cast<std::uint64_t>(points->number());
}

/// Where fitted rows are furthest off.
Json worst_row(const WorstFit& worst) {
  Json row{{"table", worst.table->name}, {"size", name(worst.band)}, {"error", worst.error}};
  if (worst.table->collective) {
    row["collective"] = name(*worst.table->collective);
    row["nodes"] = worst.table->nodes;
  }
  return row;
}

Json profile_row(const std::string& name, const Profile& profile, const Json& file, const FittedTables& tables) {
  const Profile::Domain& fitted = profile.fitted;
  const Json* version = file.at("/nccl/version");
  Json row{{"kind", "profile"},
           {"name", name},
           {"summary", profile.description},
           {"source", profile.source},
           {"gpus", fitted.gpus},
           {"nodes", fitted.nodes},
           {"ranks", fitted.ranks},
           {"transport", profile.transport},
           {"within_node", profile.within_node},
           {"machine", profile.machine},
           {"hardware", tables.hardware},
           {"library", library_of(profile)},
           {"chooses_as", version == nullptr ? Json("") : *version},
           {"launch", launch_of(profile)},
           {"software", tables.software},
           {"collectives", fitted.collectives},
           {"measurements", fitted.measurements},
           {"rows", tables.rows > 0 ? tables.rows : points_of(file)}};
  if (!fitted.measurements.empty()) {
    row["from"] = written(fitted.from);
    row["to"] = written(fitted.to);
  }
  row["errors"] = fit_errors(file);
  if (const WorstFit worst = worst_fit(profile.calibrated); worst.table != nullptr) { row["worst"] = worst_row(worst); }
  return row;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// Generations of GPUs, or the machine.
std::string hardware_text(const Json& row) {
  std::vector<std::string> names;
  for (const Json& each : row["gpus"].elements()) {
    const std::string generation = gpu_generation(each.string());
    names.push_back(generation.empty() ? each.string() : generation);
  }
  return names.empty() ? or_dash(row["machine"].string()) : joined(names, ", ");
}

/// "2", "2..8".
std::string range_text(const Json& values) {
  std::vector<std::string> words;
  for (const Json& each : values.elements()) { words.push_back(text_of(each)); }
  return words.empty() ? "-" : words.size() == 1 ? words.front() : words.front() + ".." + words.back();
}

/// Of a version its number alone: "NCCL 2.4.8, 2.4.x", "NCCL" where nobody says.
std::string software_text(const Json& row) {
  std::vector<std::string> versions;
  for (const Json& each : row["software"].elements()) {
    std::string_view text = each.string();
    text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    const std::string version(text.substr(0, text.find(' ')));
    const bool known = !version.empty() && version.front() >= '0' && version.front() <= '9';
    if (known && std::count(versions.begin(), versions.end(), version) == 0) { versions.push_back(version); }
  }
  const std::string& library = row["library"].string();
  if (library.empty()) { return or_dash(words_of(row["software"])); }
  return versions.empty() ? library : library + " " + std::string(joined(versions, ", "));
}

/// "8MiB..16GiB": sizes between which it was fitted.
std::string sizes_of(const Json& row) {
  return row.contains("from") ? row["from"].string() + ".." + row["to"].string() : "-";
}

/// What was held out of a fit, from least to most: keys, the first that is there, and the column's title.
struct ErrorColumn {
  std::array<const char*, 2> keys;
  const char* title;

  const Json* find(const Json& errors) const {
    const Json* found = errors.find(keys[0]);
    return found == nullptr ? errors.find(keys[1]) : found;
  }
};
constexpr std::array<ErrorColumn, 6> kErrors{{{{"fit", ""}, "fitted"},
                                              {{"hold_out_sizes", "hold_out"}, "some rows"},
                                              {{"hold_out_tables", ""}, "a table"},
                                              {{"hold_out_but_two", ""}, "all but 2"},
                                              {{"hold_out_but_anchors", ""}, "all but few"},
                                              {{"hold_out_stack", ""}, "all"}}};

/// Those that some profile has.
std::vector<ErrorColumn> errors_shown(const Json& rows) {
  std::vector<ErrorColumn> shown;
  for (const ErrorColumn& each : kErrors) {
    const auto has = [&](const Json& row) { return each.find(row["errors"]) != nullptr; };
    if (std::any_of(rows.elements().begin(), rows.elements().end(), has)) { shown.push_back(each); }
  }
  return shown;
}

/// "37 % all_to_all on 2 nodes, above": of which collective on how many nodes, in which band of sizes.
std::string worst_text(const Json& row) {
  const Json* const worst = row.find("worst");
  if (worst == nullptr) { return "-"; }
  const double nodes = worst->number_at("nodes");
  const std::string of =
      nodes == 0 ? worst->string_at("table")
                 : fmt::format("{} on {:.0f} node{}", worst->string_at("collective"), nodes, nodes == 1 ? "" : "s");
  return fmt::format("{:.0f} % {}, {}", worst->number_at("error") * 100, of, worst->string_at("size"));
}

/// Of one that was fitted on nothing, what it is.
std::vector<std::string> profile_line(const Json& row, const std::vector<ErrorColumn>& shown) {
  const std::string& name = row["name"].string();
  const Json& errors = row["errors"];
  if (row["measurements"].empty() && errors.empty()) { return {name, row["summary"].string()}; }
  const std::string& launch = row["launch"].string();
  std::vector<std::string> line{name,
                                hardware_text(row),
                                range_text(row["nodes"]),
                                or_dash(row["transport"].string()),
                                software_text(row),
                                launch.empty()                ? "-"
                                : launch == "process_per_gpu" ? "per GPU"
                                                              : "per node",
                                sizes_of(row),
                                std::to_string(row["measurements"].size()),
                                text_of(row["rows"])};
  for (const ErrorColumn& each : shown) { line.push_back(by_band(each.find(errors))); }
  line.push_back(worst_text(row));
  return line;
}

std::string profiles_text(const Json& rows) {
  const auto shown = errors_shown(rows);
  std::vector<ColumnHead> heads{{"profile"},          {"hardware"}, {"nodes"}, {"between"},
                                {"software"},         {"launch"},   {"sizes"}, {"tables", Side::right},
                                {"rows", Side::right}};
  for (const ErrorColumn& each : shown) { heads.push_back({each.title, Side::right}); }
  heads.push_back({"worst fitted"});
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows.elements()) { lines.push_back(profile_line(row, shown)); }
  return "# medians over tables of |error| in %, below 1 MiB / below 64 MiB / above: of rows as fitted, and of what no "
         "fit had seen; worst: of the collective, nodes and sizes where fitted rows are furthest off\n" +
         in_columns(heads, lines);
}

std::string interval(const PredictionError* error) {
  return error == nullptr ? "-" : off_text(error->low, error->high);
}

std::string errors_text(const SoftwarePool& pool) {
  if (pool.errors.empty()) { return ""; }
  std::vector<ColumnHead> heads{{"  # 8 of 10 measured times, in % off, where known:"}};
  for (const char* nodes : {"one node", "several"}) {
    for (const char* band : {"<1MiB", "<64MiB", "above"}) {
      heads.push_back({fmt::format("{} {}", nodes, band), Side::right});
    }
  }
  std::vector<std::vector<std::string>> lines;
  for (const Knowledge knowledge : kKnowledges) {
    lines.push_back({fmt::format("  {}", name(knowledge))});
    for (const bool several : {false, true}) {
      for (const Bytes size : {Bytes{1}, Bytes{2'000'000}, Bytes{1'000'000'000}}) {
        lines.back().push_back(interval(find(pool.errors, knowledge, several, size)));
      }
    }
  }
  return in_columns(heads, lines);
}

}  // namespace

Listing list_profiles(const Library& library) {
  Json rows = Json::list();
  Problems problems;
  for (const std::string& name : profile_names(library)) {
    Profile profile;
    Json file = Json::object();
    if (library.has(LibraryFolder::profiles, name)) {
      const std::string path = library.path(LibraryFolder::profiles, name);
      profile = read_profile_file(library.files(), path, problems);
      file = Document::load(library.files(), path).root();
    }
    rows.push_back(profile_row(name, profile, file, fitted_tables(profile.fitted, library, problems)));
  }
  problems.throw_if_any();
  std::string text = profiles_text(rows);
  for (const std::string& name : library.names(LibraryFolder::pools)) {
    const SoftwarePool pool = read_pool(library, name);
    rows.push_back(pool_row(json_of(pool), pool.figures));
    text += pool_heading(rows.back()) + errors_text(pool);
  }
  return {rows, text};
}

}  // namespace athanor
