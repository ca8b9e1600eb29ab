#include "tools/explain/explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "tools/explain/explanation_parts.hpp"

namespace athanor {

namespace {

constexpr std::size_t kBarWidth = 72;

using Phase = std::pair<const char*, Time>;

std::array<Phase, 5> phases_of(const ExplainedPhases& phases) {
  return {{{"launch", phases.launch},
           {"fill", phases.fill},
           {"steady state", phases.steady},
           {"drain", phases.drain},
           {"host", phases.host}}};
}

std::string time_text(Time time) {
  const double value = microseconds(time);
  return fmt::format("{:.{}f} us", value, value < 100 ? 2 : 1);
}

std::string percent(Time part, Time whole) {
  if (whole == Time::zero()) { return "0 %"; }
  return fmt::format("{:.0f} %", 100 * microseconds(part) / microseconds(whole));
}

std::string candidate_line(const ExplainedCandidate& candidate, bool predicts) {
  const std::string predicted = candidate.predicted ? fitted(*candidate.predicted, 12) : fmt::format("{:>12}", "-");
  const std::string simulated =
      candidate.simulated ? fitted(microseconds(*candidate.simulated), 12) : fmt::format("{:>12}", "-");
  return fmt::format("  {:<24} {:<8}{}{}{}\n", candidate.algorithm, candidate.protocol, predicts ? predicted : "",
                     simulated, candidate.chosen ? "  <- chosen" : "");
}

std::string candidate_lines(const std::vector<ExplainedCandidate>& candidates) {
  const bool predicts =
      std::any_of(candidates.begin(), candidates.end(), [](const auto& each) { return each.predicted.has_value(); });
  std::string lines =
      fmt::format("candidates{:25}{}{:>12}\n", "", predicts ? fmt::format("{:>12}", "NCCL (us)") : "", "here (us)");
  std::string refused;
  for (const ExplainedCandidate& each : candidates) {
    if (each.obstacle.empty()) {
      lines += candidate_line(each, predicts);
    } else {
      refused += fmt::format("  {:<24} {:<8}  {}\n", each.algorithm, each.protocol, each.obstacle);
    }
  }
  return lines + (refused.empty() ? "" : "not\n" + refused);
}

std::string list_lines(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) { return ""; }
  std::string text = fmt::format("{}\n", title);
  for (const std::string& line : lines) { text += fmt::format("  {}\n", line); }
  return text;
}

std::string phase_lines(const ExplainedPhases& phases, const std::vector<double>& sending) {
  const std::string bar = phase_bar(phases, kBarWidth);
  std::string text = fmt::format("pipeline\n  |{}| {}\n", bar, time_text(phases.total()));
  if (!sending.empty()) { text += fmt::format("  |{}| bytes leaving senders\n", sending_bar(bar, sending)); }
  text += "  ";
  std::string separator;
  for (const auto& [label, time] : phases_of(phases)) {
    if (time == Time::zero()) { continue; }
    text += fmt::format("{}{} {} ({})", separator, label, time_text(time), percent(time, phases.total()));
    separator = ", ";
  }
  return text + "\n";
}

}  // namespace

std::string phase_bar(const ExplainedPhases& phases, std::size_t width) {
  constexpr std::array<char, 5> kSigns{'L', '/', '=', '\\', 'H'};
  const auto parts = phases_of(phases);
  std::array<std::size_t, 5> cells{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Time time = parts.at(i).second;
    if (time == Time::zero()) { continue; }
    cells.at(i) = std::max<std::size_t>(
        1, static_cast<std::size_t>(microseconds(time) / microseconds(phases.total()) * static_cast<double>(width)));
  }
  const auto used = [&] { return cells[0] + cells[1] + cells[2] + cells[3] + cells[4]; };
  while (used() != 0 && used() != width) {
    std::size_t& longest = *std::max_element(cells.begin(), cells.end());
    longest = used() > width ? longest - 1 : longest + 1;
  }
  std::string bar;
  for (std::size_t i = 0; i < cells.size(); ++i) { bar.append(cells.at(i), kSigns.at(i)); }
  return bar;
}

std::string sending_bar(const std::string& phase_bar, const std::vector<double>& shares) {
  constexpr std::string_view kLevels = " .:-=+*%#";
  const std::size_t begin = phase_bar.find_first_not_of('L');
  const std::size_t end = phase_bar.find_last_not_of('H') + 1;
  std::string bar(phase_bar.size(), ' ');
  if (begin >= end) { return bar; }
  std::vector<double> cells(end - begin);
  for (std::size_t i = 0; i < shares.size(); ++i) { cells[i * cells.size() / shares.size()] += shares[i]; }
  const double most = *std::max_element(cells.begin(), cells.end());
  for (std::size_t i = 0; most > 0 && i < cells.size(); ++i) {
    const double level = cells[i] / most * static_cast<double>(kLevels.size() - 1);
    bar[begin + i] = kLevels[static_cast<std::size_t>(std::ceil(level - 1e-9))];
  }
  return bar;
}

std::string to_text(const Explanation& explanation) {
  std::string text = explanation.heading.text();
  if (!explanation.library.empty()) { text += fmt::format("# {:<12} {}\n", "library", explanation.library); }
  text += fmt::format("\n{}: {} with {}, {}\n\n", explanation.collective, explanation.algorithm, explanation.protocol,
                      time_text(explanation.time));
  text += interval_lines(explanation.interval, 1, "us");
  text += candidate_lines(explanation.candidates);
  text += list_lines("why", explanation.reasons);
  text += list_lines("work", explanation.work);
  text += list_lines("channels", explanation.channels);
  if (explanation.phases) { text += phase_lines(*explanation.phases, explanation.sending); }
  text += fmt::format(
      "limit\n  {}; the busiest link is busy {:.0f} % of the time\n  the hardware allows {} ({}), {} of the time\n",
      explanation.limited_by, explanation.busiest_link, time_text(explanation.bound), explanation.bound_by,
      percent(explanation.bound, explanation.time));
  if (explanation.path) { text += path_lines(*explanation.path, explanation.time); }
  text += link_lines(explanation.links);
  text += change_lines(explanation.changes, explanation.time);
  return text + list_lines("notes", explanation.notes);
}

namespace {

JsonValue json_of(const ExplainedCandidate& candidate) {
  JsonValue json{{"algorithm", candidate.algorithm}, {"chosen", candidate.chosen}};
  json["protocol"] = candidate.protocol.empty() ? JsonValue() : JsonValue(candidate.protocol);
  json["predicted_us"] = candidate.predicted ? JsonValue(*candidate.predicted) : JsonValue();
  json["simulated_us"] = candidate.simulated ? JsonValue(microseconds(*candidate.simulated)) : JsonValue();
  json["obstacle"] = candidate.obstacle.empty() ? JsonValue() : JsonValue(candidate.obstacle);
  return json;
}

JsonValue json_of(const ExplainedPhases& phases) {
  return {{"launch", microseconds(phases.launch)},
          {"fill", microseconds(phases.fill)},
          {"steady", microseconds(phases.steady)},
          {"drain", microseconds(phases.drain)},
          {"host", microseconds(phases.host)}};
}

JsonValue json_of(const ExplainedWay& way) {
  JsonValue json{{"first", way.first}, {"last", way.last}, {"gpus", way.gpus}};
  json["enters"] = way.enters ? JsonValue(*way.enters) : JsonValue();
  json["leaves"] = way.leaves ? JsonValue(*way.leaves) : JsonValue();
  return json;
}

}  // namespace

JsonValue to_json(const Explanation& explanation) {
  JsonValue candidates = JsonValue::list();
  for (const ExplainedCandidate& each : explanation.candidates) { candidates.push_back(json_of(each)); }
  JsonValue ways = JsonValue::list();
  for (const ExplainedWay& each : explanation.ways) { ways.push_back(json_of(each)); }
  JsonValue chosen = {{"algorithm", explanation.algorithm},
                      {"protocol", explanation.protocol},
                      {"time_us", microseconds(explanation.time)}};
  put_interval(explanation.interval, kTimeLow, kTimeHigh, chosen);
  return {{"case", explanation.heading.at("case")},
          {"cluster", explanation.heading.at("cluster")},
          {"profile", explanation.heading.at("profile")},
          {"library", explanation.library.empty() ? JsonValue() : JsonValue(explanation.library)},
          {"collective", explanation.collective},
          {"candidates", candidates},
          {"chosen", chosen},
          {"reasons", explanation.reasons},
          {"work", explanation.work},
          {"channels", explanation.channels},
          {"ways", ways},
          {"sending", explanation.sending},
          {"critical_path", explanation.path ? path_json(*explanation.path) : JsonValue()},
          {"phases_us", explanation.phases ? json_of(*explanation.phases) : JsonValue()},
          {"limited_by", explanation.limited_by},
          {"busiest_link_percent", explanation.busiest_link},
          {"links", links_json(explanation.links)},
          {"bound_us", microseconds(explanation.bound)},
          {"bound_by", explanation.bound_by},
          {"changes", changes_json(explanation.changes, explanation.time)},
          {"notes", explanation.notes}};
}

}  // namespace athanor
