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
Cost cost(const Collective& collective) {
  return {4, collective.count + block(collective.count, collective.ranks, 0).count, Elements::zero()};
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
      .cost_for_many = cost,
  };
}

}  // namespace athanor
