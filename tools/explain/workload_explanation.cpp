#include "tools/explain/workload_explanation.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "models/experiments/workload_columns.hpp"
#include "sim/config/json_value.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMostLines = 8;

double share(Time part, Time whole) { return whole == Time::zero() ? 0 : 100 * seconds(part) / seconds(whole); }

std::string milliseconds(Time time) { return fmt::format("{} ms", fitted(microseconds(time) / 1000, 10)); }

/// "bandwidth 80 %, latency 20 %": what is not there is left out.
std::string split_text(const TransferTime& time) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, Time part) {
    if (share(part, time.total()) >= 0.5) {
      parts.push_back(fmt::format("{} {:.0f} %", what, share(part, time.total())));
    }
  };
  add("bandwidth", time.transfer);
  add("latency and software", time.latency);
  add("shared links", time.sharing);
  return fmt::format("{}", joined(parts, ", "));
}

class PathText {
 public:
  explicit PathText(const WorkloadExplanation& explanation) : explanation_(explanation) {}

  std::string text() const { return shares() + averages() + places() + stretches() + calls(); }

 private:
  std::string line(std::string_view what, Time time, const std::string& more = "") const {
    if (time == Time::zero()) { return ""; }
    return fmt::format("  {:<28}{} {:>6.1f} %{}{}\n", what, milliseconds(time), share(time, explanation_.time),
                       more.empty() ? "" : "  ", more);
  }

  std::string shares() const {
    const PathSummary& path = explanation_.path;
    std::string text = "critical path\n";
    std::vector<std::size_t> labels(path.computing.size());
    std::iota(labels.begin(), labels.end(), std::size_t{0});
    std::stable_sort(labels.begin(), labels.end(),
                     [&](std::size_t a, std::size_t b) { return path.computing[a] > path.computing[b]; });
    Time others;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const Time time = path.computing[labels[i]];
      if (i >= kMostLines) { others += time; }
      if (i < kMostLines) { text += line(explanation_.result.labels[labels[i]], time); }
    }
    text += line("other computing", others) + line("slowed by communication", path.slowed);
    for (std::size_t use = 0; use < kParallelisms; ++use) {
      const TransferTime& time = path.transfers[use];
      text += line(name(static_cast<Parallelism>(use)), time.total(), split_text(time));
    }
    text += line("idle", path.idle) + line("stragglers", explanation_.stragglers);
    return text + line("all", explanation_.time);
  }

  /// The path follows whoever is waited for: who waits meanwhile is not on it.
  std::string averages() const {
    const WorkloadShares shares = shares_of(explanation_.result, explanation_.time);
    const std::string exposed = exposed_text(shares);
    return fmt::format("the average worker\n  computes {:.1f} %, waits for others {:.1f} %{}{}\n",
                       shares.computing * 100, shares.waiting * 100,
                       exposed.empty() ? "" : ", for transfers: ", exposed);
  }

  std::string places() const {
    const std::vector<Time>& workers = explanation_.path.workers;
    if (workers.size() < 2) { return ""; }
    std::vector<std::size_t> order(workers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return workers[a] > workers[b]; });
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min(order.size(), kMostLines); ++i) {
      const Time time = workers[order[i]];
      if (time == Time::zero()) { break; }
      parts.push_back(fmt::format("{} {:.1f} %", explanation_.result.names[order[i]], share(time, explanation_.time)));
    }
    return fmt::format("the path is on\n  {}\n", joined(parts, ", "));
  }

  std::string stretches() const {
    std::vector<PathStretch> longest = explanation_.path.stretches;
    if (longest.size() < 2) { return ""; }
    std::stable_sort(longest.begin(), longest.end(),
                     [](const auto& a, const auto& b) { return a.end - a.begin > b.end - b.begin; });
    longest.resize(std::min(longest.size(), kMostLines));
    std::sort(longest.begin(), longest.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::string text = "its longest stretches on one worker\n";
    for (const PathStretch& each : longest) {
      const Time time = each.end - each.begin;
      text += fmt::format("  {:<16}{} to {}: computing {:.0f} %, communicating {:.0f} %\n",
                          explanation_.result.names[each.worker], milliseconds(each.begin), milliseconds(each.end),
                          share(each.computing, time), share(each.communicating, time));
    }
    return text;
  }

  std::string calls() const {
    const std::vector<CallsOnPath>& calls = explanation_.path.calls;
    std::string text = calls.empty() ? "" : "communication on the path\n";
    for (std::size_t i = 0; i < std::min(calls.size(), kMostLines); ++i) { text += call(calls[i]); }
    if (calls.size() > kMostLines) {
      text += fmt::format("  and {} other kinds of calls\n", calls.size() - kMostLines);
    }
    return text;
  }

  std::string call(const CallsOnPath& calls) const {
    const Time time = calls.time.total();
    std::string text = fmt::format(
        "  {:>6.1f} % {:>6} x {} {}", share(time, explanation_.time), calls.time.transfers, name(calls.use),
        calls.estimate == WorkloadEstimates::kNone ? explanation_.result.labels[calls.label]
                                                   : describe(explanation_.result.estimates[calls.estimate]));
    text += fmt::format(": {:.1f} us each; {}", microseconds(time) / static_cast<double>(calls.time.transfers),
                        split_text(calls.time));
    if (calls.estimate == WorkloadEstimates::kNone || explanation_.links[calls.estimate].empty()) {
      return text + "\n";
    }
    return text + fmt::format("; busiest {}\n", explanation_.links[calls.estimate]);
  }

  const WorkloadExplanation& explanation_;
};

JsonValue split_json(const TransferTime& time) {
  return {
      {"bandwidth", seconds(time.transfer)}, {"latency", seconds(time.latency)}, {"sharing", seconds(time.sharing)}};
}

JsonValue path_json(const WorkloadExplanation& explanation) {
  const PathSummary& path = explanation.path;
  JsonValue computing = JsonValue::object();
  for (std::size_t label = 0; label < path.computing.size(); ++label) {
    if (path.computing[label] == Time::zero()) { continue; }
    computing[explanation.result.labels[label]] = seconds(path.computing[label]);
  }
  JsonValue communication = JsonValue::object();
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    const TransferTime& time = path.transfers[use];
    if (time.total() == Time::zero()) { continue; }
    communication[std::string(name(static_cast<Parallelism>(use)))] = split_json(time);
  }
  return {{"computing_s", computing},
          {"slowed_s", seconds(path.slowed)},
          {"communication_s", communication},
          {"idle_s", seconds(path.idle)},
          {"stragglers_s", seconds(explanation.stragglers)}};
}

JsonValue stretches_json(const WorkloadExplanation& explanation) {
  JsonValue list = JsonValue::list();
  for (const PathStretch& each : explanation.path.stretches) {
    list.push_back({{"worker", explanation.result.names[each.worker]},
                    {"begin_s", seconds(each.begin)},
                    {"end_s", seconds(each.end)},
                    {"computing_s", seconds(each.computing)},
                    {"communicating_s", seconds(each.communicating)}});
  }
  return list;
}

JsonValue calls_json(const WorkloadExplanation& explanation) {
  JsonValue list = JsonValue::list();
  for (const CallsOnPath& each : explanation.path.calls) {
    JsonValue json = {
        {"use", name(each.use)}, {"label", explanation.result.labels[each.label]}, {"count", each.time.transfers}};
    json["bandwidth_s"] = seconds(each.time.transfer);
    json["latency_s"] = seconds(each.time.latency);
    json["sharing_s"] = seconds(each.time.sharing);
    list.push_back(std::move(json));
    if (each.estimate == WorkloadEstimates::kNone) { continue; }
    const CallEstimate& estimate = explanation.result.estimates[each.estimate];
    JsonValue& last = list.back();
    last["kind"] = name(estimate.kind);
    last["size"] = estimate.size.count();
    last["algorithm"] = estimate.algorithm;
    last["protocol"] = estimate.protocol;
    last["busiest_link"] = explanation.links[each.estimate];
    last["busiest_share"] = estimate.busiest().share;
  }
  return list;
}

}  // namespace

std::string to_text(const WorkloadExplanation& explanation) {
  std::string text = explanation.heading.text() + "\n";
  text += interval_lines(explanation.interval, 1000, "ms");
  text += PathText(explanation).text() + change_lines(explanation.changes, explanation.time);
  if (!explanation.notes.empty()) { text += fmt::format("notes\n  {}\n", joined(explanation.notes, "\n  ")); }
  return text;
}

JsonValue to_json(const WorkloadExplanation& explanation) {
  JsonValue workers = JsonValue::object();
  for (std::size_t i = 0; i < explanation.path.workers.size(); ++i) {
    workers[explanation.result.names[i]] = seconds(explanation.path.workers[i]);
  }
  const Heading& heading = explanation.heading;
  JsonValue json = {{"case", heading.at("case")},
                    {"cluster", heading.at("cluster")},
                    {"profile", heading.at("profile")},
                    {"subject", heading.at("training") + heading.at("trace")},
                    {"step_time_s", seconds(explanation.time)}};
  put_interval(explanation.interval, kStepLow, kStepHigh, json);
  json.update(JsonValue{{"path", path_json(explanation)},
                        {"workers_s", workers},
                        {"stretches", stretches_json(explanation)},
                        {"calls", calls_json(explanation)},
                        {"breakdown", breakdown_json(shares_of(explanation.result, explanation.time), "waiting")},
                        {"changes", changes_json(explanation.changes, explanation.time)},
                        {"notes", explanation.notes}});
  return json;
}

}  // namespace athanor
