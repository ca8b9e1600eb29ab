#include "models/jobs/failures/failure_process.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "models/jobs/later.hpp"
#include "models/jobs/peer_copies.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

using What = FailureSource::What;

/// Things of a source on one node.
std::uint32_t things(const FailureSource& source, const Node& node) {
  switch (source.what) {
    case What::gpu: return node.gpus;
    case What::nic: return node.nics;
    case What::node: return 1;
    case What::rack:
    case What::tier:
    case What::job: return 0;
  }
  return 0;
}

const NodeTier& tier_of(const FailureSource& source, const NodeList& nodes) {
  std::string known;
  for (const NodeTier& tier : nodes.tiers) {
    if (tier.name == source.tier) { return tier; }
    known += (known.empty() ? "" : ", ") + tier.name;
  }
  throw SimulationError("no-tier", fmt::format("the cluster has no tier '{}' that could fail; it has {}", source.tier,
                                               known.empty() ? "none" : known));
}

WallTime divided(WallTime time, double by) {
  return WallTime{std::max<std::int64_t>(1, std::llround(static_cast<double>(time.count()) / by))};
}

}  // namespace

FailureProcess::Domains FailureProcess::domains_of(const FailureSource& source, const NodeList& nodes) {
  Domains domains;
  if (source.what == What::tier) {
    domains.of_node = tier_of(source, nodes).domains;
  } else if (source.what == What::rack) {
    for (std::uint32_t node = 0; node < nodes.count(); ++node) { domains.of_node.push_back(node / source.nodes); }
  }
  for (const NodeId node : domains.of_node.ids()) {
    const std::uint32_t domain = domains.of_node[node];
    if (domain >= domains.nodes.size()) { domains.nodes.resize(domain + 1); }
    domains.nodes[domain].push_back(node);
  }
  return domains;
}

FailureProcess::FailureProcess(const FailureRules& rules, const NodeList& nodes, std::uint64_t seed)
    : rules_(rules), nodes_(nodes), lemons_(seed, "lemon nodes"), is_lemon_(nodes.count()) {
  for (std::uint32_t node = 0; node < nodes.count(); ++node) {
    constexpr std::uint64_t kParts = 1'000'000;
    is_lemon_[node] = static_cast<double>(lemons_.below(kParts)) < rules.lemon_share * static_cast<double>(kParts);
  }
  domains_.resize(rules.sources.size());
  for (std::uint32_t source = 0; source < rules.sources.size(); ++source) {
    streams_.emplace_back(seed, fmt::format("failures {}: {}", source, rules.sources[source].name));
    add_parts(source, nodes);
  }
}

void FailureProcess::add_parts(std::uint32_t source, const NodeList& nodes) {
  const FailureSource& what = rules_.sources[source];
  const auto add = [&](std::uint32_t number) {
    parts_.push_back({source, number});
    schedule(static_cast<std::uint32_t>(parts_.size() - 1), {});
  };
  domains_[source] = domains_of(what, nodes);
  if (!domains_[source].nodes.empty()) {
    for (std::uint32_t domain = 0; domain < domains_[source].nodes.size(); ++domain) { add(domain); }
    return;
  }
  for (const NodeId node : nodes.nodes.ids()) {
    const std::uint32_t count = things(what, nodes.nodes[node]);
    for (std::uint32_t i = 0; i < (is_pooled(what) ? std::min(count, 1U) : count); ++i) { add(node.value); }
  }
}

double FailureProcess::lemon_factor(const Part& part) const {
  return is_of_node(part) && is_lemon_[part.number] ? rules_.lemon_times : 1;
}

void FailureProcess::schedule(std::uint32_t number, WallTime from) {
  Part& part = parts_[number];
  const FailureSource& source = rules_.sources[part.source];
  double rate = lemon_factor(part);
  if (is_of_node(part) && is_pooled(source)) { rate *= things(source, nodes_.nodes[NodeId{part.number}]); }
  const WallTime when = later(from, divided(source.between.draw(streams_[part.source]), rate));
  part.order = 0;
  if (when == WallTime::max()) { return; }
  part.order = ++orders_;
  events_.push({when, part.order, number});
}

void FailureProcess::drop_void() {
  while (!events_.empty() && parts_[events_.top().what].order != events_.top().order) { events_.pop(); }
}

FailureProcess::Failure FailureProcess::take() {
  const EventAt<WallTime> event = events_.top();
  events_.pop();
  const auto number = static_cast<std::uint32_t>(event.what);
  const Part& part = parts_[number];
  const FailureSource& source = rules_.sources[part.source];
  Failure failure{part.source, number, {NodeId{part.number}}, WallTime::max()};
  if (!is_of_node(part)) { failure.nodes = domains_[part.source].nodes[part.number]; }
  if (!source.slows()) {
    failure.repaired = later(event.when, source.repair.draw(streams_[part.source]));
    schedule(number, failure.repaired);
  }
  drop_void();
  return failure;
}

void FailureProcess::replace(NodeId node, WallTime from) {
  is_lemon_[node.value] = false;
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    if (is_of_node(parts_[part]) && parts_[part].number == node.value) { schedule(part, from); }
  }
  drop_void();
}

WallTime FailureProcess::mttf(const Allocation& where, const MemoryCheckpoints* memory) const {
  std::vector<NodeId> nodes;
  for (const NodeShare& share : where) { nodes.push_back(share.node); }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::optional<PeerCopies> copies;
  if (memory != nullptr && rules_.restart == Restart::in_place) { copies.emplace(*memory, where); }
  const auto counts = [&](const std::vector<NodeId>& lost) { return !copies || !copies->survive(lost); };
  double rate = 0;  // per microsecond
  for (std::uint32_t index = 0; index < rules_.sources.size(); ++index) {
    const FailureSource& source = rules_.sources[index];
    if (source.slows()) { continue; }
    double count = source.what == What::job && counts({}) ? 1 : 0;
    std::vector<std::uint32_t> domains;
    for (const NodeId node : nodes) {
      if (!domains_[index].nodes.empty()) { domains.push_back(domains_[index].of_node[node]); }
      const std::uint32_t here = things(source, nodes_.nodes[node]);
      if (here > 0 && (!copies || counts({node}))) { count += (is_lemon_[node.value] ? rules_.lemon_times : 1) * here; }
    }
    std::sort(domains.begin(), domains.end());
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
    for (const std::uint32_t domain : domains) { count += counts(domains_[index].nodes[domain]) ? 1 : 0; }
    rate += count / static_cast<double>(source.between.mean.count());
  }
  return rate > 0 ? WallTime{std::max<std::int64_t>(1, std::llround(1 / rate))} : WallTime::max();
}

std::pair<WallTime, std::uint32_t> FailureProcess::job_failure(WallTime now) {
  std::pair<WallTime, std::uint32_t> first{WallTime::max(), 0};
  for (std::uint32_t index = 0; index < rules_.sources.size(); ++index) {
    const FailureSource& source = rules_.sources[index];
    if (source.what != What::job) { continue; }
    const WallTime when = later(now, source.between.draw(streams_[index]));
    if (when < first.first) { first = {when, index}; }
  }
  return first;
}

}  // namespace athanor
