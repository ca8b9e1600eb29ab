#include <algorithm>

#include <fmt/format.h>

#include "models/experiments/scenario/cluster_section.hpp"
#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/list/list_algorithms.hpp"
#include "tools/list/list_engines.hpp"
#include "tools/list/list_models.hpp"
#include "tools/list/list_topologies.hpp"

namespace athanor {

namespace {

using Json = JsonValue;
using Rows = std::vector<Json>;  // objects of equal keys, whose values are strings or numbers

Rows presets(const Library& library) {
  Rows rows;
  for (const PresetSummary& preset : preset_summaries(library)) {
    rows.push_back({{"kind", preset.kind}, {"name", preset.name}, {"summary", preset.summary}});
  }
  return rows;
}

Rows profiles(const Library& library) {
  Rows rows;
  Problems problems;
  for (const std::string& name : profile_names(library)) {
    const bool in_file = library.has(Shelf::profiles, name);
    const Profile profile = in_file ? read_profile_file(library.path(Shelf::profiles, name), problems) : Profile{};
    rows.push_back({{"name", name}, {"summary", profile.description}});
  }
  problems.throw_if_any();
  return rows;
}

Rows compute_profiles(const Library& library) {
  Rows rows;
  Problems problems;
  for (const std::string& name : library.names(Shelf::compute)) {
    const ComputeProfile profile = read_compute_profile_file(library.path(Shelf::compute, name), problems);
    rows.push_back({{"name", name}, {"summary", profile.description}});
  }
  problems.throw_if_any();
  return rows;
}

Rows measurements(const Library& library) {
  Rows rows;
  Problems problems;
  for (const std::string& id : library.names(Shelf::measurements)) {
    const Measurement measurement = read_measurement(library.path(Shelf::measurements, id), problems);
    rows.push_back({{"name", id},
                    {"collective", name(measurement.collective)},
                    {"ranks", measurement.ranks},
                    {"algorithm", measurement.algorithm},
                    {"hardware", measurement.hardware},
                    {"source", measurement.source}});
  }
  problems.throw_if_any();
  return rows;
}

struct Topic {
  const char* name;
  Rows (*rows)(const Library&);
};
constexpr Topic kTopics[] = {
    {"presets", &presets}, {"profiles", &profiles}, {"compute", &compute_profiles}, {"measurements", &measurements}};

const Topic& find_topic(const std::string& word) {
  std::vector<std::string> names{"algorithms", "topologies", "engines", "models"};
  for (const Topic& topic : kTopics) {
    if (topic.name == word) { return topic; }
    names.emplace_back(topic.name);
  }
  const std::string near = nearest(word, names);
  throw UsageError(fmt::format(
      "list: there are no '{}'; {}", word,
      near.empty() ? fmt::format("choose from {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near)));
}

std::string cell(const Json& value) { return value.is_string() ? value.string() : text_of(value); }

/// Columns as wide as their widest cell, the last as it is.
std::string table(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const Json& row : rows) {
    widths.resize(row.size());
    std::size_t column = 0;
    for (const auto& [key, value] : row.members()) {
      widths[column] = std::max(widths[column], cell(value).size());
      ++column;
    }
  }
  std::string text;
  for (const Json& row : rows) {
    std::size_t column = 0;
    for (const auto& [key, value] : row.members()) {
      const bool last = column + 1 == widths.size();
      text += last ? cell(value) + "\n" : fmt::format("{:<{}}  ", cell(value), widths[column]);
      ++column;
    }
  }
  return text;
}

void check_options(const Invocation& invocation) {
  for (const char* option : {"collective", "ranks", "size"}) {
    if (invocation.has(option)) {
      throw UsageError(fmt::format("list: --{} goes with algorithms, not with {}", option, invocation.arguments[0]));
    }
  }
}

ExitCode list_models(const Invocation& invocation, const Streams& streams) {
  const Json models = models_json(invocation.library);
  if (invocation.has("json")) {
    write_json(invocation, streams, text_of(Json{{"results", models}}, 2));
  } else {
    streams.out(models_text(models, invocation.verbose));
  }
  return ExitCode::ok;
}

ExitCode list(const Invocation& invocation, const Streams& streams) {
  const std::string& topic = invocation.arguments[0];
  if (topic == "algorithms") { return list_algorithms(invocation, streams); }
  if (topic == "topologies" || topic == "engines" || topic == "models") {
    check_options(invocation);
    if (topic == "models") { return list_models(invocation, streams); }
    return topic == "engines" ? list_engines(invocation, streams) : list_topologies(invocation, streams);
  }
  const Rows rows = find_topic(topic).rows(invocation.library);
  check_options(invocation);
  if (invocation.has("json")) {
    write_json(invocation, streams, text_of(Json{{"results", rows}}, 2));
  } else {
    streams.out(table(rows));
  }
  return ExitCode::ok;
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .summary = "lists algorithms, topologies, engines, models, presets, profiles, compute or measurements",
          .arguments = "algorithms|topologies|engines|models|presets|profiles|compute|measurements",
          .explanation =
              "The names that scenarios may use. Algorithms come with their steps and bytes, and with\n"
              "--verbose with how they go, their closed form and its source. So do topologies, with their\n"
              "keys, sizes, diameter and bisection, and the engines of networks with their limits, costs,\n"
              "sources and what is assumed of them. Models that are trained come with their parameters;\n"
              "compute are the profiles of how fast GPUs compute.\n",
          .example = "athanor list algorithms --collective all_reduce --ranks 16 --size 64MiB",
          .least_arguments = 1,
          .most_arguments = 1,
          .options = &list_algorithms_options,
          .execute = &list};
}

}  // namespace athanor
