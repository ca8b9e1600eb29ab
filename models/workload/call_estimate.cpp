#include "models/workload/call_estimate.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

const NodeKinds::Devices& NodeKinds::devices(std::uint32_t node) {
  if (devices_.empty()) {
    for (VertexId v{0}; v.value < fabric_.vertices(); ++v.value) {
      const Vertex& vertex = fabric_.vertex(v);
      if (vertex.node != kNoNode) { devices_[vertex.node][{vertex.kind, vertex.index}] = v; }
    }
  }
  const auto found = devices_.find(node);
  require(found != devices_.end(), "no node {}", node);
  return found->second;
}

std::vector<std::int64_t> NodeKinds::looks(std::uint32_t node) {
  std::vector<std::int64_t> looks;
  for (const auto& [device, vertex] : devices(node)) {
    const Fabric::OutLinks out = fabric_.out(vertex);
    looks.insert(looks.end(), {static_cast<std::int64_t>(device.first), device.second, out.count});
    for (LinkId id{out.first}; id.value < out.first + out.count; ++id.value) {
      const Link& link = fabric_.link(id);
      const Vertex& to = fabric_.vertex(fabric_.target(id));
      if (to.node != node) {
        looks.push_back(-1);
        continue;
      }
      looks.insert(looks.end(), {static_cast<std::int64_t>(to.kind), to.index, static_cast<std::int64_t>(link.kind),
                                 link.rate.count(), link.usable.count(), link.latency.count(), link.down ? 1 : 0});
    }
  }
  return looks;
}

std::uint32_t NodeKinds::kind_of(std::uint32_t node) {
  const auto [found, fresh] = kind_of_.try_emplace(node, 0);
  if (fresh) {
    found->second = kinds_.try_emplace(looks(node), static_cast<std::uint32_t>(kinds_.size())).first->second;
  }
  return found->second;
}

LinkId NodeKinds::same_link(LinkId link, std::uint32_t node) {
  const VertexId from = fabric_.source(link);
  const Vertex& vertex = fabric_.vertex(from);
  const Devices& there = devices(node);
  const auto other = there.find({vertex.kind, vertex.index});
  require(other != there.end(), "node {} does not look like that of {}", node, fabric_.name(from));
  return LinkId{fabric_.out(other->second).first + (link.value - fabric_.out(from).first)};
}

std::vector<LinkShare> CallEstimate::transfer_shares() const {
  if (latency == Time::zero()) { return *shares; }
  const double longer = seconds(time) / seconds(transfer());
  std::vector<LinkShare> during = *shares;
  for (LinkShare& each : during) { each.share = std::min(1.0, each.share * longer); }
  return during;
}

LinkShare CallEstimate::busiest() const {
  LinkShare most;
  if (!shares) { return most; }
  for (const LinkShare& each : *shares) {
    if (each.share > most.share) { most = each; }
  }
  return most;
}

std::uint32_t WorkloadEstimates::of(const Workload::Operation& operation) const {
  switch (operation.kind) {
    case Workload::Kind::call: return of_call[operation.subject];
    case Workload::Kind::send:
    case Workload::Kind::receive: {
      const auto found = of_message.find({operation.subject, operation.size});
      return found == of_message.end() ? kNone : found->second;
    }
    case Workload::Kind::compute:
    case Workload::Kind::mark: break;
  }
  return kNone;
}

}  // namespace athanor
