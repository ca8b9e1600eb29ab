#include "algorithms/patterns/nvls_blocks.hpp"

namespace athanor {

NvlsBlocks::Task NvlsBlocks::task_of(AgentId agent, LaneId lane) const {
  const std::uint32_t channel = lane.value / lanes_per_channel(agent);
  const std::uint32_t j = lane.value % lanes_per_channel(agent);
  if (agent == engine()) { return {channel, Duty::engine, j}; }
  if (j == ranks()) { return {channel, Duty::one, agent.value}; }
  return {channel, Duty::each, after(agent.value, j)};
}

Lane NvlsBlocks::lane(AgentId agent, LaneId lane) const {
  const Task task = task_of(agent, lane);
  const std::uint32_t ports = task.duty == Duty::engine ? ranks() : 1;
  const ProgramId program{3 * cut().shape(task.channel) + static_cast<std::uint32_t>(task.duty)};
  const std::uint32_t in = receives(task.duty) ? (gathers() ? 1 : ports) : 0;
  const std::uint32_t out = sends(task.duty) ? (gathers() ? ports : 1) : 0;
  return {1, cut().loops(task.channel), in, out, program};
}

/// `many_ports`: the engine has a port for each rank on this side, and not one for the owner of the block.
Endpoint NvlsBlocks::other_end(AgentId agent, LaneId lane, PortId port, bool many_ports) const {
  const Task task = task_of(agent, lane);
  const LaneId engines = engine_lane(task.owner, task.channel);
  if (task.duty == Duty::one) { return {engine(), engines, PortId{0}}; }
  if (task.duty == Duty::each) { return {engine(), engines, PortId{distance(task.owner, agent.value)}}; }
  const std::uint32_t rank = after(task.owner, port.value);
  if (many_ports) { return {AgentId{rank}, lane_of(rank, task.owner, task.channel), PortId{0}}; }
  return {AgentId{task.owner}, own_lane(task.channel), PortId{0}};
}

Endpoint NvlsBlocks::target(AgentId agent, LaneId lane, PortId out) const {
  return other_end(agent, lane, out, gathers());
}

Endpoint NvlsBlocks::source(AgentId agent, LaneId lane, PortId in) const {
  return other_end(agent, lane, in, !gathers());
}

Primitive NvlsBlocks::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const {
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

namespace {

Cost cost(const Collective& collective) {
  const bool gathers = collective.kind == CollectiveKind::all_gather;
  return {2, gathers ? block(collective.count, collective.ranks, 0).count : collective.count, Elements::zero()};
}

}  // namespace

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
      .cost_for_many = cost,
  };
}

}  // namespace athanor
