#include "models/jobs/profiles/step_profile.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "sim/check.hpp"

namespace athanor {

namespace {

StepTime between(StepTime low, StepTime high, double share) {
  return {low.step + (high.step - low.step) * share, low.sync + (high.sync - low.sync) * share};
}

/// The entries on both sides of a key, and how far it is from the one to the other; at the ends the last on both.
template <class Map>
auto around(const Map& map, double key) {
  const auto high = std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.first >= key; });
  struct {
    typename Map::const_iterator low, high;
    double share = 0;
  } found{high, high};
  if (high == map.end()) {
    found.low = found.high = std::prev(high);
  } else if (high != map.begin() && high->first > key) {
    found.low = std::prev(high);
    const auto from = static_cast<double>(found.low->first);
    found.share = (key - from) / (static_cast<double>(high->first) - from);
  }
  return found;
}

}  // namespace

GpuCounts counts_of(const Allocation& where) {
  GpuCounts counts;
  std::vector<NodeId> nodes;
  for (const NodeShare& share : where) {
    const auto at = std::find(nodes.begin(), nodes.end(), share.node);
    if (at == nodes.end()) {
      nodes.push_back(share.node);
      counts.push_back(share.gpus.count());
    } else {
      counts[static_cast<std::size_t>(at - nodes.begin())] += share.gpus.count();
    }
  }
  return turned(std::move(counts));
}

GpuCounts turned(GpuCounts counts) {
  GpuCounts least = counts;
  for (std::size_t turn = 1; turn < counts.size(); ++turn) {
    std::rotate(counts.begin(), counts.begin() + 1, counts.end());
    least = std::min(least, counts);
  }
  return least;
}

GpuCounts packed(std::uint32_t gpus, std::uint32_t per_node) {
  require(per_node > 0, "nodes have GPUs");
  GpuCounts counts(gpus / per_node, per_node);
  if (gpus % per_node > 0) { counts.push_back(gpus % per_node); }
  return turned(std::move(counts));
}

void StepCurve::add(double batch, StepTime time) {
  auto& [sum, count] = times_[batch];
  sum = {sum.step + time.step, sum.sync + time.sync};
  ++count;
}

StepTime StepCurve::at(double batch) const {
  require(!empty(), "a curve without points");
  const auto mean = [](const auto& entry) {
    const auto& [sum, count] = entry.second;
    return StepTime{sum.step / count, sum.sync / count};
  };
  const auto sides = around(times_, batch);
  return between(mean(*sides.low), mean(*sides.high), sides.share);
}

void StepProfile::add_placement(const GpuCounts& counts, double batch, StepTime time) {
  placements_[turned(counts)].add(batch, time);
  most_gpus_of_a_node_ = std::max(most_gpus_of_a_node_, *std::max_element(counts.begin(), counts.end()));
  add_size(static_cast<std::uint32_t>(counts.size()), std::accumulate(counts.begin(), counts.end(), 0U), batch, time);
}

void StepProfile::add_size(std::uint32_t nodes, std::uint32_t gpus, double batch, StepTime time) {
  sizes_[nodes][gpus].add(batch, time);
}

std::uint32_t StepProfile::most_gpus() const {
  std::uint32_t most = 0;
  for (const auto& [nodes, of_nodes] : sizes_) { most = std::max(most, of_nodes.rbegin()->first); }
  return most;
}

StepTime StepProfile::at(const GpuCounts& counts, double batch) const {
  if (const auto known = placements_.find(counts); known != placements_.end()) { return known->second.at(batch); }
  return of_size(static_cast<double>(counts.size()), std::accumulate(counts.begin(), counts.end(), 0U), batch);
}

/// On a line through the point from fewer nodes to more: with the same GPUs on both sides where both were measured with
/// so many, else as near to that as what was measured allows.
StepTime StepProfile::of_size(double nodes, double gpus, double batch) const {
  require(!sizes_.empty(), "a profile without step times");
  const auto sides = around(sizes_, nodes);
  const OfNodes& low = sides.low->second;
  const OfNodes& high = sides.high->second;
  const double share = sides.share;
  const auto within = [](const OfNodes& of_nodes, double wanted) {
    return std::clamp(wanted, static_cast<double>(of_nodes.begin()->first),
                      static_cast<double>(of_nodes.rbegin()->first));
  };
  const auto of = [&](const OfNodes& of_nodes, double wanted) {
    const auto by_gpus = around(of_nodes, wanted);
    return between(by_gpus.low->second.at(batch), by_gpus.high->second.at(batch), by_gpus.share);
  };
  if (share <= 0) { return of(high, gpus); }
  double of_high = within(high, gpus);
  const double of_low = within(low, (gpus - share * of_high) / (1 - share));
  of_high = within(high, (gpus - (1 - share) * of_low) / share);
  return between(of(low, of_low), of(high, of_high), share);
}

}  // namespace athanor
