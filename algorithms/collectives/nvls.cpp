#include <string>

#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// R ranks of one node and the engine in its NVSwitches, agent R. A loop of a channel has one chunk per head, and every
/// rank is the head of one: all ranks send their share of the chunk to the engine, which sends the sum to the head; the
/// head finishes it and sends it to the engine, which sends it to all ranks.
///
/// All of this runs side by side. Per channel a rank has R supply lanes, one head lane and R gather lanes; supply and
/// gather lane j belong to the head j places after the rank. The engine has R lanes that reduce and R that multicast,
/// one per head each, whose port j belongs to the rank j places after the head.
class Nvls final : public VectorSchedule {
 public:
  Nvls(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, collective.ranks, slices_as_chunks(layout)) {}

  AgentCount agent_count() const override { return {ranks(), ranks() + 1}; }
  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * lanes_per_channel(agent); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent, lane);
    const ProgramId program{5 * cut().shape(task.channel) + static_cast<std::uint32_t>(task.duty)};
    const std::uint64_t loops = cut().loops(task.channel);
    switch (task.duty) {
      case Duty::supply: return {1, loops, 0, 1, program};
      case Duty::head: return {1, loops, 1, 1, program};
      case Duty::gather: return {1, loops, 1, 0, program};
      case Duty::reduce: return {1, loops, ranks(), 1, program};
      case Duty::multicast: return {1, loops, 1, ranks(), program};
    }
    return {};
  }

  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Task task = task_of(agent, lane);
    const std::uint32_t head = task.head;
    const std::uint32_t receiver = after(head, out.value);
    switch (task.duty) {
      case Duty::supply: return {engine(), reduce_lane(task.channel, head), PortId{distance(head, agent.value)}};
      case Duty::reduce: return {AgentId{head}, head_lane(task.channel), PortId{0}};
      case Duty::head: return {engine(), multicast_lane(task.channel, head), PortId{0}};
      case Duty::multicast: return {AgentId{receiver}, gather_lane(task.channel, receiver, head), PortId{0}};
      case Duty::gather: break;
    }
    return {};
  }

  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Task task = task_of(agent, lane);
    const std::uint32_t head = task.head;
    const std::uint32_t sender = after(head, in.value);
    switch (task.duty) {
      case Duty::reduce: return {AgentId{sender}, supply_lane(task.channel, sender, head), PortId{0}};
      case Duty::head: return {engine(), reduce_lane(task.channel, head), PortId{0}};
      case Duty::multicast: return {AgentId{head}, head_lane(task.channel), PortId{0}};
      case Duty::gather: return {engine(), multicast_lane(task.channel, head), PortId{distance(head, agent.value)}};
      case Duty::supply: break;
    }
    return {};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Task task = task_of(agent, lane);
    const Piece range = cut().piece(task.channel, loop, task.head);
    Primitive primitive = over(range);
    if (task.duty == Duty::supply) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (task.duty != Duty::supply) { primitive.receives = {0, task.duty == Duty::reduce ? ranks() : 1}; }
    if (task.duty != Duty::gather) { primitive.sends = {0, task.duty == Duty::multicast ? ranks() : 1}; }
    if (task.duty == Duty::gather) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = task.duty == Duty::head;
    return primitive;
  }

 private:
  enum class Duty : std::uint8_t { supply, head, gather, reduce, multicast };
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::supply;
    std::uint32_t head = 0;
  };

  Task task_of(AgentId agent, LaneId lane) const {
    const std::uint32_t channel = lane.value / lanes_per_channel(agent);
    const std::uint32_t j = lane.value % lanes_per_channel(agent);
    const bool first = j < ranks();
    if (agent == engine()) { return {channel, first ? Duty::reduce : Duty::multicast, j % ranks()}; }
    if (first) { return {channel, Duty::supply, after(agent.value, j)}; }
    if (j == ranks()) { return {channel, Duty::head, agent.value}; }
    return {channel, Duty::gather, after(agent.value, j - ranks() - 1)};
  }

  LaneId supply_lane(std::uint32_t channel, std::uint32_t rank, std::uint32_t head) const {
    return LaneId{channel * (2 * ranks() + 1) + distance(rank, head)};
  }
  LaneId head_lane(std::uint32_t channel) const { return LaneId{channel * (2 * ranks() + 1) + ranks()}; }
  LaneId gather_lane(std::uint32_t channel, std::uint32_t rank, std::uint32_t head) const {
    return LaneId{channel * (2 * ranks() + 1) + ranks() + 1 + distance(rank, head)};
  }
  LaneId reduce_lane(std::uint32_t channel, std::uint32_t head) const { return LaneId{channel * 2 * ranks() + head}; }
  LaneId multicast_lane(std::uint32_t channel, std::uint32_t head) const {
    return LaneId{(channel * 2 + 1) * ranks() + head};
  }

  AgentId engine() const { return AgentId{ranks()}; }
  std::uint32_t lanes_per_channel(AgentId agent) const { return 2 * ranks() + (agent == engine() ? 0 : 1); }
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const { return before(to, from); }
};

/// Everyone sends everything once and the sum of its own chunk once; the first chunk is the longest.
Cost cost_of_all_reduce(const Collective& collective) {
  return {4, collective.count + block(collective.count, collective.ranks, 0).count, Elements::zero()};
}

/// R ranks of one node and the engine in its NVSwitches, agent R, for reduce-scatter or all-gather.
///
/// Reduce-scatter: a rank loads its block, and the switches add up what they read from all ranks: every rank has R
/// lanes that supply, lane j the block of the rank j places after, and one that stores the sum of its own; the engine
/// has a lane for each rank's block, whose port j belongs to the rank j places after.
///
/// All-gather: a rank stores its block, and the switches write it to all, to the rank itself, too: every rank has one
/// lane that sends and R that store, lane j the block of the rank j places after; the engine has a lane that
/// multicasts for each rank, whose port j belongs to the rank j places after.
class NvlsBlocks final : public CutSchedule<BlockCut> {
 public:
  NvlsBlocks(const Collective& collective, const Layout& layout)
      : CutSchedule(collective, BlockCut(collective.count, collective.ranks, slices_as_chunks(layout))) {}

  AgentCount agent_count() const override { return {ranks(), ranks() + 1}; }
  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * lanes_per_channel(agent); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent, lane);
    const std::uint32_t ports = task.duty == Duty::engine ? ranks() : 1;
    const ProgramId program{3 * cut().shape(task.channel) + static_cast<std::uint32_t>(task.duty)};
    const std::uint32_t in = receives(task.duty) ? (gathers() ? 1 : ports) : 0;
    const std::uint32_t out = sends(task.duty) ? (gathers() ? ports : 1) : 0;
    return {1, cut().loops(task.channel), in, out, program};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return other_end(agent, lane, out, gathers());
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return other_end(agent, lane, in, !gathers());
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Task task = task_of(agent, lane);
    const Lane shape = this->lane(agent, lane);
    const Piece range = cut().slice(task.owner, task.channel, loop, 0);
    Primitive primitive = over(range);
    primitive.receives = {0, shape.in_ports};
    primitive.sends = {0, shape.out_ports};
    if (task.duty == Duty::engine) { return primitive; }
    const bool of_all = task.duty == Duty::each;
    const Elements first = range.first + (of_all ? cut().first(task.owner) : Elements::zero());
    if (sends(task.duty)) {
      primitive.operands[0] = contiguous(Buffer::input, first);
    } else {
      primitive.store = contiguous(Buffer::output, first);
      primitive.finish = !gathers();
    }
    return primitive;
  }

 private:
  enum class Duty : std::uint8_t { one, each, engine };  ///< of a rank: the lane of its own block; one of the R others
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::one;
    std::uint32_t owner = 0;  ///< of the block
  };

  Task task_of(AgentId agent, LaneId lane) const {
    const std::uint32_t channel = lane.value / lanes_per_channel(agent);
    const std::uint32_t j = lane.value % lanes_per_channel(agent);
    if (agent == engine()) { return {channel, Duty::engine, j}; }
    if (j == ranks()) { return {channel, Duty::one, agent.value}; }
    return {channel, Duty::each, after(agent.value, j)};
  }
  LaneId lane_of(std::uint32_t rank, std::uint32_t owner, std::uint32_t channel) const {
    return LaneId{channel * (ranks() + 1) + distance(rank, owner)};
  }
  LaneId own_lane(std::uint32_t channel) const { return LaneId{channel * (ranks() + 1) + ranks()}; }
  LaneId engine_lane(std::uint32_t owner, std::uint32_t channel) const { return LaneId{channel * ranks() + owner}; }
  /// Does the task receive from the engine, or does the engine receive from many? Else they send.
  bool gathers() const { return collective().kind == CollectiveKind::all_gather; }
  bool receives(Duty duty) const { return gathers() ? duty != Duty::one : duty != Duty::each; }
  bool sends(Duty duty) const { return gathers() ? duty != Duty::each : duty != Duty::one; }
  /// `many_ports`: the engine has a port for each rank on this side, and not one for the owner of the block.
  Endpoint other_end(AgentId agent, LaneId lane, PortId port, bool many_ports) const {
    const Task task = task_of(agent, lane);
    const LaneId engines = engine_lane(task.owner, task.channel);
    if (task.duty == Duty::one) { return {engine(), engines, PortId{0}}; }
    if (task.duty == Duty::each) { return {engine(), engines, PortId{distance(task.owner, agent.value)}}; }
    const std::uint32_t rank = after(task.owner, port.value);
    if (many_ports) { return {AgentId{rank}, lane_of(rank, task.owner, task.channel), PortId{0}}; }
    return {AgentId{task.owner}, own_lane(task.channel), PortId{0}};
  }
  AgentId engine() const { return AgentId{ranks()}; }
  std::uint32_t lanes_per_channel(AgentId agent) const { return ranks() + (agent == engine() ? 0 : 1); }
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const { return before(to, from); }
};

Cost cost_of_blocks(const Collective& collective) {
  const bool gathers = collective.kind == CollectiveKind::all_gather;
  return {2, gathers ? block(collective.count, collective.ranks, 0).count : collective.count, Elements::zero()};
}

Algorithm nvls_blocks_algorithm(CollectiveKind kind) {
  return {
      .name = "nvls",
      .kind = kind,
      .summary = "",
      .engine = Engine::nvswitch,
      .formula =
          "2 alpha + (P+1)/P n beta in one chunk, with many towards n beta; alpha of a hop between a rank and its "
          "switch",
      .source = kind == CollectiveKind::all_gather ? "NCCL, src/device/all_gather.h (NVLS); NVIDIA NVLink SHARP"
                                                   : "NCCL, src/device/reduce_scatter.h (NVLS); NVIDIA NVLink SHARP",
      .explanation = "",
      .ranks = "any number of ranks, all on one NVSwitch node",
      .fabrics = "one node with NVLink SHARP (H100 and later); needs several chunks to overlap its ways up and down",
      .pipelines = true,
      .make_for_many = make_schedule<NvlsBlocks>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_blocks,
  };
}

}  // namespace

Algorithm nvls_all_reduce() {
  return {
      .name = "nvls",
      .kind = CollectiveKind::all_reduce,
      .summary = "the NVSwitches of one node add and multicast; traffic n + n/P per rank and direction",
      .engine = Engine::nvswitch,
      .formula =
          "4 alpha + 2 (P+1)/P n beta in one chunk, with many towards (P+1)/P n beta; alpha of a hop between a rank "
          "and its switch",
      .source = "NCCL, src/device/all_reduce.h (NVLS); NVIDIA NVLink SHARP",
      .explanation =
          "The NVSwitches of a node are an engine. Every rank sends each of P pieces to it; it adds the shares of a "
          "piece and gives the sum to the piece's head, rank h for piece h, which sends it back to be multicast to "
          "all. A rank sends the payload once, not twice as in a ring.",
      .ranks = "any number of ranks, all on one NVSwitch node",
      .fabrics = "one node with NVLink SHARP (H100 and later); needs several chunks to overlap its ways up and down",
      .pipelines = true,
      .make_for_many = make_schedule<Nvls>,
      .granule_for_many = granule_of_pieces,
      .cost_for_many = cost_of_all_reduce,
  };
}

Algorithm nvls_reduce_scatter() {
  Algorithm algorithm = nvls_blocks_algorithm(CollectiveKind::reduce_scatter);
  algorithm.summary =
      "the NVSwitches of one node add up each rank's block as it loads it; a rank sends n, receives n/P";
  algorithm.explanation =
      "Every rank loads its block from all ranks at once, and the NVSwitches add up what they read. A rank gives away "
      "the payload and receives 1/P of it, where it receives all but 1/P in a ring, and adds nothing itself. It has "
      "fewer steps than a ring and leaves the way in free, but no more bandwidth.";
  return algorithm;
}

Algorithm nvls_all_gather() {
  Algorithm algorithm = nvls_blocks_algorithm(CollectiveKind::all_gather);
  algorithm.summary = "the NVSwitches of one node multicast every rank's block; a rank sends n/P and receives n";
  algorithm.explanation =
      "Every rank sends its block once to the NVSwitches, which write it to all ranks, to the rank itself, too. A rank "
      "sends 1/P of the payload, where it sends all but 1/P in a ring, and receives all of it, where a ring spares it "
      "its own block. So it has fewer steps than a ring and leaves the way out free, but no more bandwidth.";
  return algorithm;
}

}  // namespace athanor
