#include "tools/sweep/table.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_kinds.hpp"
#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "tools/cli/columns.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

std::vector<std::string> labels_of(const SweepPlan& plan, std::uint64_t index) {
  const SweepPlan::Point point = plan.point(index);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) { labels.push_back(plan.axes[i].label(point.steps[i])); }
  if (plan.cases.size() > 1) { labels.push_back(plan.cases[point.scenario_case]); }
  return labels;
}

std::vector<std::string> heads_of(const SweepPlan& plan) {
  std::vector<std::string> heads;
  for (const SweepAxis& axis : plan.axes) { heads.push_back(axis.title()); }
  if (plan.cases.size() > 1) { heads.emplace_back("case"); }
  return heads;
}

void add_result(Columns& columns, std::vector<std::string> line, const std::string& result) {
  const Json json = json_value_of(result).value();
  for (const Column* figure : figures_of_all_kinds()) {
    const Json* found = json.find(figure->key);
    if (!figure->shown.in_sweeps || found == nullptr || !(found->is_number() || found->is_string())) { continue; }
    columns.put(line, fmt::format("{}{}{}", figure->head, figure->unit.empty() ? "" : " ", figure->unit),
                value_text(*figure, *found));
  }
  columns.add(std::move(line));
}

/// Whether a result, or that of one of several jobs, is outside of what its profile was fitted on. Found in its text,
/// in which a word of a user has its quotes escaped: a sweep may have more results than are worth parsing.
bool is_extrapolated(std::string_view result) {
  constexpr std::string_view kKey = R"("extrapolated":)";
  for (std::size_t at = result.find(kKey); at != std::string_view::npos; at = result.find(kKey, at)) {
    at = std::min(result.find_first_not_of(' ', at + kKey.size()), result.size());
    if (result.substr(at).starts_with("true")) { return true; }
  }
  return false;
}

}  // namespace

std::string sweep_table(SweepDatabase& database, std::size_t most) {
  const SweepPlan& plan = database.plan();
  Columns columns(heads_of(plan));
  std::size_t lines = 0;
  std::size_t failed = 0;
  std::size_t extrapolated = 0;
  database.each([&](const SweepOutcome& outcome) {
    failed += outcome.error.empty() ? 0 : 1;
    for (const std::string& result : outcome.results) {
      extrapolated += is_extrapolated(result) ? 1 : 0;
      if (lines++ < most) { add_result(columns, labels_of(plan, outcome.point), result); }
    }
    if (outcome.error.empty() || lines++ >= most) { return; }
    std::vector<std::string> line = labels_of(plan, outcome.point);
    const Json error = json_value_of(outcome.error).value();
    const std::string pointer = error.string_at("pointer");
    line.push_back(fmt::format("failed: {}{}{}", pointer, pointer.empty() ? "" : ": ", error.string_at("message")));
    columns.add(std::move(line));
  });
  std::string text = lines == 0 ? "" : columns.text();
  if (lines > most) { text += fmt::format("# and {} more lines\n", lines - most); }
  if (extrapolated > 0) {
    text += fmt::format("# {} of {} results are extrapolated: outside of what the profile was fitted on\n",
                        extrapolated, lines - failed);
  }
  return text;
}

void sweep_records(SweepDatabase& database, const std::function<void(const Json&)>& see) {
  const SweepPlan& plan = database.plan();
  database.each([&](const SweepOutcome& outcome) {
    const SweepPlan::Point point = plan.point(outcome.point);
    Json parameters = Json::object();
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
      parameters[plan.axes[i].title()] = plan.axes[i].label(point.steps[i]);
    }
    const Json head = {{"point", outcome.point}, {"parameters", parameters}};
    if (!outcome.error.empty()) {
      Json record = head;
      record["case"] = plan.cases[point.scenario_case];
      record["error"] = json_value_of(outcome.error).value();
      see(record);
    }
    for (const std::string& result : outcome.results) {
      Json record = head;
      record.update(json_value_of(result).value());
      see(record);
    }
  });
}

std::vector<Json> sweep_records(const std::string& path) {
  SweepDatabase database(path, SqliteFile::Access::read);
  std::vector<Json> records;
  sweep_records(database, [&](const Json& record) { records.push_back(record); });
  return records;
}

}  // namespace athanor
