#include "tools/explain/explanation_parts.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
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

std::string_view words_of(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::sizes: return "other sizes of the same collective on as many ranks were measured";
    case Knowledge::tables: return "other collectives or numbers of ranks were measured";
    case Knowledge::two_rows: return "the smallest and the largest size were measured";
    case Knowledge::nothing: return "its parts were measured in other stacks";
  }
  return "";
}

std::string_view words_of(StepKnowledge knowledge) {
  switch (knowledge) {
    case StepKnowledge::steps: return "other steps of the same model were measured";
    case StepKnowledge::models: return "steps of other models were measured";
    case StepKnowledge::one_step: return "one step was measured";
    case StepKnowledge::nothing: return "steps of other software were measured";
  }
  return "";
}

/// Of the one that is called so.
template <class All>
std::string_view words_among(const All& all, std::string_view known) {
  const auto found = std::find_if(all.begin(), all.end(), [&](auto each) { return name(each) == known; });
  return found == all.end() ? "" : words_of(*found);
}

}  // namespace

std::string_view words_of_knowledge(std::string_view known) { return words_among(kKnowledges, known); }

std::string_view words_of_step_knowledge(std::string_view known) { return words_among(kStepKnowledges, known); }

std::optional<ExplainedInterval> explained_interval(const Record& record, const Column& low, const Column& high,
                                                    std::string_view (*words)(std::string_view known)) {
  if (!record.has(low) || !record.has(high)) { return std::nullopt; }
  const std::string known = record.string(kKnown);
  return ExplainedInterval{.low = record.number(low),
                           .high = record.number(high),
                           .text = record.string(kInterval),
                           .known = known,
                           .words = std::string(words(known))};
}

std::string interval_lines(const std::optional<ExplainedInterval>& interval, double factor, const char* unit) {
  const std::string title = "interval (80 %)\n";
  if (!interval) { return title + "  none: no predictions of this kind were held against measurements\n"; }
  const auto end = [&](double time) {
    const double value = time * factor;
    return fmt::format("{:.{}f} {}", value, value < 100 ? 2 : 1, unit);
  };
  return fmt::format("{}  {} to {}, {}; known: {} ({})\n", title, end(interval->low), end(interval->high),
                     interval->text, interval->known, interval->words);
}

void put_interval(const std::optional<ExplainedInterval>& interval, const Column& low, const Column& high,
                  JsonValue& json) {
  json[std::string(low.key)] = interval ? JsonValue(interval->low) : JsonValue();
  json[std::string(high.key)] = interval ? JsonValue(interval->high) : JsonValue();
  json[std::string(kKnown.key)] = interval ? JsonValue(interval->known) : JsonValue();
}

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
