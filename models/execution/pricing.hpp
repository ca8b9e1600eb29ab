#pragma once

#include <utility>
#include <vector>

#include "algorithms/schedule/concurrent.hpp"
#include "models/software/costs.hpp"
#include "models/software/protocol.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

struct Profile;

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
  SideBySidePricing(const AgentMapping& agents, std::vector<const CostModel*> costs)
      : agents_(agents), costs_(std::move(costs)) {}

  AgentCost agent(AgentId agent) const override;
  ConnectionCost connection(AgentId from, AgentId to, std::span<const LinkId> path) const override;
  Bytes element_size() const override { return costs_.front()->element_size(); }
  std::uint32_t slots() const override;

 private:
  const AgentMapping& agents_;
  std::vector<const CostModel*> costs_;
};

}  // namespace athanor
