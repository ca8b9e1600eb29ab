#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Every rank is a worker and serves one piece of a loop's chunk. Per channel it has four lanes of P - 1 steps: it
/// pushes to the servers one after the other, beginning with the next rank, so that each server hears from one worker
/// at a time; collects what is pushed to it, into the output; answers the workers in the same order; and pulls.
class ShardedParameterServer final : public VectorSchedule {
 public:
  ShardedParameterServer(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, collective.ranks, slices_as_chunks(layout)) {}

  std::uint32_t lanes(AgentId) const override { return 4 * cut().channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / 4;
    const std::uint32_t outs = sends(lane) ? ranks() - 1 : 0;
    return {ranks() - 1, cut().loops(channel), ranks() - 1 - outs, outs,
            ProgramId{4 * cut().shape(channel) + lane.value % 4}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{after(agent.value, out.value + 1)}, LaneId{lane.value + 1}, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{before(agent.value, in.value + 1)}, LaneId{lane.value - 1}, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Duty duty = duty_of(lane);
    const Piece range = cut().piece(lane.value / 4, loop, server(duty, agent.value, step));
    Primitive primitive = over(range);
    if (sends(lane)) {
      primitive.sends = {step, 1};
    } else {
      primitive.receives = {step, 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    if (duty != Duty::pull) {
      const bool own = duty == Duty::push || (duty == Duty::collect && step == 0);
      primitive.operands[0] = contiguous(own ? Buffer::input : Buffer::output, range.first);
    }
    primitive.finish = duty == Duty::collect && step + 2 == ranks();
    if (duty == Duty::answer && step == 0) {
      primitive.wait = Wait{LaneId{lane.value - 1}, (loop + 1) * (ranks() - 1)};
    }
    return primitive;
  }

 private:
  enum class Duty : std::uint8_t { push, collect, answer, pull };
  static Duty duty_of(LaneId lane) { return static_cast<Duty>(lane.value % 4); }
  static bool sends(LaneId lane) { return lane.value % 2 == 0; }
  /// Whose piece a lane handles.
  std::uint32_t server(Duty duty, std::uint32_t rank, std::uint32_t step) const {
    switch (duty) {
      case Duty::push: return after(rank, step + 1);
      case Duty::pull: return before(rank, step + 1);
      case Duty::collect:
      case Duty::answer: break;
    }
    return rank;
  }
};

/// Rank 0 serves one of the longest pieces.
Cost cost(const Collective& collective) {
  const std::uint32_t others = collective.ranks - 1;
  const Elements own = block(collective.count, collective.ranks, 0).count;
  return {2 * others, collective.count - own + own * others, own * others};
}

}  // namespace

Algorithm parameter_server_sharded_all_reduce() {
  return {
      .name = "parameter_server_sharded",
      .kind = CollectiveKind::all_reduce,
      .summary = "every rank serves one piece; workers push to the servers and pull from them one after the other",
      .formula =
          "2(P-1) alpha + 2 (P-1)/P n beta + n/P gamma: a server adds while the next worker still sends, where adding "
          "a piece is faster than sending it",
      .source = "Li et al., Scaling distributed machine learning with the parameter server, 2014",
      .explanation =
          "Every rank is a worker and the server of one P-th of the vector. A worker pushes its shares to the servers "
          "one after the other, beginning with the next rank, and servers answer in the same order, so that each hears "
          "from one worker at a time.",
      .ranks = "any number of ranks",
      .fabrics =
          "as the ring in traffic and steps, without its order; each pair of ranks talks, so full bisection is needed",
      .make_for_many = make_schedule<ShardedParameterServer>,
      .granule_for_many = granule_of_pieces,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
