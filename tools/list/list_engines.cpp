#include <limits>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/engines/engine.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "tools/list/listings.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

std::string_view name(EnginePlace place) {
  switch (place) {
    case EnginePlace::every_switch: return "every switch";
    case EnginePlace::leaf: return "leaf switches";
    case EnginePlace::nvswitch: return "NVSwitches";
    case EnginePlace::nic: return "NICs";
  }
  return "";
}

/// Null where there is no limit.
Json limit(std::uint32_t value) {
  return value == std::numeric_limits<std::uint32_t>::max() ? Json(nullptr) : Json(value);
}

template <class Values>
Json names(const Values& values) {
  Json list = Json::list();
  for (const auto value : values) { list.push_back(athanor::name(value)); }
  return list;
}

Json limits_json(const EngineLimits& limits) {
  return {{"children", limit(limits.children)},
          {"trees", limit(limits.trees)},
          {"streams", limit(limits.streams)},
          {"streams_per_switch", limit(limits.streams_per_switch)},
          {"streams_per_port", limit(limits.streams_per_port)},
          {"workers", limit(limits.workers)},
          {"jobs_per_switch", limit(limits.jobs_per_switch)},
          {"message_bytes", limits.message == Bytes::max() ? Json(nullptr) : Json(limits.message.count())},
          {"types", names(limits.types)},
          {"reductions", names(limits.reductions)}};
}

Json mode_json(const Protocol& mode) {
  const EngineCost& cost = mode.aggregation;
  return {{"name", mode.name},
          {"from_bytes", mode.from.count()},
          {"to_bytes", mode.to == Bytes::max() ? Json(nullptr) : Json(mode.to.count())},
          {"chunk_bytes", mode.chunk == Bytes::max() ? Json(nullptr) : Json(mode.chunk.count())},
          {"outstanding", cost.outstanding == 0 ? Json(nullptr) : Json(cost.outstanding)},
          {"latency_us", microseconds(cost.latency)},
          {"rate_gbps", cost.rate == Bandwidth::max() ? Json(nullptr) : Json(gigabytes_per_second(cost.rate))},
          {"reduce_rate_gbps",
           cost.reduce_rate == Bandwidth::max() ? Json(nullptr) : Json(gigabytes_per_second(cost.reduce_rate))},
          {"grain_bytes", cost.grain.count()},
          {"payload", static_cast<double>(cost.payload.numerator) / static_cast<double>(cost.payload.denominator)},
          {"streaming", cost.streaming}};
}

std::string_view name(AggregatorPolicy policy) {
  switch (policy) {
    case AggregatorPolicy::static_pool: return "static pool";
    case AggregatorPolicy::best_effort: return "best effort";
  }
  return "";
}

/// Null where packets are not simulated one by one.
Json pool_json(const EngineModel& engine) {
  if (!engine.slots) { return nullptr; }
  const AggregatorSettings& slots = *engine.slots;
  return {{"policy", name(slots.policy)},
          {"slots", slots.slots},
          {"window", slots.window == 0 ? Json(nullptr) : Json(slots.window)},
          {"payload_bytes", slots.payload.count()},
          {"header_bytes", slots.header.count()},
          {"timeout_us", microseconds(slots.timeout)}};
}

Json engine_json(const EngineModel& engine) {
  Json modes = Json::list();
  for (const Protocol& mode : engine.modes) { modes.push_back(mode_json(mode)); }
  return {{"name", engine.name},
          {"place", name(engine.limits.place)},
          {"summary", engine.summary},
          {"limits", limits_json(engine.limits)},
          {"trees_per_job", engine.trees_per_job},
          {"sharing", engine.exclusive ? "exclusive" : "turns"},
          {"modes", modes},
          {"slots", pool_json(engine)},
          {"source", engine.source},
          {"assumed", engine.assumed}};
}

std::string limits_text(const Json& limits) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : limits.members()) {
    if (value.is_null() || (value.is_list() && value.empty())) { continue; }
    std::string words;
    if (value.is_list()) {
      for (const Json& each : value.elements()) { words += " " + each.string(); }
    }
    parts.push_back(value.is_list() ? fmt::format("{}:{}", key, words) : fmt::format("{} {}", key, text_of(value)));
  }
  return parts.empty() ? "none" : fmt::format("{}", joined(parts, "; "));
}

std::string mode_text(const Protocol& mode) {
  const EngineCost& cost = mode.aggregation;
  std::string text = fmt::format("{}: {} per message to or from an engine", mode.name, to_string(cost.latency));
  if (mode.chunk != Bytes::max()) { text += fmt::format(", operations of {}", to_string(mode.chunk)); }
  if (cost.outstanding > 0) { text += fmt::format(", {} under way", cost.outstanding); }
  if (cost.grain > Bytes::zero()) { text += fmt::format(", passed on by {}", to_string(cost.grain)); }
  if (mode.from > Bytes::zero()) { text += fmt::format(", from {} on", to_string(mode.from)); }
  if (mode.to != Bytes::max()) { text += fmt::format(", up to {}", to_string(mode.to)); }
  return text;
}

std::string pool_text(const EngineModel& engine) {
  if (!engine.slots) { return ""; }
  const AggregatorSettings& slots = *engine.slots;
  return fmt::format(
      "{} of {}, a packet of {} and {} of headers in each; sent again after {}", slots.slots,
      slots.policy == AggregatorPolicy::static_pool ? "each job's own, shared out evenly" : "all jobs together",
      to_string(slots.payload), to_string(slots.header), to_string(slots.timeout));
}

std::string details(const EngineModel& engine, const Json& json) {
  std::string text;
  const auto line = [&](std::string_view title, const std::string& value) {
    if (!value.empty()) { text += fmt::format("    {:<11}{}\n", title, wrapped(value, 15)); }
  };
  line("limits", limits_text(json["limits"]));
  for (const Protocol& mode : engine.modes) { line("mode", mode_text(mode)); }
  line("slots", pool_text(engine));
  line("source", engine.source);
  line("assumed", engine.assumed);
  return text + "\n";
}

}  // namespace

Listing list_engines(bool verbose) {
  Json rows = Json::list();
  std::string text = verbose ? "" : "# --verbose: limits, costs, sources and what is assumed\n";
  text += fmt::format("{:<10}  {:<13}  {}\n", "engine", "where", "what it is");
  for (const EngineModel& engine : engine_catalog()) {
    rows.push_back(engine_json(engine));
    text += fmt::format("{:<10}  {:<13}  {}\n", engine.name, name(engine.limits.place), wrapped(engine.summary, 27));
    if (verbose) { text += details(engine, rows.back()); }
  }
  return {rows, text};
}

}  // namespace athanor
