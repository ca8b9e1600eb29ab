#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// A head's share of a channel's loop: a piece of the vector, or a part of the head's block, and where it begins in the
/// buffers that hold all blocks.
struct HeadShare {
  ElementRange own;
  Elements among_all;
};
HeadShare share_of(const VectorCut& cut, std::uint32_t head, std::uint32_t channel, std::uint64_t loop) {
  const ElementRange range = cut.piece(channel, loop, head);
  return {range, range.first};
}
HeadShare share_of(const BlockCut& cut, std::uint32_t head, std::uint32_t channel, std::uint64_t loop) {
  const ElementRange range = cut.slice(head, channel, loop, 0);
  return {range, cut.first(head) + range.first};
}

/// R ranks of one node and the engine in its NVSwitches, agent R. Every rank is the head of one share of a loop. All
/// ranks send theirs of it to the engine, which sends the sum to the head; the head finishes it, and sends it to the
/// engine, which sends it to all ranks. A reduce-scatter ends with the heads, whose output it is; an all-gather begins
/// with them, and their input.
///
/// All of this runs side by side. Per channel a rank has R lanes that supply, one as a head and R that gather; a
/// reduce-scatter has none that gather, an all-gather none that supply, and its head's lane comes last. Supply and
/// gather lane j belong to the head j places after the rank. The engine has R lanes that reduce and R that multicast,
/// one per head each, whose port j belongs to the rank j places after the head.
template <class Cut>
class NvlsSchedule final : public CutSchedule<Cut> {
  using Base = CutSchedule<Cut>;
  using Base::after, Base::before, Base::collective, Base::cut, Base::ranks;

 public:
  NvlsSchedule(const Collective& request, const Cut& shares)
      : Base(request, shares),
        reduces_(request.kind != CollectiveKind::all_gather),
        gathers_(request.kind != CollectiveKind::reduce_scatter) {}

  AgentCount agent_count() const override { return {ranks(), ranks() + 1}; }
  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * lanes_per_channel(agent); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent, lane);
    return {1, cut().loops(task.channel), in_ports(task.duty), out_ports(task.duty),
            ProgramId{5 * cut().shape(task.channel) + static_cast<std::uint32_t>(task.duty)}};
  }

  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Task task = task_of(agent, lane);
    const std::uint32_t receiver = after(task.head, out.value);
    switch (task.duty) {
      case Duty::supply: return {engine(), at_engine(task, false), PortId{before(agent.value, task.head)}};
      case Duty::reduce: return {AgentId{task.head}, at_head(task), PortId{0}};
      case Duty::head: return {engine(), at_engine(task, true), PortId{0}};
      case Duty::multicast: return {AgentId{receiver}, at_rank(task, receiver, true), PortId{0}};
      case Duty::gather: break;
    }
    return {};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Task task = task_of(agent, lane);
    const std::uint32_t sender = after(task.head, in.value);
    switch (task.duty) {
      case Duty::reduce: return {AgentId{sender}, at_rank(task, sender, false), PortId{0}};
      case Duty::head: return {engine(), at_engine(task, false), PortId{0}};
      case Duty::multicast: return {AgentId{task.head}, at_head(task), PortId{0}};
      case Duty::gather: return {engine(), at_engine(task, true), PortId{before(agent.value, task.head)}};
      case Duty::supply: break;
    }
    return {};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Task task = task_of(agent, lane);
    const HeadShare share = share_of(cut(), task.head, task.channel, loop);
    Primitive primitive = Base::over(share.own);
    primitive.receives = {0, in_ports(task.duty)};
    primitive.sends = {0, out_ports(task.duty)};
    const bool head = task.duty == Duty::head;
    if (task.duty == Duty::supply) { primitive.operands[0] = contiguous(Buffer::input, share.among_all); }
    if (task.duty == Duty::gather) { primitive.store = contiguous(Buffer::output, share.among_all); }
    if (head && !reduces_) { primitive.operands[0] = contiguous(Buffer::input, share.own.first); }
    if (head && !gathers_) { primitive.store = contiguous(Buffer::output, share.own.first); }
    primitive.finish = head && reduces_;
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
    const bool to_head = reduces_ && j < ranks();
    if (agent == engine()) { return {channel, to_head ? Duty::reduce : Duty::multicast, j % ranks()}; }
    if (j == ranks()) { return {channel, Duty::head, agent.value}; }
    return {channel, to_head ? Duty::supply : Duty::gather, after(agent.value, j % (ranks() + 1))};
  }
  std::uint32_t in_ports(Duty duty) const {
    if (duty == Duty::supply || (duty == Duty::head && !reduces_)) { return 0; }
    return duty == Duty::reduce ? ranks() : 1;
  }
  std::uint32_t out_ports(Duty duty) const {
    if (duty == Duty::gather || (duty == Duty::head && !gathers_)) { return 0; }
    return duty == Duty::multicast ? ranks() : 1;
  }

  bool does_both() const { return reduces_ && gathers_; }
  std::uint32_t lanes_per_channel(AgentId agent) const {
    return (does_both() ? 2 : 1) * ranks() + (agent == engine() ? 0 : 1);
  }
  LaneId at_rank(const Task& task, std::uint32_t rank, bool gathers) const {
    const std::uint32_t first = gathers && does_both() ? ranks() + 1 : 0;
    return LaneId{task.channel * lanes_per_channel(AgentId{rank}) + first + before(task.head, rank)};
  }
  LaneId at_head(const Task& task) const {
    return LaneId{task.channel * lanes_per_channel(AgentId{task.head}) + ranks()};
  }
  LaneId at_engine(const Task& task, bool multicasts) const {
    const std::uint32_t first = multicasts && does_both() ? ranks() : 0;
    return LaneId{task.channel * lanes_per_channel(engine()) + first + task.head};
  }
  AgentId engine() const { return AgentId{ranks()}; }

  bool reduces_;
  bool gathers_;
};

std::unique_ptr<const Schedule> make_all_reduce(const Collective& collective, const Layout& layout) {
  return std::make_unique<NvlsSchedule<VectorCut>>(
      collective, VectorCut(collective.count, collective.ranks, slices_as_chunks(layout)));
}

std::unique_ptr<const Schedule> make_blocks(const Collective& collective, const Layout& layout) {
  return std::make_unique<NvlsSchedule<BlockCut>>(
      collective, BlockCut(collective.count, collective.ranks, slices_as_chunks(layout)));
}

/// Everyone sends everything once and the sum of its own chunk once; the first chunk is the longest.
Cost cost_of_all_reduce(const Collective& collective) {
  return {4, collective.count + block(collective.count, collective.ranks, 0).count, Elements::zero()};
}

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
      .make_for_many = make_blocks,
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
      .make_for_many = make_all_reduce,
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
