#include "models/layouts/mesh_prices.hpp"

#include <algorithm>
#include <memory>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

CollectiveKind collective_of(LayoutStepKind kind) {
  switch (kind) {
    case LayoutStepKind::all_gather: return CollectiveKind::all_gather;
    case LayoutStepKind::reduce_scatter: return CollectiveKind::reduce_scatter;
    case LayoutStepKind::all_reduce: return CollectiveKind::all_reduce;
    case LayoutStepKind::all_to_all: return CollectiveKind::all_to_all;
    case LayoutStepKind::slice:
    case LayoutStepKind::permute: break;
  }
  require(false, "a step that is a collective");
  return CollectiveKind::send_receive;
}

std::uint32_t MeshPrices::communicator(const MeshAxes& axes) {
  const auto [found, is_new] = communicators_.emplace(axes, static_cast<std::uint32_t>(calls_.communicators.size()));
  if (is_new) {
    calls_.communicators.push_back(
        {mesh_.names(axes), Parallelism::other, {0}, std::make_shared<const EndpointGroups>(mesh_.groups(axes))});
  }
  return found->second;
}

MeshPrices::MeshPrices(CollectiveTimer& timer, const Cluster& cluster, DeviceMesh mesh, DataType type)
    : timer_(timer), mesh_(std::move(mesh)), type_(type) {
  const Fabric& fabric = *cluster.fabric;
  const VertexId first = cluster.endpoints.front();
  const std::uint32_t node = fabric.vertex(first).node;
  Bandwidth out{0};
  for (std::uint32_t link = 0; link < fabric.links(); ++link) {
    if (fabric.source(LinkId{link}) == first) { of_device_ = of_device_ + fabric.link(LinkId{link}).usable; }
    const bool leaves = fabric.vertex(fabric.source(LinkId{link})).node == node &&
                        fabric.vertex(fabric.target(LinkId{link})).node != node;
    if (leaves) { out = out + fabric.link(LinkId{link}).usable; }
  }
  if (node == kNoNode || out.count() == 0) { return; }
  out_of_node_ = out;
  in_node_ = static_cast<std::uint32_t>(std::count_if(cluster.endpoints.begin(), cluster.endpoints.end(),
                                                      [&](VertexId each) { return fabric.vertex(each).node == node; }));
}

const MeshPrices::OfNode& MeshPrices::of_node(const MeshAxes& axes) {
  const auto [found, is_new] = of_node_.try_emplace(axes);
  if (!is_new) { return found->second; }
  std::map<std::uint32_t, std::uint64_t> members;
  for (std::uint32_t device = 0; device < in_node_; ++device) {
    std::vector<std::uint32_t> place = mesh_.coordinates(device);
    for (const std::uint8_t axis : axes) { place[axis] = 0; }
    ++members[mesh_.device(place)];
  }
  found->second.groups = members.size();
  for (const auto& [group, count] : members) { found->second.members = std::max(found->second.members, count); }
  return found->second;
}

Time MeshPrices::bound(const LayoutStep& step, Bytes size) {
  if (step.kind == LayoutStepKind::permute) { return Time::zero(); }
  const std::int64_t n = mesh_.size(step.axes);
  Time least = transfer_time(size * (n - 1) / n, of_device_);
  if (!out_of_node_) { return least; }
  const OfNode& node = of_node(step.axes);
  const auto members = static_cast<std::int64_t>(node.members);
  const std::int64_t senders = step.kind == LayoutStepKind::all_to_all ? members : 1;
  const Bytes leaves = size / n * (n - members) * static_cast<std::int64_t>(node.groups) * senders;
  return std::max(least, transfer_time(leaves, *out_of_node_));
}

std::optional<Time> MeshPrices::time(const LayoutStep& step, Bytes size) {
  if (step.kind == LayoutStepKind::permute) { return permutation(step, size); }
  const std::uint64_t pairs = std::uint64_t{mesh_.devices()} * mesh_.size(step.axes);
  if (step.kind == LayoutStepKind::all_to_all && pairs > kMostPairs) {
    left_out_ = true;
    return std::nullopt;
  }
  if (mesh_.devices() <= kExactDevices) { return simulated(step, size); }
  Bytes below{1024};
  while (below * 4 <= size) { below = below * 4; }
  if (size <= below) { return simulated(step, below); }
  constexpr std::int64_t kParts = 1024;
  const Time least = simulated(step, below);
  const std::int64_t part = (size - below).count() * kParts / (3 * below.count());
  return least + (simulated(step, below * 4) - least) / kParts * part;
}

/// Libraries order ranks by where they are, whichever axis is major.
Time MeshPrices::simulated(const LayoutStep& step, Bytes size) {
  MeshAxes axes = step.axes;
  std::sort(axes.begin(), axes.end());
  const auto known = known_.find({step.kind, axes, size});
  if (known != known_.end()) { return known->second; }
  const Time time = timer_.time(
      calls_, {.communicator = communicator(axes), .kind = collective_of(step.kind), .size = size, .type = type_});
  return known_.emplace(std::tuple{step.kind, axes, size}, time).first->second;
}

/// NCCL carries messages out among ranks that fill nodes alike; others are no way to go.
std::optional<Time> MeshPrices::permutation(const LayoutStep& step, Bytes size) {
  const std::vector<std::uint32_t> from = senders(step.from, step.to, mesh_);
  const std::pair key{from, size};
  const auto known = permutations_.find(key);
  if (known != permutations_.end()) { return known->second; }
  EndpointGroups pairs;
  for (std::uint32_t device = 0; device < from.size(); ++device) {
    if (from[device] != device) { pairs.push_back({from[device], device}); }
  }
  std::optional<Time> time = Time::zero();
  if (!pairs.empty()) {
    const Workload::Channel channel{.name = "permutation",
                                    .pairs = std::make_shared<const EndpointGroups>(std::move(pairs))};
    try {
      time = timer_.estimate(channel, size).time;
    } catch (const SimulationError&) { time.reset(); }
  }
  return permutations_.emplace(key, time).first->second;
}

}  // namespace athanor
