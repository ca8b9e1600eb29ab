#include "models/execution/block_folding.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/execution/block_classes.hpp"
#include "models/execution/block_graph.hpp"
#include "models/execution/block_layout.hpp"
#include "models/execution/layout_parts.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Builds the quotient of what BlockClasses tells.
class BlockFolding {
 public:
  BlockFolding(BlockLayout& layout, const std::vector<BlockGraph>& graphs, const BlockClasses& classes,
               const Schedule& schedule)
      : layout_(layout), graphs_(graphs), classes_(classes), schedule_(schedule) {
    for (std::uint32_t shape = 0; shape < graphs.size(); ++shape) { inside_.emplace_back(classes.inside(shape)); }
    for (const BlockId block : layout.blocks().ids()) {
      if (classes.of_block(block) == examples_.size()) {
        examples_.push_back(block);
        members_.push_back(0);
      }
      ++members_[classes.of_block(block)];
    }
    count_links();
  }

  MappedSchedule fold() {
    folded_.network.queue_pairs = graphs_.front().graph.network.queue_pairs;
    folded_.agent_costs = layout_.agent_costs();
    for (std::uint32_t number = 0; number < examples_.size(); ++number) { add_lanes(number); }
    count_slack_crossings();
    folded_.in_connections.assign(in_classes_.size(), ConnectionId{UINT32_MAX});
    for (const ConnectionId connection : outs_.ids()) { add_connection(connection); }
    for (const ConnectionId each : folded_.in_connections) {
      require(each.value != UINT32_MAX, "an in-port of a class of lanes that nothing enters");
    }
    folded_.connection_costs = layout_.costs();
    add_all_lanes();
    add_all_links();
    return std::move(folded_);
  }

  /// Of what fold() has returned.
  const MemberCounts& members() const { return counts_; }

 private:
  struct Inside {
    ClassMembers lanes;
    ClassMembers connections;
    ClassMembers links;

    explicit Inside(const EqualClasses& classes)
        : lanes(classes.lanes), connections(classes.connections), links(classes.links) {}
  };
  /// A connection of the quotient: in which class of blocks it begins, and as which connection of their graph.
  struct Out {
    std::uint32_t blocks = 0;
    ConnectionId inside;
  };
  /// Where a connection ends, in the quotient.
  struct End {
    LaneIndex lane;
    std::uint32_t port = 0;
    std::uint32_t connection_class = 0;  ///< in the graph of the block in which it ends
  };

  std::uint32_t shape(std::uint32_t blocks) const { return layout_.shape(examples_[blocks]); }
  const MappedSchedule& graph(std::uint32_t blocks) const { return graphs_[shape(blocks)].graph; }
  const Inside& inside(std::uint32_t blocks) const { return inside_[shape(blocks)]; }

  void count_links() {
    for (const LinkIndex link : classes_.between()) { ++members_of_links_[classes_.of_link(link)]; }
  }

  void add_lanes(std::uint32_t blocks) {
    first_lane_.push_back(folded_.lanes.next().value);
    const BlockId block = examples_[blocks];
    for (const std::uint32_t member : inside(blocks).lanes.member) {
      counts_.lanes.push_back(members_[blocks] * inside(blocks).lanes.members[inside(blocks).lanes.of[member]]);
      MappedSchedule::Lane lane = graph(blocks).lanes[LaneIndex{member}];
      lane.agent = layout_.blocks().agents(block)[layout_.blocks().place(lane.agent).number];
      add_lane(blocks, lane);
    }
  }

  /// With a port for each that is told apart.
  void add_lane(std::uint32_t blocks, MappedSchedule::Lane lane) {
    const auto classes = [&](ConnectionId connection) { return inside(blocks).connections.of[connection.value]; };
    const auto first_in = static_cast<std::uint32_t>(in_classes_.size());
    const ConnectionId first_out = outs_.next();
    for (std::uint32_t port = 0; port < lane.in_ports; ++port) {
      const std::uint32_t number = classes(graph(blocks).in_connections[lane.first_in + port]);
      const bool known = std::find(in_classes_.begin() + first_in, in_classes_.end(), number) != in_classes_.end();
      if (!lane.symmetric_inputs || !known) { in_classes_.push_back(number); }
    }
    std::vector<std::uint32_t> seen;
    for (std::uint32_t port = 0; port < lane.out_ports; ++port) {
      const ConnectionId connection{lane.first_out.value + port};
      const bool known = std::find(seen.begin(), seen.end(), classes(connection)) != seen.end();
      if (lane.symmetric_outputs && known) { continue; }
      seen.push_back(classes(connection));
      outs_.push_back({blocks, connection});
    }
    lane.first_in = first_in;
    lane.in_ports = static_cast<std::uint32_t>(in_classes_.size()) - first_in;
    lane.first_out = first_out;
    lane.out_ports = outs_.next().value - first_out.value;
    folded_.lanes.push_back(lane);
  }

  void add_connection(ConnectionId number) {
    const Out out = outs_[number];
    const MappedSchedule::Connection& own = graph(out.blocks).connections[out.inside];
    const BlockId block = examples_[out.blocks];
    const std::uint32_t members = members_[out.blocks] * inside(out.blocks).connections.members[class_of(out)];
    const MappedSchedule::Lane& from = graph(out.blocks).lanes[own.source_lane];
    const AgentId agent = layout_.blocks().agents(block)[layout_.blocks().place(from.agent).number];
    const OpenedConnection opened = layout_.open(agent, from.lane, PortId{out.inside.value - from.first_out.value});
    const BlockId target = layout_.blocks().place(opened.to.agent).block;
    const End end = end_of(target, layout_.in_port(opened.to));
    const std::uint32_t entering = members_[classes_.of_block(target)] *
                                   inside(classes_.of_block(target)).connections.members[end.connection_class];
    require(members == entering, "{} connections leave blocks of a class and {} of them arrive", members, entering);
    folded_.in_connections[folded_.lanes[end.lane].first_in + end.port] = number;
    folded_.connections.push_back({folded_lane(out.blocks, own.source_lane), end.lane, end.port, opened.cost});
    counts_.connections.push_back(members);
    std::size_t pair_number = std::size_t{number.value} * folded_.network.queue_pairs;
    for (const FlowGraph::Connection& pair : layout_.pairs()) {
      add_pair(pair, block, target, members);
      add_slack_uses(slack_crossings_[pair_number++]);
    }
  }

  /// Members of one class may cross slack links of different classes.
  void count_slack_crossings() {
    slack_crossings_.resize(outs_.size() * folded_.network.queue_pairs);
    const std::vector<std::vector<ConnectionId>> numbers = numbers_of_outs();
    for (const BlockId block : layout_.blocks().ids()) {
      const std::uint32_t blocks = classes_.of_block(block);
      std::size_t i = 0;
      for (const OutwardConnection& connection : layout_.outward(block)) {
        const Out out{blocks, graphs_[shape(blocks)].outward[i++]};
        const std::size_t first = std::size_t{numbers[blocks][class_of(out)].value} * folded_.network.queue_pairs;
        for (const LinkIndex& link : layout_.crossed_by(connection)) {
          if (layout_.is_slack(link)) {
            count_crossing(slack_crossings_[first + layout_.pair_on(link)], folded_link_between(link).value, 1);
          }
        }
      }
    }
  }

  /// By class of blocks and class of connections inside of it.
  std::vector<std::vector<ConnectionId>> numbers_of_outs() const {
    std::vector<std::vector<ConnectionId>> numbers(examples_.size());
    for (std::uint32_t blocks = 0; blocks < numbers.size(); ++blocks) {
      numbers[blocks].resize(inside(blocks).connections.member.size());
    }
    for (const ConnectionId number : outs_.ids()) { numbers[outs_[number].blocks][class_of(outs_[number])] = number; }
    return numbers;
  }

  /// To the pair that was added last.
  void add_slack_uses(const LinkCrossings& crossed) {
    folded_.network.graph.connections.back().beside = static_cast<std::uint32_t>(crossed.size());
    for (const auto& [link, crossings] : crossed) { add_use(LinkIndex{link}, crossings); }
  }

  std::uint32_t class_of(const Out& out) const { return inside(out.blocks).connections.of[out.inside.value]; }

  LaneIndex folded_lane(std::uint32_t blocks, LaneIndex lane) const {
    return LaneIndex{first_lane_[blocks] + inside(blocks).lanes.of[lane.value]};
  }

  End end_of(BlockId target, std::uint32_t in_port) const {
    const std::uint32_t blocks = classes_.of_block(target);
    const ConnectionId entering = graph(blocks).in_connections[in_port];
    const MappedSchedule::Connection& connection = graph(blocks).connections[entering];
    End end{folded_lane(blocks, connection.target_lane), connection.target_port,
            inside(blocks).connections.of[entering.value]};
    const MappedSchedule::Lane& lane = folded_.lanes[end.lane];
    if (!lane.symmetric_inputs) { return end; }
    const auto first = in_classes_.begin() + lane.first_in;
    const auto found = std::find(first, first + lane.in_ports, end.connection_class);
    require(found != first + lane.in_ports, "no in-port of class {} in the class of its lane", end.connection_class);
    end.port = static_cast<std::uint32_t>(found - first);
    return end;
  }

  void add_pair(FlowGraph::Connection pair, BlockId source, BlockId target, std::uint32_t members) {
    std::vector<std::pair<LinkIndex, std::uint32_t>> crossed;  // classes of links, and how many of them on the path
    for (const FlowGraph::Use& use : layout_.path(pair)) {
      const LinkIndex link = folded_link(use.link, source, target);
      const auto known =
          std::find_if(crossed.begin(), crossed.end(), [&](const auto& each) { return each.first == link; });
      if (known == crossed.end()) {
        crossed.emplace_back(link, 1);
      } else {
        ++known->second;
      }
    }
    pair.first_use = static_cast<std::uint32_t>(folded_.network.graph.uses.size());
    pair.uses = static_cast<std::uint32_t>(crossed.size());
    for (const auto& [link, times] : crossed) {
      const bool is_slack = folded_.network.graph.links[link].slack;
      add_use(link, is_slack ? 0 : std::uint64_t{members} * times);
    }
    folded_.network.graph.connections.push_back(pair);
  }

  void add_use(LinkIndex link, std::uint64_t crossings) {
    const std::uint32_t links = folded_.network.link_members[link];
    require(crossings % links == 0, "{} crossings of {} equal links are not spread evenly", crossings, links);
    folded_.network.graph.uses.push_back({link, static_cast<std::uint32_t>(crossings / links)});
  }

  /// Classes of links get their numbers when they are first crossed.
  LinkIndex folded_link(LinkIndex link, BlockId source, BlockId target) {
    for (const BlockId block : {source, target}) {
      if (!layout_.holds(block, link)) { continue; }
      const std::uint32_t blocks = classes_.of_block(block);
      const std::uint32_t number = class_in_block(blocks, layout_.number(block, link));
      return numbered(links_inside_[{blocks, number}], link, members_[blocks] * inside(blocks).links.members[number]);
    }
    return folded_link_between(link);
  }

  LinkIndex folded_link_between(LinkIndex link) {
    const std::uint32_t number = classes_.of_link(link);
    const LinkIndex folded = numbered(links_between_[number], link, members_of_links_.at(number));
    folded_.network.graph.links[folded].slack = layout_.is_slack(link);
    return folded;
  }

  std::uint32_t class_in_block(std::uint32_t blocks, std::uint32_t link) const {
    return inside(blocks).links.of[graphs_[shape(blocks)].link_of.at(link)];
  }

  LinkIndex numbered(std::optional<LinkIndex>& known, LinkIndex link, std::uint32_t members) {
    if (!known) {
      known = folded_.network.links.push_back(layout_.links()[link]);
      folded_.network.link_members.push_back(members);
      folded_.network.graph.links.push_back(layout_.graph_links()[link]);
    }
    return *known;
  }

  void add_all_lanes() {
    const std::uint32_t agents = schedule_.agent_count().agents;
    for (AgentId agent{0}; agent.value < agents; ++agent.value) {
      folded_.first_lane.push_back(static_cast<std::uint32_t>(folded_.lane_of.size()));
      const Blocks::Place& place = layout_.blocks().place(agent);
      const BlockLanes& lanes = layout_.lanes(place.block);
      const std::uint32_t blocks = classes_.of_block(place.block);
      for (std::uint32_t i = lanes.first_lane[place.number]; i < lanes.first_lane[place.number + 1]; ++i) {
        folded_.lane_of.push_back(folded_lane(blocks, LaneIndex{i}));
      }
    }
  }

  void add_all_links() {
    const auto add = [&](LinkId link, const std::optional<LinkIndex>& folded) {
      require(folded.has_value(), "a link that is crossed and that no connection of the quotient crosses");
      folded_.network.all_links.push_back(link);
      folded_.network.class_of_link.push_back(*folded);
    };
    for (const BlockId block : layout_.blocks().ids()) {
      const std::uint32_t blocks = classes_.of_block(block);
      for (const std::uint32_t number : graphs_[shape(blocks)].links) {
        add(layout_.blocks().link(block, number), links_inside_[{blocks, class_in_block(blocks, number)}]);
      }
    }
    for (const LinkIndex link : classes_.between()) {
      add(layout_.links()[link], links_between_[classes_.of_link(link)]);
    }
  }

  BlockLayout& layout_;
  const std::vector<BlockGraph>& graphs_;
  const BlockClasses& classes_;
  const Schedule& schedule_;
  std::vector<Inside> inside_;                                       ///< by shape
  std::vector<BlockId> examples_;                                    ///< by class of blocks
  std::vector<std::uint32_t> members_;                               ///< likewise
  std::map<std::uint32_t, std::uint32_t> members_of_links_;          ///< by class of these
  std::map<std::uint32_t, std::optional<LinkIndex>> links_between_;  ///< likewise
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<LinkIndex>>
      links_inside_;                            ///< by class of blocks and of links in them
  std::vector<std::uint32_t> first_lane_;       ///< by class of blocks: in the quotient
  std::vector<std::uint32_t> in_classes_;       ///< by in-port of the quotient, in the graph of its block
  IdVector<ConnectionId, Out> outs_;            ///< by connection of the quotient
  std::vector<LinkCrossings> slack_crossings_;  ///< by queue pair of these
  MappedSchedule folded_;
  MemberCounts counts_;
};

/// Of lanes that a class of blocks stands for as against those in all.
bool worthwhile(const BlockLayout& layout) {
  const bool few_shapes = std::uint64_t{2} * layout.shapes() <= layout.blocks().count();
  return few_shapes && !layout.has_transit();
}

}  // namespace

std::optional<MappedSchedule> fold_by_blocks(const Schedule& schedule, const Cluster& cluster,
                                             const Placement& placement, const CostModel& costs, bool in_calls) {
  constexpr std::uint64_t kLooks = 64;  // at a connection: laying it out and refining the whole costs more
  require(placement.vertices.size() == schedule.agent_count().agents, "{} places for {} agents",
          placement.vertices.size(), schedule.agent_count().agents);
  std::optional<Blocks> blocks = Blocks::find(*cluster.fabric, placement);
  if (!blocks || cluster.router->paths() > 1) { return {}; }
  BlockLayout layout(schedule, cluster, placement, costs, std::move(*blocks));
  if (!worthwhile(layout)) { return {}; }
  std::vector<BlockGraph> graphs;
  LikePorts like(schedule);
  for (std::uint32_t shape = 0; shape < layout.shapes(); ++shape) {
    graphs.push_back(block_graph(layout, shape, schedule, like, in_calls));
  }
  BlockClasses classes(layout, graphs, schedule);
  if (!classes.refine(kLooks * layout.connections())) { return {}; }
  BlockFolding folding(layout, graphs, classes, schedule);
  MappedSchedule folded = folding.fold();
  folded.in_calls = in_calls;
  if (in_calls) { return folded; }
  return fold_further(folded, schedule, folding.members());
}

}  // namespace athanor
