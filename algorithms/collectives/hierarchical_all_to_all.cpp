#include <algorithm>

#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// N nodes of G ranks each; all are one node where the layout names no group.
struct Nodes {
  Nodes(const Collective& collective, const Layout& layout)
      : size(layout.group == 0 ? collective.ranks : layout.group), count(collective.ranks / size) {}

  std::uint32_t size;
  std::uint32_t count;
};

/// First inside the node: a rank gives the one at place i all blocks for the ranks at place i of every node. Then
/// across: it gives the rank at its own place of another node what its node has for that. In round s of each phase it
/// sends s places on and receives from s places back: out-port and in-port s-1 inside, G-1 + s-1 across. Scratch holds
/// the blocks by the place of their sender, then by the node of their receiver.
class HierarchicalAllToAll final : public BlockSchedule {
 public:
  HierarchicalAllToAll(const Collective& collective, const Layout& layout)
      : HierarchicalAllToAll(collective, layout, Nodes(collective, layout)) {}
  HierarchicalAllToAll(const Collective& collective, const Layout& layout, const Nodes& nodes)
      : BlockSchedule(collective, std::max(nodes.size, nodes.count), layout), nodes_(nodes) {}

  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t ports = nodes_.size - 1 + nodes_.count - 1;
    return {2 * ports + 2, cut().loops(lane.value), ports, ports, ProgramId{cut().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = BlockSchedule::memory(agent);
    memory.scratch = cut().widest() * ranks() * cut().channels();
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{peer(agent.value, out, true)}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{peer(agent.value, in, false)}, lane, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t me = agent.value;
    const Part part{lane.value, loop};
    const std::uint32_t inside = 2 * nodes_.size - 1;
    const bool across = step >= inside;
    const std::uint32_t half = across ? step - inside : step;
    const std::uint32_t port = (half + 1) / 2 - 1 + (across ? nodes_.size - 1 : 0);
    const bool local = half == 0;
    const bool sends = half % 2 == 1;
    const std::uint32_t other = local ? me : peer(me, PortId{port}, sends);
    Primitive primitive =
        across ? between(me, other, part, local || sends, !sends) : within(me, other, part, local || sends, !sends);
    if (!local) { (sends ? primitive.sends : primitive.receives) = {port, 1}; }
    return primitive;
  }

  Elements message_limit() const override { return cut().widest() * std::max(nodes_.size, nodes_.count); }
  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 private:
  struct Part {
    std::uint32_t channel;
    std::uint64_t loop;
  };

  std::uint32_t peer(std::uint32_t rank, PortId port, bool after) const {
    const std::uint32_t node = rank / nodes_.size;
    const std::uint32_t place = rank % nodes_.size;
    if (port.value < nodes_.size - 1) {
      const std::uint32_t places = port.value + 1;
      return node * nodes_.size + (place + (after ? places : nodes_.size - places)) % nodes_.size;
    }
    const std::uint32_t far = port.value - (nodes_.size - 1) + 1;
    return (node + (after ? far : nodes_.count - far)) % nodes_.count * nodes_.size + place;
  }

  /// The block of the sender at a place of this node for the rank at this rank's place of a node.
  Cells scratch(const Part& part, std::uint32_t place, std::uint32_t node) const {
    const Elements width = cut().width(part.channel, part.loop);
    const Elements begin = cut().widest() * ranks() * part.channel;
    return {Buffer::scratch, begin + width * (place * nodes_.count + node), width, width * nodes_.count};
  }

  /// All blocks for one place, of which those that this rank gets are sent by `other`.
  Primitive within(std::uint32_t me, std::uint32_t other, const Part& part, bool reads, bool stores) const {
    const std::uint32_t place = (stores ? me : other) % nodes_.size;
    Primitive primitive;
    for (std::uint32_t node = 0; node < nodes_.count; ++node) {
      primitive.count += cut().part(node * nodes_.size + place, part.channel, part.loop).count;
    }
    if (reads) {
      Cells cells = cut().cells(Buffer::input, place, part.channel, part.loop);
      cells.stride = cells.stride * nodes_.size;
      primitive.operands[0] = cells;
    }
    if (stores) { primitive.store = contiguous(Buffer::scratch, scratch(part, other % nodes_.size, 0).first); }
    return primitive;
  }

  /// All blocks of one node for one rank.
  Primitive between(std::uint32_t me, std::uint32_t other, const Part& part, bool reads, bool stores) const {
    const std::uint32_t receiver = stores ? me : other;
    const ElementRange range = cut().part(receiver, part.channel, part.loop);
    Primitive primitive;
    primitive.count = range.count * nodes_.size;
    if (reads) {
      Cells cells = scratch(part, 0, receiver / nodes_.size);
      cells.run = range.count;
      primitive.operands[0] = cells;
    }
    if (stores) {
      const Elements length = cut().length(me);
      const std::uint32_t sender = other / nodes_.size * nodes_.size;
      primitive.store = Cells{Buffer::output, length * sender + range.first, range.count, length};
    }
    return primitive;
  }

  Nodes nodes_;
};

/// In both phases a rank sends the blocks of all places or nodes but its own: those of the last are the shortest.
Cost cost(const Collective& collective, const Layout& layout) {
  const Nodes nodes(collective, layout);
  Cost result{nodes.size - 1 + nodes.count - 1, Elements::zero(), Elements::zero()};
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    Elements sent = collective.count;
    for (std::uint32_t node = 0; node < nodes.count; ++node) {
      const Elements other = block(collective.count, collective.ranks, node * nodes.size + rank % nodes.size).count;
      sent -= other;
      if (node != rank / nodes.size) { sent += other * nodes.size; }
    }
    result.sent = std::max(result.sent, sent);
  }
  return result;
}

}  // namespace

Algorithm hierarchical_all_to_all() {
  return {
      .name = "hierarchical",
      .kind = CollectiveKind::all_to_all,
      .summary = "inside the node to the rank of the receiver's place, then across to it in fewer, larger messages",
      .formula = "(G-1) alpha + (G-1)/G n beta inside nodes of G, (N-1) alpha + (N-1)/N n beta across N nodes",
      .source =
          "NCCL (PXN: traffic for another rail goes by the GPU on that rail); Traeff and Hunold, Decomposing MPI "
          "collectives for exploiting multi-lane communication, 2020",
      .explanation =
          "First inside the node: a rank hands the one at place i of the node all its blocks for ranks at place i "
          "elsewhere. Then across: it sends the rank of its own place of each other node what its node has for that. "
          "Fewer and larger messages between nodes, over one rail each.",
      .ranks = "any number of ranks that groups divide evenly",
      .fabrics = "nodes with a fast inside and one NIC per GPU (rail-optimized)",
      .make_for_many = make_schedule<HierarchicalAllToAll>,
      .granule_for_many = granule_of_blocks,
      .cost_in_shape = cost,
  };
}

}  // namespace athanor
