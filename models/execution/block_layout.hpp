#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/execution/blocks.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/partition.hpp"
#include "models/network/connections.hpp"
#include "models/network/slack_links.hpp"

namespace athanor {

struct Cluster;

/// The lanes of a block and their ports, numbered within it: those of its first agent first.
struct BlockLanes {
  std::vector<std::uint32_t> first_lane;  ///< by agent's number; one more at the end
  std::vector<std::uint32_t> first_in;    ///< by lane; one more at the end
  std::vector<std::uint32_t> first_out;   ///< likewise

  std::uint32_t lane(std::uint32_t agent, LaneId lane) const { return first_lane[agent] + lane.value; }
  std::uint32_t lanes() const { return first_lane.back(); }
};

/// A connection that crosses links outside of the block of its source, or leads to another one.
struct OutwardConnection {
  std::uint32_t figures = 0;     ///< equal where its cost is, and which of its links are in which block
  BlockId target;                ///< may be that of the source
  std::uint32_t target_in = 0;   ///< in-port, numbered within that block
  std::uint32_t first_link = 0;  ///< into BlockLayout::crossed_by
};

/// A connection as it is opened for a look, all links in their order.
struct OpenedConnection {
  Endpoint to;
  std::uint32_t cost = 0;  ///< into BlockLayout::costs
  bool inside = false;     ///< of the block of its source, every link
};

/// What a schedule on a cluster is made of when blocks are looked at from outside: of which shape each is, and the
/// connections between them. Blocks have one shape where all their agents, lanes and programs, the connections that
/// stay inside and the way of the others through the block are the same, by relative places. Nothing is stored by lane,
/// or by connection inside of a block.
class BlockLayout {
 public:
  /// Borrows all of them. Requires a router with one path for each request.
  BlockLayout(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
              Blocks blocks);

  const Blocks& blocks() const { return blocks_; }
  std::uint32_t shapes() const { return static_cast<std::uint32_t>(first_of_shape_.size()); }
  std::uint32_t shape(BlockId block) const { return shape_of_[block.value]; }
  /// The first block of a shape.
  BlockId example(std::uint32_t shape) const { return first_of_shape_[shape]; }
  const BlockLanes& lanes(BlockId block) const { return lane_shapes_[lane_shape_of_[block.value]]; }
  std::uint64_t connections() const { return connections_; }
  /// Some path crosses links inside of a block in which it neither begins nor ends: then blocks do not tell everything.
  bool has_transit() const { return transit_; }

  /// In the order of lanes and ports.
  std::span<const OutwardConnection> outward(BlockId block) const {
    return std::span(outward_).subspan(first_outward_[block.value],
                                       first_outward_[block.value + 1] - first_outward_[block.value]);
  }
  std::size_t outward_connections() const { return outward_.size() - 1; }
  /// The links of a connection that are in the block of neither end, one queue pair after the other.
  std::span<const LinkIndex> crossed_by(const OutwardConnection& connection) const {
    const std::size_t end = (&connection + 1)->first_link;  // the last is followed by one more
    return std::span(crossed_).subspan(connection.first_link, end - connection.first_link);
  }

  /// Of `crossed_by`: which of the connection's queue pairs crosses it.
  std::uint32_t pair_on(const LinkIndex& crossed) const {
    return crossing_pairs_.empty() ? 0 : crossing_pairs_[static_cast<std::size_t>(&crossed - crossed_.data())];
  }
  /// Of links that are in the block of neither end of what crosses them: whether it is slack (SlackLinks).
  bool is_slack(LinkIndex link) const { return slack_[link.value]; }

  /// Opens a connection again. pairs() and path() then tell of it.
  OpenedConnection open(AgentId from, LaneId lane, PortId port);
  const IdVector<ConnectionId, FlowGraph::Connection>& pairs() const { return builder_.opened().graph.connections; }
  std::span<const FlowGraph::Use> path(const FlowGraph::Connection& pair) const {
    return builder_.opened().path_of(pair);
  }
  /// The number of an in-port within its block.
  std::uint32_t in_port(const Endpoint& to) const;
  /// Of LinkIndex: every link that was ever crossed.
  const IdVector<LinkIndex, LinkId>& links() const { return builder_.opened().links; }
  const IdVector<LinkIndex, FlowGraph::Link>& graph_links() const { return builder_.opened().graph.links; }
  const std::vector<AgentCost>& agent_costs() const { return agent_costs_; }
  const std::vector<ConnectionCost>& costs() const { return connection_costs_; }
  std::uint32_t agent_cost(AgentId agent) const { return agent_cost_[agent.value]; }
  /// Whether a link is in the block.
  bool holds(BlockId block, LinkIndex link) const { return blocks_.holds(fabric_, block, links()[link]); }
  /// And then its number in it.
  std::uint32_t number(BlockId block, LinkIndex link) const { return blocks_.number(block, links()[link]); }

 private:
  /// What is known of the connections between two agents of a block whose router looks at nothing but them.
  struct Known {
    bool looked = false;
    bool inside = false;
    Colour colour = 0;
  };

  Colour find_lanes(BlockId block);
  Colour look_at(BlockId block);
  Colour colour_of_port(BlockId block, std::size_t first_known, const Endpoint& from);
  Colour colour_inside(BlockId block, std::uint32_t cost) const;
  Colour colour_of_link(BlockId block, LinkIndex link) const;
  Colour add_outward(BlockId block, const OpenedConnection& opened);
  void open(AgentId from, LaneId lane, PortId port, OpenedConnection& opened);
  bool stays_inside(BlockId block) const;
  bool inside_a_node(LinkIndex link) const;
  void reserve();
  void find_slack_links();
  void number_shapes(const std::vector<Colour>& colours);

  const Schedule& schedule_;
  const Fabric& fabric_;
  const Placement& placement_;
  const CostModel& costs_;
  bool fixed_inside_;
  ConnectionBuilder builder_;
  Blocks blocks_;
  std::vector<AgentCost> agent_costs_;
  std::vector<ConnectionCost> connection_costs_;
  std::vector<std::uint32_t> agent_cost_;  ///< by agent
  std::vector<BlockLanes> lane_shapes_;
  std::vector<std::uint32_t> lane_shape_of_;  ///< by block
  std::unordered_map<Colour, std::uint32_t> lane_shape_by_colour_;
  std::vector<Colour> inward_;           ///< by block, over the connections that enter it
  std::vector<std::uint32_t> shape_of_;  ///< by block
  std::vector<BlockId> first_of_shape_;
  std::vector<std::uint32_t> first_outward_;  ///< by block, into `outward_`; one more at the end
  std::vector<OutwardConnection> outward_;    ///< and one more at the end
  std::vector<LinkIndex> crossed_;
  std::vector<std::uint32_t> crossing_pairs_;  ///< by entry of `crossed_`; empty where connections have one
  ClassNumbering figures_;
  SlackLinks slack_links_;    ///< until all paths are told
  std::vector<bool> slack_;   ///< by LinkIndex
  std::vector<Known> known_;  ///< of the present block, by numbers of two agents
  std::uint64_t connections_ = 0;
  bool transit_ = false;
};

}  // namespace athanor
