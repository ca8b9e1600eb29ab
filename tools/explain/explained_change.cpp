#include "tools/explain/explained_change.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

namespace {

std::vector<ExplainedChange> by_time(std::vector<ExplainedChange> changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return changes;
}

double gain(const ExplainedChange& change, Time now) {
  return now == Time::zero() ? 0 : 1 - seconds(change.time) / seconds(now);
}

}  // namespace

std::string change_lines(const std::vector<ExplainedChange>& changes, Time now) {
  if (changes.empty()) { return ""; }
  const bool long_times = microseconds(now) >= 10'000;
  std::string text = "what would help (each simulated alone)\n";
  for (const ExplainedChange& each : by_time(changes)) {
    const double time = microseconds(each.time) / (long_times ? 1000 : 1);
    text += fmt::format("  {:<52} {} {} {:>+6.1f} %{}\n", each.change, fitted(time, 10), long_times ? "ms" : "us",
                        -gain(each, now) * 100, each.note.empty() ? "" : "; " + each.note);
  }
  return text;
}

JsonValue changes_json(const std::vector<ExplainedChange>& changes, Time now) {
  JsonValue list = JsonValue::list();
  for (const ExplainedChange& each : by_time(changes)) {
    list.push_back({{"change", each.change},
                    {"time_us", microseconds(each.time)},
                    {"gain", gain(each, now)},
                    {"note", each.note.empty() ? JsonValue() : JsonValue(each.note)}});
  }
  return list;
}

}  // namespace athanor
