#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/scenario/cluster_section.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/list/columns.hpp"
#include "tools/list/listings.hpp"

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

Rows measurements(const Library& library) {
  Rows rows;
  Problems problems;
  for (const std::string& id : library.names(LibraryFolder::measurements)) {
    const Measurement measurement =
        read_measurement(library.files(), library.path(LibraryFolder::measurements, id), problems);
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

std::string cell(const Json& value) { return value.is_string() ? value.string() : text_of(value); }

Listing tabled(const Rows& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const auto& [key, value] : row.members()) { line.push_back(cell(value)); }
  }
  return {rows, in_columns(lines)};
}

struct Topic {
  const char* name;
  Listing (*listing)(const ListOptions& options);
};
constexpr Topic kTopics[] = {
    {"algorithms", &list_algorithms},
    {"topologies", [](const ListOptions& options) { return list_topologies(options.common.verbose); }},
    {"engines", [](const ListOptions& options) { return list_engines(options.common.verbose); }},
    {"models", [](const ListOptions& options) { return list_models(options.common.library, options.common.verbose); }},
    {"frameworks",
     [](const ListOptions& options) { return list_frameworks(options.common.library, options.common.verbose); }},
    {"presets", [](const ListOptions& options) { return tabled(presets(options.common.library)); }},
    {"profiles", [](const ListOptions& options) { return list_profiles(options.common.library); }},
    {"compute", [](const ListOptions& options) { return list_compute(options.common.library); }},
    {"measurements", [](const ListOptions& options) { return tabled(measurements(options.common.library)); }}};

const Topic& find_topic(const std::string& word) {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) {
    if (topic.name == word) { return topic; }
    names.emplace_back(topic.name);
  }
  const std::string near = nearest(word, names);
  throw UsageError(fmt::format(
      "list: there are no '{}'; {}", word,
      near.empty() ? fmt::format("choose from {}", joined(names, ", ")) : fmt::format("did you mean '{}'?", near)));
}

ExitCode list(const ListOptions& options, const Streams& streams) {
  const CommonOptions& common = options.common;
  const Topic& topic = find_topic(common.arguments[0]);
  if (topic.listing != &list_algorithms) {
    allow_only(common, "list", {}, fmt::format("goes with algorithms, not with {}", topic.name));
  }
  const Listing listing = topic.listing(options);
  if (common.json) {
    write_json(common, streams, text_of(Json{{"results", listing.rows}}, 2));
  } else {
    streams.out(listing.text);
  }
  return ExitCode::ok;
}

}  // namespace

void visit(OptionFields& fields, ListOptions& options) {
  fields.heading("of list algorithms");
  fields.text("collective", "KIND", options.collective, "only those of one collective, as in all_reduce");
  fields.number("ranks", "N", options.ranks, 1, "steps and bytes over so many; absent: 8");
  fields.size("size", "SIZE", options.size, "and at this payload, as in 64KiB; absent: 1MiB");
}

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (column > indent && column + 1 + word.size() > kWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return result;
}

Command list_command() {
  return {.name = "list",
          .summary =
              "lists algorithms, topologies, engines, models, frameworks, presets, profiles, compute or measurements",
          .arguments = "algorithms|topologies|engines|models|frameworks|presets|profiles|compute|measurements",
          .explanation =
              "The names that scenarios may use. Algorithms come with their steps and bytes, and with\n"
              "--verbose with how they go, their closed form and its source. So do topologies, with their\n"
              "keys, sizes, diameter and bisection, and the engines of networks with their limits, costs,\n"
              "sources and what is assumed of them. Models that are trained come with their parameters;\n"
              "frameworks, with --verbose, with what they do in a parallel plan unless told otherwise.\n"
              "Profiles say what software costs, and compute how fast GPUs compute: each with the hardware,\n"
              "the software and the measurements that it was fitted on, and how far it is off on these and on\n"
              "what its fit had not seen; then the pools, of which all that have no profile are predicted.\n",
          .example = "athanor list algorithms --collective all_reduce --ranks 16 --size 64MiB",
          .least_arguments = 1,
          .most_arguments = 1,
          .prepare = &prepared<ListOptions, &list>};
}

}  // namespace athanor
