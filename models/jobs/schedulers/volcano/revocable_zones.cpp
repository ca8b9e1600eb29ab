#include "models/jobs/schedulers/volcano/revocable_zones.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "sim/check.hpp"

namespace athanor {

namespace {

using namespace literals;

/// Of "22:30" or "7:05", to "23:59"; none: it is no time of day.
std::optional<WallTime> time_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool has_form = (colon == 1 || colon == 2) && text.size() == colon + 3 &&
                        std::count_if(text.begin(), text.end(), is_digit) == static_cast<std::ptrdiff_t>(colon) + 2;
  if (!has_form) { return {}; }
  const int hours = std::stoi(text.substr(0, colon));
  const int minutes = std::stoi(text.substr(colon + 1));
  if (hours > 23 || minutes > 59) { return {}; }
  return WallTime{60'000'000} * (60 * hours + minutes);
}

void check_time(Fields& fields, std::string_view key, const std::string& text) {
  if (!fields.ok() || time_of(text)) { return; }
  fields.problem(std::string(key), "wrong-value", fmt::format("'{}' is no time of day", text), R"(write "22:00")");
}

void visit(Fields& fields, RevocableZone& zone) {
  fields.required("name", zone.name, "Of the zone: volcano.sh/revocable-zone of its nodes");
  fields.optional("first_node", zone.first_node, "Of its nodes, counted from 0", {0, 10'000'000});
  fields.required("nodes", zone.nodes, "How many from that one on", {1, 10'000'000});
  fields.required("from", zone.from, "When its window opens, each day, as \"22:00\"");
  fields.required("to", zone.to, "When it ends, at midnight at the latest");
  check_time(fields, "from", zone.from);
  check_time(fields, "to", zone.to);
}

}  // namespace

void visit(Fields& fields, RevocableZoneRules& rules) {
  fields.required_list("zones", rules.zones, "Nodes that preemptible jobs may use at times",
                       [](Fields& each, RevocableZone& zone) { visit(each, zone); });
  fields.optional("evict_period", rules.evict_period,
                  "tdm.evict.period: so often a job loses a task of nodes whose window has ended",
                  {WallTime{1'000'000}, 24_wall_h});
  fields.optional("begins_at", rules.begins_at, "The time of day at which the workload begins");
  check_time(fields, "begins_at", rules.begins_at);
}

std::string zones_mistake(const RevocableZoneRules& rules, std::size_t nodes) {
  IdVector<NodeId, const RevocableZone*> owners(nodes);
  for (const RevocableZone& zone : rules.zones) {
    if (std::uint64_t{zone.first_node} + zone.nodes > nodes) {
      return fmt::format("the zone '{}' has nodes up to {}, and there are {}, counted from 0", zone.name,
                         std::uint64_t{zone.first_node} + zone.nodes - 1, nodes);
    }
    for (std::uint32_t node = zone.first_node; node < zone.first_node + zone.nodes; ++node) {
      const RevocableZone*& owner = owners[NodeId{node}];
      if (owner != nullptr) {
        return fmt::format("node {} is in the zones '{}' and '{}'", node, owner->name, zone.name);
      }
      owner = &zone;
    }
  }
  return "";
}

RevocableZones::RevocableZones(const RevocableZoneRules& rules, std::size_t nodes) : zones_(nodes, kNone) {
  require(zones_mistake(rules, nodes).empty(), "zones are checked before they are used");
  const auto parsed = [](const std::string& text) {
    const auto time = time_of(text);
    require(time.has_value(), "'{}' is no time of day, and was read as one", text);
    return *time;
  };
  begins_at_ = parsed(rules.begins_at);
  for (const RevocableZone& zone : rules.zones) {
    const WallTime opens = parsed(zone.from);
    const WallTime to = parsed(zone.to);
    const auto index = static_cast<std::uint16_t>(windows_.size());
    windows_.push_back({opens, to <= opens ? 24_wall_h : to + 1_wall_s});
    for (std::uint32_t node = 0; node < zone.nodes; ++node) { zones_[NodeId{zone.first_node + node}] = index; }
  }
}

WallTime RevocableZones::time_of_day(WallTime now) const {
  return WallTime{(begins_at_ + now).count() % WallTime{24_wall_h}.count()};
}

bool RevocableZones::is_open(NodeId node, WallTime now) const {
  if (!is_revocable(node)) { return false; }
  const Window& window = windows_[zones_[node]];
  const WallTime time = time_of_day(now);
  return window.opens <= time && time < window.ended;
}

WallTime RevocableZones::next_change(WallTime now) const {
  require(!is_empty(), "windows of no zones do not change");
  const WallTime time = time_of_day(now);
  WallTime next = WallTime::max();
  for (const Window& window : windows_) {
    for (const WallTime change : {window.opens, window.ended}) {
      const WallTime in = change > time ? change - time : change + 24_wall_h - time;
      next = std::min(next, now + in);
    }
  }
  return next;
}

}  // namespace athanor
