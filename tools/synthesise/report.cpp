#include "tools/synthesise/report.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/format.hpp"

namespace athanor {

namespace {

double share(Time bound, Time time) {
  return time > Time::zero() ? static_cast<double>(bound.count()) / static_cast<double>(time.count()) : 1;
}

std::string time_line(const ContenderTime& each, Time bound) {
  return fmt::format("  {:<24} {:>12.1f} us   {:>5.1f} % of the bound\n", each.algorithm, microseconds(*each.time),
                     100 * share(bound, *each.time));
}

/// Algorithms that share a reason stand in one line.
std::string obstacle_lines(const std::vector<ContenderTime>& contenders) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const ContenderTime& each : contenders) {
    if (each.time) { continue; }
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.second == each.obstacle; });
    if (same == lines.end()) {
      lines.emplace_back(each.algorithm, each.obstacle);
    } else {
      same->first += ", " + each.algorithm;
    }
  }
  std::string text;
  for (const auto& [names, reason] : lines) { text += fmt::format("  {}: {}\n", names, reason); }
  return text;
}

JsonValue json_of(const ContenderTime& each) {
  JsonValue json{{"algorithm", each.algorithm}, {"time_us", nullptr}, {"obstacle", nullptr}};
  if (each.time) { json["time_us"] = microseconds(*each.time); }
  if (!each.obstacle.empty()) { json["obstacle"] = each.obstacle; }
  return json;
}

}  // namespace

std::string to_text(const SynthesisReport& report) {
  std::string text =
      fmt::format("{}{}\n{} of {} by {} ranks\n\n", report.scenario_case.empty() ? "" : report.scenario_case + ": ",
                  report.cluster, report.collective, report.payload, report.ranks);
  text += fmt::format("links      {} links between {} ranks and {} switches, at usable rates\n", report.links,
                      report.ranks, report.switches);
  text += fmt::format("bound      {:.1f} us: {}\n", microseconds(report.bound), report.bound_by);
  text += fmt::format("made       {}; links are full for {:.1f} us: {:.1f} % of the bound's throughput\n",
                      report.method, microseconds(report.reached), 100 * share(report.bound, report.reached));
  text += fmt::format("proven     out of place{}: {} messages by {} lanes, each rank's part in {} unit{}\n",
                      report.in_place ? " and in place" : "", report.messages, report.lanes, report.units,
                      report.units == 1 ? "" : "s");
  if (report.file) {
    text += fmt::format("written    {}: {} chunks, {} channels, {} thread blocks of at most {} steps\n", *report.file,
                        report.written.chunks, report.written.channels, report.written.most_blocks,
                        report.written.most_steps);
  }
  if (report.simulated.algorithm.empty()) { return text; }
  text += "\nsimulated, with the costs of the scenario\n";
  text += report.simulated.time ? time_line(report.simulated, report.bound) : obstacle_lines({report.simulated});
  for (const ContenderTime& each : report.contenders) {
    if (each.time) { text += time_line(each, report.bound); }
  }
  return text + obstacle_lines(report.contenders);
}

JsonValue to_json(const SynthesisReport& report) {
  JsonValue json{{"case", report.scenario_case},
                 {"cluster", report.cluster},
                 {"collective", report.collective},
                 {"payload", report.payload},
                 {"ranks", report.ranks},
                 {"switches", report.switches},
                 {"links", report.links},
                 {"bound_us", microseconds(report.bound)},
                 {"bound_by", report.bound_by},
                 {"reached_us", microseconds(report.reached)},
                 {"reached", share(report.bound, report.reached)},
                 {"method", report.method},
                 {"units", report.units},
                 {"messages", report.messages},
                 {"lanes", report.lanes},
                 {"in_place", report.in_place},
                 {"file", nullptr},
                 {"chunks", nullptr},
                 {"simulated", nullptr}};
  if (report.file) {
    json["file"] = *report.file;
    json["chunks"] = report.written.chunks;
  }
  if (!report.simulated.algorithm.empty()) { json["simulated"] = json_of(report.simulated); }
  JsonValue::List contenders;
  for (const ContenderTime& each : report.contenders) { contenders.push_back(json_of(each)); }
  json["contenders"] = std::move(contenders);
  return json;
}

}  // namespace athanor
