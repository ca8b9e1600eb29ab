#include "models/execution/blocks.hpp"

namespace athanor {

/// By number of the node.
std::optional<std::vector<Blocks::Node>> Blocks::nodes_of(const Fabric& fabric) {
  std::vector<Node> nodes;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    const std::uint32_t node = fabric.vertex(VertexId{v}).node;
    if (node == kNoNode) { continue; }
    if (node >= nodes.size()) { nodes.resize(node + std::size_t{1}); }
    Node& known = nodes[node];
    const auto [first, count] = fabric.out(VertexId{v});
    if (known.end_vertex == 0) { known = {v, v, first, first}; }
    if (known.end_vertex != v) { return {}; }
    known.end_vertex = v + 1;
    known.end_link = first + count;
  }
  return nodes;
}

std::optional<Blocks> Blocks::find(const Fabric& fabric, const Placement& placement) {
  const auto nodes = nodes_of(fabric);
  if (!nodes) { return {}; }
  constexpr BlockId kUnknown{UINT32_MAX};
  Blocks blocks;
  std::vector<BlockId> of_node(nodes->size(), kUnknown);
  std::vector<std::uint32_t> sizes;
  for (const VertexId vertex : placement.vertices) {
    const std::uint32_t node = fabric.vertex(vertex).node;
    BlockId block = node == kNoNode ? kUnknown : of_node[node];
    if (block == kUnknown) {
      block = blocks.nodes_.push_back(node == kNoNode ? Node{} : (*nodes)[node]);
      sizes.push_back(0);
      if (node != kNoNode) { of_node[node] = block; }
    }
    blocks.place_.push_back({block, sizes[block.value]++});
  }
  blocks.first_agent_.push_back(0);
  for (const std::uint32_t size : sizes) { blocks.first_agent_.push_back(blocks.first_agent_.back() + size); }
  blocks.agents_.resize(blocks.place_.size());
  for (AgentId agent{0}; agent.value < blocks.place_.size(); ++agent.value) {
    const Place& place = blocks.place_[agent.value];
    blocks.agents_[blocks.first_agent_[place.block.value] + place.number] = agent;
  }
  return blocks;
}

}  // namespace athanor
