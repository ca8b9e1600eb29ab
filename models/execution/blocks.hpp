#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// A node with all agents that are in it, or one agent that is in none.
using BlockId = Id<struct BlockTag>;

/// The agents of a schedule by the nodes that they are in.
class Blocks {
 public:
  /// Where an agent is: its number counts agents of the block in their order.
  struct Place {
    BlockId block;
    std::uint32_t number = 0;
  };

  /// Nothing where the vertices of some node do not follow each other.
  static std::optional<Blocks> find(const Fabric& fabric, const Placement& placement);

  std::uint32_t count() const { return static_cast<std::uint32_t>(nodes_.size()); }
  IdRange<BlockId> ids() const { return nodes_.ids(); }
  const Place& place(AgentId agent) const { return place_[agent.value]; }
  /// By number.
  std::span<const AgentId> agents(BlockId block) const {
    return std::span(agents_).subspan(first_agent_[block.value],
                                      first_agent_[block.value + 1] - first_agent_[block.value]);
  }
  /// Whether both ends of the link are in the block's node; then its number among the links of the node.
  bool holds(const Fabric& fabric, BlockId block, LinkId link) const {
    const Node& node = nodes_[block];
    return link.value >= node.first_link && link.value < node.end_link && within(node, fabric.target(link));
  }
  std::uint32_t number(BlockId block, LinkId link) const { return link.value - nodes_[block].first_link; }
  LinkId link(BlockId block, std::uint32_t number) const { return LinkId{nodes_[block].first_link + number}; }

 private:
  struct Node {
    std::uint32_t first_vertex = 0;
    std::uint32_t end_vertex = 0;  ///< that of an agent in no node is empty
    std::uint32_t first_link = 0;
    std::uint32_t end_link = 0;
  };
  static bool within(const Node& node, VertexId vertex) {
    return vertex.value >= node.first_vertex && vertex.value < node.end_vertex;
  }
  static std::optional<std::vector<Node>> nodes_of(const Fabric& fabric);

  IdVector<BlockId, Node> nodes_;
  std::vector<Place> place_;  ///< by agent
  std::vector<AgentId> agents_;
  std::vector<std::uint32_t> first_agent_;  ///< by block, into `agents_`; one more at the end
};

}  // namespace athanor
