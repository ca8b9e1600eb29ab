#include "tools/explain/explanation_parts.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/check.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"
#include "tools/cli/columns.hpp"

namespace athanor {

namespace {

std::vector<ExplainedChange> by_time(std::vector<ExplainedChange> changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return changes;
}

double gain(const ExplainedChange& change, Time now) {
  return now == Time::zero() ? 0 : 1 - seconds(change.time) / seconds(now);
}

std::string line_of(const LinkClassUse& use) {
  return fmt::format("  {:<36} {:>8} {:>8} {:>7.1f} {:>7.1f}  {}\n", use.name, use.links, use.used, use.mean * 100,
                     use.most * 100, about(static_cast<double>(use.carried.count())));
}

std::string messages(std::uint64_t count, const char* where) {
  return count == 0 ? "" : fmt::format(", {} message{} {}", count, count == 1 ? "" : "s", where);
}

std::string cell(Time time) {
  return time == Time::zero() ? fmt::format("{:>14}", "-") : fitted(microseconds(time), 14);
}

double percent_of(Time part, Time whole) { return 100 * microseconds(part) / microseconds(whole); }

JsonValue json_of(const TransferTime& way) {
  return {{"latency_us", microseconds(way.latency)},
          {"transfer_us", microseconds(way.transfer)},
          {"sharing_us", microseconds(way.sharing)},
          {"messages", way.transfers}};
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

std::string link_lines(const std::vector<LinkClassUse>& links) {
  std::string lines;
  std::string idle;
  for (const LinkClassUse& use : links) {
    if (use.used > 0) {
      lines += line_of(use);
    } else {
      idle += (idle.empty() ? "" : "; ") + use.name;
    }
  }
  if (lines.empty()) { return ""; }
  const std::string head =
      fmt::format("{:<38} {:>8} {:>8} {:>7} {:>7}  {}\n", "links", "count", "used", "mean %", "most %", "carried");
  return head + lines + (idle.empty() ? "" : fmt::format("  idle: {}\n", idle));
}

JsonValue links_json(const std::vector<LinkClassUse>& links) {
  JsonValue list = JsonValue::list();
  for (const LinkClassUse& use : links) {
    list.push_back({{"class", use.name},
                    {"links", use.links},
                    {"used", use.used},
                    {"mean_percent", use.mean * 100},
                    {"most_percent", use.most * 100},
                    {"bytes", use.carried.count()}});
  }
  return list;
}

std::string path_lines(const PathShares& path, Time time) {
  require(time >= path.total(), "a critical path of {} ps in {} ps", path.total().count(), time.count());
  const auto line = [&](const char* what, Time within, Time between) {
    if (within + between == Time::zero()) { return std::string(); }
    return fmt::format("  {:<14}{}{}{:>10.1f}\n", what, cell(within), cell(between),
                       percent_of(within + between, time));
  };
  std::string lines =
      fmt::format("critical path{}{}\n  {:<14}{:>14}{:>14}{:>10}\n", messages(path.within.transfers, "within nodes"),
                  messages(path.between.transfers, "between nodes"), "", "within (us)", "between (us)", "%");
  lines += line("latency", path.within.latency, path.between.latency);
  lines += line("transfers", path.within.transfer, path.between.transfer);
  lines += line("sharing links", path.within.sharing, path.between.sharing);
  lines += line("software", path.overhead, Time::zero());
  lines += line("reducing", path.work, Time::zero());
  return lines + line("launch, host", time - path.total() + path.start, Time::zero());
}

JsonValue path_json(const PathShares& path) {
  return {{"within_nodes", json_of(path.within)},
          {"between_nodes", json_of(path.between)},
          {"start_us", microseconds(path.start)},
          {"overhead_us", microseconds(path.overhead)},
          {"work_us", microseconds(path.work)}};
}

}  // namespace athanor
