#include "models/jobs/failures/node_watch.hpp"

#include <algorithm>
#include <cmath>

#include "models/jobs/later.hpp"

namespace athanor {

namespace {

/// How many checks it takes until one finds it: k with (1 - c)^(k - 1) c.
std::int64_t checks_until(double coverage, RandomStream& draws) {
  if (coverage >= 1) { return 1; }
  const double drawn = (static_cast<double>(draws.bits() >> 11U) + 0.5) * 0x1p-53;
  constexpr double kMost = 1e12;
  return 1 + static_cast<std::int64_t>(std::min(kMost, std::floor(std::log(drawn) / std::log1p(-coverage))));
}

/// When the check of that number from now on is, counted from 1; max: never.
WallTime check_at(WallTime interval, WallTime now, std::int64_t number) {
  const std::int64_t all = now / interval + number;
  return all > WallTime::max() / interval ? WallTime::max() : interval * all;
}

}  // namespace

NodeWatch::NodeWatch(const FailureRules& rules, const NodeList& nodes, std::uint64_t seed)
    : rules_(rules),
      draws_(seed, "health checks"),
      repairs_(seed, "repair of nodes taken out"),
      alarm_draws_(seed, "false alarms"),
      alarm_repairs_(seed, "repair after false alarms"),
      failures_(rules.cordon ? nodes.count() : 0) {
  if (!rules.checks || !rules.checks->false_alarms) { return; }
  for (const NodeId node : nodes.nodes.ids()) { expect_alarm(node, {}); }
}

/// At a multiple of the interval, each with the same probability.
void NodeWatch::expect_alarm(NodeId node, WallTime now) {
  const WallTime when = check_at(rules_.checks->interval, now,
                                 checks_until(to_double(rules_.checks->false_alarms->probability), alarm_draws_));
  if (when != WallTime::max()) { alarms_.push({when, ++orders_, node.value}); }
}

NodeId NodeWatch::take_alarm() {
  const EventAt<WallTime> event = alarms_.top();
  alarms_.pop();
  const NodeId node{static_cast<std::uint32_t>(event.what)};
  expect_alarm(node, event.when);
  return node;
}

WallTime NodeWatch::found(const FailureSource& source, WallTime now) {
  if (!rules_.checks || source.what == FailureSource::What::job) { return WallTime::max(); }
  const double coverage = to_double(source.coverage.value_or(rules_.checks->coverage));
  if (coverage <= 0) { return WallTime::max(); }
  return check_at(rules_.checks->interval, now, checks_until(coverage, draws_));
}

bool NodeWatch::fails_too_often(NodeId node, WallTime now) {
  if (!rules_.cordon) { return false; }
  std::vector<WallTime>& failures = failures_[node];
  failures.push_back(now);
  std::erase_if(failures, [&](WallTime when) { return when < now - rules_.cordon->within; });
  if (failures.size() < rules_.cordon->after) { return false; }
  failures.clear();
  return true;
}

WallTime NodeWatch::back(WallTime now) {
  return rules_.cordon->repair ? later(now, rules_.cordon->repair->draw(repairs_)) : WallTime::max();
}

}  // namespace athanor
