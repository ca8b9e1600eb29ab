#include "models/execution/block_graph.hpp"

#include <utility>

namespace athanor {

namespace {

class BlockGraphBuilder {
 public:
  BlockGraphBuilder(BlockLayout& layout, BlockId block, const Schedule& schedule)
      : layout_(layout), block_(block), lanes_(layout.lanes(block)), schedule_(schedule) {}

  BlockGraph build(LikePorts& like, bool in_calls) {
    built_.graph.in_calls = in_calls;
    built_.graph.agent_costs = layout_.agent_costs();
    add_lanes(like);
    for (const LaneIndex lane : built_.graph.lanes.ids()) { join_outputs(lane); }
    for (const LaneIndex lane : built_.graph.lanes.ids()) { join_inputs(lane); }
    built_.out_number.resize(built_.graph.connections.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < built_.outward.size(); ++i) { built_.out_number[built_.outward[i].value] = i; }
    return std::move(built_);
  }

 private:
  static constexpr ConnectionId kNone{UINT32_MAX};

  void add_lanes(LikePorts& like) {
    for (const AgentId agent : layout_.blocks().agents(block_)) {
      for (LaneId id{0}; id.value < schedule_.lanes(agent); ++id.value) {
        const Lane lane = schedule_.lane(agent, id);
        const std::size_t number = built_.graph.lanes.size();
        built_.graph.lanes.push_back({agent, id, lane.steps, lane.loops, lanes_.first_in[number], lane.in_ports,
                                      ConnectionId{lanes_.first_out[number]}, lane.out_ports,
                                      layout_.agent_cost(agent)});
        like.find(built_.graph.lanes.back(), lane.program);
      }
    }
    built_.graph.in_connections.assign(lanes_.first_in.back(), kNone);
  }

  /// Figures of a connection that is not wholly inside are left to whoever sees all of it: blocks of one shape may
  /// differ in them.
  void join_outputs(LaneIndex number) {
    const MappedSchedule::Lane lane = built_.graph.lanes[number];
    for (PortId port{0}; port.value < lane.out_ports; ++port.value) {
      const OpenedConnection opened = layout_.open(lane.agent, lane.lane, port);
      const ConnectionId connection = built_.graph.connections.next();
      if (!opened.inside) {
        built_.outward.push_back(connection);
        built_.graph.connections.push_back({number, kOutside});
        add_pairs(block_, nullptr);
        continue;
      }
      const Blocks::Place& place = layout_.blocks().place(opened.to.agent);
      const LaneIndex target{lanes_.lane(place.number, opened.to.lane)};
      built_.graph.connections.push_back({number, target, opened.to.port.value, opened.cost});
      built_.graph.in_connections[layout_.in_port(opened.to)] = connection;
      add_pairs_inside();
    }
  }

  void join_inputs(LaneIndex number) {
    const MappedSchedule::Lane lane = built_.graph.lanes[number];
    for (PortId port{0}; port.value < lane.in_ports; ++port.value) {
      ConnectionId& entering = built_.graph.in_connections[lane.first_in + port.value];
      if (entering != kNone) { continue; }
      const Endpoint from = schedule_.source(lane.agent, lane.lane, port);
      layout_.open(from.agent, from.lane, from.port);
      const BlockId source = layout_.blocks().place(from.agent).block;
      entering = built_.graph.connections.next();
      built_.inward.push_back(entering);
      built_.graph.connections.push_back({kOutside, number, port.value});
      add_pairs(block_, &source);
    }
  }

  void add_pairs_inside() {
    for (const FlowGraph::Connection& pair : layout_.pairs()) {
      FlowGraph::Connection added = pair;
      added.first_use = static_cast<std::uint32_t>(built_.graph.network.graph.uses.size());
      for (const FlowGraph::Use& use : layout_.path(pair)) { cross(use.link); }
      built_.graph.network.graph.connections.push_back(added);
    }
    built_.graph.network.queue_pairs = static_cast<std::uint32_t>(layout_.pairs().size());
  }

  /// Only the links in the block; those that are in the block of the source as well count there.
  void add_pairs(BlockId block, const BlockId* source) {
    for (const FlowGraph::Connection& pair : layout_.pairs()) {
      FlowGraph::Connection added;
      added.first_use = static_cast<std::uint32_t>(built_.graph.network.graph.uses.size());
      for (const FlowGraph::Use& use : layout_.path(pair)) {
        if (!layout_.holds(block, use.link) || (source != nullptr && layout_.holds(*source, use.link))) { continue; }
        cross(use.link);
        ++added.uses;
      }
      built_.graph.network.graph.connections.push_back(added);
    }
    built_.graph.network.queue_pairs = static_cast<std::uint32_t>(layout_.pairs().size());
  }

  void cross(LinkIndex link) {
    const std::uint32_t number = layout_.number(block_, link);
    if (number >= built_.link_of.size()) { built_.link_of.resize(number + std::size_t{1}, BlockGraph::kNoLink); }
    std::uint32_t& own = built_.link_of[number];
    FlowGraph& graph = built_.graph.network.graph;
    if (own == BlockGraph::kNoLink) {
      own = graph.links.push_back(layout_.graph_links()[link]).value;
      built_.links.push_back(number);
    }
    graph.uses.push_back({LinkIndex{own}, 1});
  }

  BlockLayout& layout_;
  BlockId block_;
  const BlockLanes& lanes_;
  const Schedule& schedule_;
  BlockGraph built_;
};

}  // namespace

BlockGraph block_graph(BlockLayout& layout, std::uint32_t shape, const Schedule& schedule, LikePorts& like,
                       bool in_calls) {
  return BlockGraphBuilder(layout, layout.example(shape), schedule).build(like, in_calls);
}

}  // namespace athanor
