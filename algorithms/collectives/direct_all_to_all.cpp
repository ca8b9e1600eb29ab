#include <algorithm>

#include "algorithms/patterns/direct_exchange.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes: lane 0 copies its own block, lane d sends to the rank d places after and then
/// receives from the one d places before. Nothing orders the lanes, so that all messages are sent at once.
class DirectAllToAll final : public BlockSchedule {
 public:
  DirectAllToAll(const Collective& collective, const Layout& layout) : BlockSchedule(collective, 1, layout) {}

  std::uint32_t lanes(AgentId) const override { return cut().channels() * ranks(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / ranks();
    const std::uint32_t ports = lane.value % ranks() == 0 ? 0 : 1;
    return {1 + ports, cut().loops(channel), ports, ports, ProgramId{2 * cut().shape(channel) + ports}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{after(agent.value, lane.value % ranks())}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{before(agent.value, lane.value % ranks())}, lane, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t places = lane.value % ranks();
    const std::uint32_t receiver = step == 0 ? after(agent.value, places) : agent.value;
    const std::uint32_t sender = step == 0 ? agent.value : before(agent.value, places);
    const ElementRange range = cut().part(receiver, lane.value / ranks(), loop);
    Primitive primitive = over(range);
    if (sender == agent.value) {
      primitive.operands[0] = contiguous(Buffer::input, cut().first(receiver) + range.first);
      primitive.sends = {0, places == 0 ? 0U : 1U};
    } else {
      primitive.receives = {0, 1};
    }
    if (receiver == agent.value) {
      primitive.store = contiguous(Buffer::output, cut().length(receiver) * sender + range.first);
    }
    return primitive;
  }

 private:
};

/// Every rank sends all blocks of its input but its own, of which the last is the shortest.
Cost cost_of_all_to_all(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {1, collective.count - last, Elements::zero()};
}

/// Per channel a rank has 2 P - 1 lanes: lane 0 copies its own block, lane 2d-1 sends to the rank d places after and
/// lane 2d receives from the one d places before. A lane loops over its channel's part of its block, as often as that
/// takes.
class DirectAllToAllV final : public RankSchedule {
 public:
  DirectAllToAllV(const Collective& collective, const Layout& layout)
      : RankSchedule(collective), sizes_(*collective.sizes), channels_(layout.channels) {
    const Elements largest = std::max(Elements{1}, sizes_.largest_block());
    chunk_ = std::min(slices_as_chunks(layout).chunk, largest);
  }

  std::uint32_t lanes(AgentId) const override { return channels_ * per_channel(); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent, lane);
    const std::uint32_t out = task.from == agent.value && task.to != agent.value ? 1 : 0;
    const std::uint32_t in = task.from != agent.value ? 1 : 0;
    const auto loops = static_cast<std::uint64_t>(ceil_div(task.count.count(), chunk_.count()));
    return {1, std::max<std::uint64_t>(1, loops), in, out, ProgramId{agent.value * lanes(agent) + lane.value}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{task_of(agent, lane).to}, LaneId{lane.value + 1}, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{task_of(agent, lane).from}, LaneId{lane.value - 1}, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Task task = task_of(agent, lane);
    const Elements done = chunk_ * static_cast<std::int64_t>(loop);
    Primitive primitive;
    primitive.count = std::min(chunk_, task.count - done);
    if (task.from == agent.value) {
      primitive.operands[0] = contiguous(Buffer::input, sizes_.input_offset(task.from, task.to) + task.first + done);
      primitive.sends = {0, task.to == agent.value ? 0U : 1U};
    } else {
      primitive.receives = {0, 1};
    }
    if (task.to == agent.value) {
      primitive.store = contiguous(Buffer::output, sizes_.output_offset(task.from, task.to) + task.first + done);
    }
    return primitive;
  }

  Elements message_limit() const override { return chunk_; }
  Elements shift(Buffer) const override { return chunk_; }

 private:
  /// A channel's part of one block, counted from its first element.
  struct Task {
    std::uint32_t from;
    std::uint32_t to;
    Elements first;
    Elements count;
  };

  std::uint32_t per_channel() const { return 2 * ranks() - 1; }

  Task task_of(AgentId agent, LaneId lane) const {
    const std::uint32_t inside = lane.value % per_channel();
    const std::uint32_t places = (inside + 1) / 2;
    const bool sends = inside % 2 == 1;
    const std::uint32_t other = sends ? after(agent.value, places) : before(agent.value, places);
    const std::uint32_t from = sends ? agent.value : other;
    const std::uint32_t to = sends ? other : agent.value;
    const ElementRange part = block(sizes_.size(from, to), channels_, lane.value / per_channel());
    return {from, to, part.first, part.count};
  }

  const AllToAllVSizes& sizes_;
  std::uint32_t channels_;
  Elements chunk_;
};

Cost cost_of_all_to_all_v(const Collective& collective) {
  const AllToAllVSizes& sizes = *collective.sizes;
  Cost result{1, Elements::zero(), Elements::zero()};
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    result.sent = std::max(result.sent, sizes.input(rank) - sizes.size(rank, rank));
  }
  return result;
}

}  // namespace

Algorithm direct_all_to_all() {
  return {
      .name = "direct",
      .kind = CollectiveKind::all_to_all,
      .summary = "all blocks are sent at once, each by a lane of its own",
      .formula = "alpha + (P-1)/P n beta",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation = "All blocks are sent at once, each by a lane of its own; the network sorts them out.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on fabrics that share fairly; few ranks",
      .make_for_many = make_schedule<DirectAllToAll>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_all_to_all,
  };
}

Algorithm direct_all_to_all_v() {
  return {
      .name = "direct",
      .kind = CollectiveKind::all_to_all_v,
      .summary = "all blocks are sent at once, each by a lane of its own",
      .formula = "alpha + m beta, m what the busiest rank sends or receives",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation = "All blocks, of whatever sizes, are sent at once, each by a lane of its own.",
      .ranks = "any number of ranks and any table of sizes",
      .fabrics = "large payloads on fabrics that share fairly; few ranks",
      .make_for_many = make_schedule<DirectAllToAllV>,
      .cost_for_many = cost_of_all_to_all_v,
      .refuses_many = refuse_all_at_once,
  };
}

}  // namespace athanor
