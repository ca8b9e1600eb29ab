#pragma once

#include <cstdint>

#include "models/software/costs.hpp"
#include "topologies/cluster.hpp"

namespace athanor::testing {

/// `hosts` hosts on one switch, both hops of each path taking `latency`.
Cluster star(std::uint32_t hosts, Bandwidth rate, Time latency);

/// leaves x leaves hosts on as many leaves and spines; host h's traffic takes spine h % leaves (destination modulo k).
Cluster square_fat_tree(std::uint32_t leaves, Bandwidth rate, Time latency);

/// The same costs for all agents and connections.
class UniformCosts : public CostModel {
 public:
  AgentCost agent_cost;
  ConnectionCost connection_cost{.latency = {}, .grain = {}, .end = SendEnd::delivered};
  Bytes element{4};
  std::uint32_t slot_count = 8;

  AgentCost agent(AgentId) const override { return agent_cost; }
  ConnectionCost connection(AgentId, AgentId, std::span<const LinkId>) const override { return connection_cost; }
  Bytes element_size() const override { return element; }
  std::uint32_t slots() const override { return slot_count; }
};

}  // namespace athanor::testing
