#include "models/execution/block_layout.hpp"

#include <algorithm>
#include <utility>

#include "models/execution/layout_parts.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

Colour colour_of(const FlowGraph::Connection& pair) {
  const Colour colour = mix(static_cast<Colour>(pair.latency.count()), static_cast<Colour>(pair.cap.count()));
  return mix(mix(colour, static_cast<Colour>(pair.grain.count())), pair.uses);
}

Colour colour_of(const Lane& lane) {
  const Colour colour = mix(mix(lane.program.value, lane.steps), lane.loops);
  return mix(mix(colour, lane.in_ports), lane.out_ports);
}

}  // namespace

BlockLayout::BlockLayout(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                         const CostModel& costs, Blocks blocks)
    : schedule_(schedule),
      fabric_(*cluster.fabric),
      placement_(placement),
      costs_(costs),
      fixed_inside_(cluster.router->fixed_inside_nodes()),
      builder_(cluster, placement.queue_pairs),
      blocks_(std::move(blocks)),
      inward_(blocks_.count()) {
  for (AgentId agent{0}; agent.value < placement.vertices.size(); ++agent.value) {
    agent_cost_.push_back(intern(agent_costs_, costs.agent(agent)));
  }
  std::vector<Colour> colours;
  for (const BlockId block : blocks_.ids()) { colours.push_back(find_lanes(block)); }
  for (const BlockId block : blocks_.ids()) {
    first_outward_.push_back(static_cast<std::uint32_t>(outward_.size()));
    colours[block.value] = mix(colours[block.value], look_at(block));
    if (block.value == 0) { reserve(); }
  }
  first_outward_.push_back(static_cast<std::uint32_t>(outward_.size()));
  outward_.push_back({0, {}, 0, static_cast<std::uint32_t>(crossed_.size())});
  for (const BlockId block : blocks_.ids()) { colours[block.value] = mix(colours[block.value], inward_[block.value]); }
  number_shapes(colours);
  find_slack_links();
}

/// Most blocks are like the first. What grows step by step takes twice the memory for a while.
void BlockLayout::reserve() {
  std::size_t outs = 0;
  for (const BlockId block : blocks_.ids()) { outs += lanes(block).first_out.back(); }
  const std::size_t first = std::max<std::size_t>(1, lanes(BlockId{0}).first_out.back());
  const auto of_all = [&](std::size_t of_first) { return (outs * of_first + first - 1) / first; };
  outward_.reserve(of_all(outward_.size()) + 1);
  crossed_.reserve(of_all(crossed_.size()));
}

/// Those inside of blocks may be crossed by connections that have not been looked at.
void BlockLayout::find_slack_links() {
  std::vector<bool> inside(links().size(), true);
  for (const LinkIndex link : crossed_) { inside[link.value] = false; }
  slack_ = std::exchange(slack_links_, {}).find(graph_links(), inside);
}

/// Blocks of equal lanes share a list of them.
Colour BlockLayout::find_lanes(BlockId block) {
  BlockLanes lanes;
  std::uint32_t ins = 0;
  std::uint32_t outs = 0;
  Colour colour = 0;
  for (const AgentId agent : blocks_.agents(block)) {
    lanes.first_lane.push_back(static_cast<std::uint32_t>(lanes.first_in.size()));
    colour = mix(colour, agent_cost_[agent.value]);
    const std::uint32_t count = schedule_.lanes(agent);
    for (LaneId id{0}; id.value < count; ++id.value) {
      const Lane lane = schedule_.lane(agent, id);
      colour = mix(colour, colour_of(lane));
      lanes.first_in.push_back(ins);
      lanes.first_out.push_back(outs);
      ins += lane.in_ports;
      outs += lane.out_ports;
    }
  }
  lanes.first_lane.push_back(static_cast<std::uint32_t>(lanes.first_in.size()));
  lanes.first_in.push_back(ins);
  lanes.first_out.push_back(outs);
  const auto [known, fresh] = lane_shape_by_colour_.try_emplace(colour, lane_shapes_.size());
  if (fresh) { lane_shapes_.push_back(std::move(lanes)); }
  lane_shape_of_.push_back(known->second);
  return colour;
}

std::uint32_t BlockLayout::in_port(const Endpoint& to) const {
  const Blocks::Place& place = blocks_.place(to.agent);
  const BlockLanes& lanes = this->lanes(place.block);
  return lanes.first_in[lanes.lane(place.number, to.lane)] + to.port.value;
}

OpenedConnection BlockLayout::open(AgentId from, LaneId lane, PortId port) {
  OpenedConnection opened;
  opened.to = schedule_.target(from, lane, port);
  open(from, lane, port, opened);
  return opened;
}

void BlockLayout::open(AgentId from, LaneId lane, PortId port, OpenedConnection& opened) {
  builder_.clear_connections();
  const ConnectionCost cost =
      builder_.add(route_request(schedule_, placement_, from, lane, port, opened.to.agent),
                   [&](std::span<const LinkId> path) { return costs_.connection(from, opened.to.agent, path); });
  opened.cost = intern(connection_costs_, cost);
  const BlockId block = blocks_.place(from).block;
  opened.inside = blocks_.place(opened.to.agent).block == block && stays_inside(block);
}

bool BlockLayout::stays_inside(BlockId block) const {
  const auto& uses = builder_.opened().graph.uses;
  return std::all_of(uses.begin(), uses.end(), [&](const FlowGraph::Use& use) { return holds(block, use.link); });
}

Colour BlockLayout::look_at(BlockId block) {
  const std::span<const AgentId> agents = blocks_.agents(block);
  const BlockLanes& lanes = this->lanes(block);
  known_.assign(agents.size() * agents.size(), {});
  Colour colour = 0;
  for (std::uint32_t number = 0; number < agents.size(); ++number) {
    const AgentId agent = agents[number];
    for (std::uint32_t lane = lanes.first_lane[number]; lane < lanes.first_lane[number + 1]; ++lane) {
      const LaneId id{lane - lanes.first_lane[number]};
      const std::uint32_t ports = lanes.first_out[lane + 1] - lanes.first_out[lane];
      for (PortId port{0}; port.value < ports; ++port.value) {
        colour = mix(colour, colour_of_port(block, number * agents.size(), {agent, id, port}));
      }
    }
  }
  return colour;
}

/// `first_known`: into `known_`, of its agent.
Colour BlockLayout::colour_of_port(BlockId block, std::size_t first_known, const Endpoint& from) {
  ++connections_;
  OpenedConnection opened;
  opened.to = schedule_.target(from.agent, from.lane, from.port);
  const Blocks::Place& to = blocks_.place(opened.to.agent);
  if (to.block != block || !fixed_inside_) {
    open(from.agent, from.lane, from.port, opened);
    if (!opened.inside) { return add_outward(block, opened); }
    return mix(in_port(opened.to), colour_inside(block, opened.cost));
  }
  Known& known = known_[first_known + to.number];
  if (!known.looked || !known.inside) {
    open(from.agent, from.lane, from.port, opened);
    known = {true, opened.inside, opened.inside ? colour_inside(block, opened.cost) : 0};
    if (!opened.inside) { return add_outward(block, opened); }
  }
  return mix(in_port(opened.to), known.colour);
}

Colour BlockLayout::colour_inside(BlockId block, std::uint32_t cost) const {
  Colour colour = cost;
  for (const FlowGraph::Connection& pair : pairs()) {
    colour = mix(colour, colour_of(pair));
    for (const FlowGraph::Use& use : path(pair)) { colour = mix(colour, colour_of_link(block, use.link)); }
  }
  return colour;
}

Colour BlockLayout::colour_of_link(BlockId block, LinkIndex link) const {
  return mix(number(block, link), static_cast<Colour>(builder_.opened().graph.links[link].rate.count()));
}

Colour BlockLayout::add_outward(BlockId block, const OpenedConnection& opened) {
  enum Where : Colour { between, in_source, in_target };
  const BlockId target = blocks_.place(opened.to.agent).block;
  const auto first_link = static_cast<std::uint32_t>(crossed_.size());
  Colour figures = opened.cost;
  Colour source_side = 3;
  Colour target_side = 4;
  std::uint32_t number = 0;
  for (const FlowGraph::Connection& pair : pairs()) {
    slack_links_.add(path(pair), pair.cap, graph_links());
    figures = mix(figures, colour_of(pair));
    for (const FlowGraph::Use& use : path(pair)) {
      const Where where = holds(block, use.link) ? in_source : holds(target, use.link) ? in_target : between;
      figures = mix(figures, where);
      if (where == in_source) { source_side = mix(source_side, colour_of_link(block, use.link)); }
      if (where == in_target) { target_side = mix(target_side, colour_of_link(target, use.link)); }
      if (where == between) {
        crossed_.push_back(use.link);
        if (placement_.queue_pairs > 1) { crossing_pairs_.push_back(number); }
        transit_ = transit_ || inside_a_node(use.link);
      }
    }
    ++number;
  }
  const std::uint32_t target_in = in_port(opened.to);
  inward_[target.value] += mix(target_in, target_side);
  outward_.push_back({figures_.number(figures), target, target_in, first_link});
  return source_side;
}

bool BlockLayout::inside_a_node(LinkIndex link) const {
  const std::uint32_t node = fabric_.vertex(fabric_.source(links()[link])).node;
  return node != kNoNode && fabric_.vertex(fabric_.target(links()[link])).node == node;
}

void BlockLayout::number_shapes(const std::vector<Colour>& colours) {
  ClassNumbering numbering;
  for (const BlockId block : blocks_.ids()) {
    shape_of_.push_back(numbering.number(colours[block.value]));
    if (shape_of_.back() == first_of_shape_.size()) { first_of_shape_.push_back(block); }
  }
}

}  // namespace athanor
