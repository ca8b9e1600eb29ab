#include "models/jobs/failures/slow_nodes.hpp"

#include <algorithm>

namespace athanor {

namespace {

/// Of a job that spends a share of its time on communication, where so many of a node's NICs are dead: the rest of them
/// carry all of it. 0 where none is left.
double speed_with(std::uint32_t dead, std::uint32_t nics, double share) {
  if (dead >= nics) { return 0; }
  return 1 / (1 - share + share * nics / (nics - dead));
}

}  // namespace

void SlowNodes::begin(const FailureProcess::Failure& slow, std::uint64_t end, std::uint64_t found) {
  if (slow.part >= parts_.size()) { parts_.resize(slow.part + 1); }
  parts_[slow.part] = {slow.source, slow.nodes, end, found};
  for (const NodeId node : slow.nodes) { by_node_[node].push_back(slow.part); }
  ++slow_;
}

void SlowNodes::end(std::uint32_t part) {
  if (!live(part)) { return; }
  for (const NodeId node : parts_[part].nodes) { std::erase(by_node_[node], part); }
  parts_[part].nodes.clear();
  --slow_;
}

std::vector<std::uint32_t> SlowNodes::sources(NodeId node) const {
  std::vector<std::uint32_t> sources;
  for (const std::uint32_t part : by_node_[node]) { sources.push_back(parts_[part].source); }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

std::vector<std::uint32_t> SlowNodes::end_on(NodeId node) {
  std::vector<std::uint32_t> over;
  for (const std::uint32_t part : by_node_[node]) {
    std::erase(parts_[part].nodes, node);
    if (!parts_[part].nodes.empty()) { continue; }
    --slow_;
    over.push_back(part);
  }
  by_node_[node].clear();
  return over;
}

SlowNodes::Slowest SlowNodes::speed(NodeId node) const {
  Slowest slowest;
  std::vector<std::uint32_t> dead(rules_.sources.size());
  for (const std::uint32_t part : by_node_[node]) {
    const std::uint32_t index = parts_[part].source;
    const FailureSource& source = rules_.sources[index];
    const Speed speed =
        Speed::of(source.speed ? to_double(*source.speed)
                               : speed_with(++dead[index], nodes_.nodes[node].nics, to_double(*source.communication)));
    if (speed.parts < slowest.speed.parts) { slowest = {speed, index}; }
  }
  return slowest;
}

SlowNodes::Slowest SlowNodes::slowest(const Allocation& where) const {
  Slowest slowest;
  if (slow_ == 0) { return slowest; }
  for (const NodeShare& share : where) {
    if (by_node_[share.node].empty()) { continue; }
    const Slowest there = speed(share.node);
    if (there.speed.parts < slowest.speed.parts) { slowest = there; }
  }
  return slowest;
}

}  // namespace athanor
