#pragma once

#include <utility>
#include <vector>

#include "algorithms/combine/seating.hpp"
#include "models/software/costs.hpp"
#include "models/software/profile.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// Which agents are what: devices that run software, then engines of NVSwitches, then engines in switches of the
/// network.
struct AgentKinds {
  std::uint32_t devices = 0;
  std::uint32_t nvswitches = 0;
};

/// Prices a schedule by one protocol of a profile: a hop costs by whether it ends at an engine and which, stays within
/// a node, or crosses the network.
class ProfilePricing : public CostModel {
 public:
  /// Borrows fabric, profile and protocol. `least_slots`: of the schedule.
  ProfilePricing(const Fabric& fabric, const Profile& profile, const Protocol& protocol, AgentKinds kinds,
                 Bytes element_size, std::uint32_t least_slots);

  AgentCost agent(AgentId agent) const override;
  ConnectionCost connection(AgentId from, AgentId to, std::span<const LinkId> path) const override;
  Bytes element_size() const override { return element_size_; }
  std::uint32_t slots() const override { return slots_; }

 private:
  bool is_device(AgentId agent) const { return agent.value < kinds_.devices; }
  bool aggregates(AgentId agent) const { return agent.value >= kinds_.devices + kinds_.nvswitches; }
  HopCost hop(AgentId from, AgentId to, std::span<const LinkId> path) const;
  Ratio efficiency(const HopCost& hop, std::span<const LinkId> path) const;
  Bytes grain(AgentId from, AgentId to) const;

  const Fabric& fabric_;
  const Profile& profile_;
  const Protocol& protocol_;
  AgentKinds kinds_;
  Bytes element_size_;
  std::uint32_t slots_;
};

/// Prices schedules side by side, each agent as its own schedule does.
class SideBySidePricing final : public CostModel {
 public:
  /// Borrows both. `costs`: of each schedule; at least one.
  SideBySidePricing(const Seating& seating, std::vector<const CostModel*> costs)
      : seating_(seating), costs_(std::move(costs)) {}

  AgentCost agent(AgentId agent) const override;
  ConnectionCost connection(AgentId from, AgentId to, std::span<const LinkId> path) const override;
  Bytes element_size() const override { return costs_.front()->element_size(); }
  std::uint32_t slots() const override;

 private:
  const Seating& seating_;
  std::vector<const CostModel*> costs_;
};

/// Prices a schedule whose agents share a machine: what they cost each other its own model says. A message is copied.
class SharedMachinePricing : public CostModel {
 public:
  SharedMachinePricing(Bytes element_size, std::uint32_t slots) : element_size_(element_size), slots_(slots) {}

  AgentCost agent(AgentId) const final { return {}; }
  ConnectionCost connection(AgentId, AgentId, std::span<const LinkId>) const final {
    ConnectionCost cost;
    cost.end = SendEnd::copied;
    return cost;
  }
  Bytes element_size() const final { return element_size_; }
  std::uint32_t slots() const final { return slots_; }

 private:
  Bytes element_size_;
  std::uint32_t slots_;
};

/// Of agents that are threads of one machine. Borrows the costs.
class ThreadPricing final : public SharedMachinePricing {
 public:
  ThreadPricing(const ThreadCosts& costs, Bytes element_size, std::uint32_t slots)
      : SharedMachinePricing(element_size, slots), costs_(costs) {}
  const ThreadCosts* threads() const override { return &costs_; }

 private:
  const ThreadCosts& costs_;
};

/// Of agents that are thread blocks of GPUs. Borrows the costs. `least_slots`: of the schedule.
class GpuPricing final : public SharedMachinePricing {
 public:
  GpuPricing(const GpuCosts& costs, Bytes element_size, std::uint32_t least_slots)
      : SharedMachinePricing(element_size, costs.slots > least_slots ? costs.slots : least_slots), costs_(costs) {}
  const GpuCosts* gpus() const override { return &costs_; }

 private:
  const GpuCosts& costs_;
};

}  // namespace athanor
