#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// One server and its workers. Per channel the server has one lane whose port j belongs to worker j; it adds all inputs
/// of a chunk and answers everyone. A worker has one lane that pushes and one that pulls, so that a chunk is pushed
/// while the answer to an earlier one is still awaited.
class ParameterServer final : public VectorSchedule {
 public:
  enum class Host : std::uint8_t {
    rank,  ///< rank 0 serves, and adds its own input
    own,   ///< the server is an agent beyond the ranks, and has no input
  };

  ParameterServer(const Collective& collective, const Layout& layout, Host host)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)), host_(host) {}

  AgentCount agent_count() const override { return {ranks(), workers() + 1}; }
  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * (serves(agent) ? 1 : 2); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t channel = channel_of(agent, lane);
    const std::uint32_t first = 3 * cut().shape(channel);
    if (serves(agent)) { return {1, cut().loops(channel), workers(), workers(), ProgramId{first}}; }
    if (pushes(lane)) { return {1, cut().loops(channel), 0, 1, ProgramId{first + 1}}; }
    return {1, cut().loops(channel), 1, 0, ProgramId{first + 2}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    if (serves(agent)) { return {worker(out.value), LaneId{2 * lane.value + 1}, PortId{0}}; }
    return {server(), LaneId{lane.value / 2}, port(agent)};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    if (serves(agent)) { return {worker(in.value), LaneId{2 * lane.value}, PortId{0}}; }
    return {server(), LaneId{lane.value / 2}, port(agent)};
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const ElementRange range = cut().piece(channel_of(agent, lane), loop, 0);
    const bool serves = this->serves(agent);
    const bool has_buffers = !serves || is_worker();
    Primitive primitive = over(range);
    if (serves || pushes(lane)) {
      if (has_buffers) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
      primitive.sends = {0, serves ? workers() : 1};
    }
    if (serves || !pushes(lane)) {
      primitive.receives = {0, serves ? workers() : 1};
      if (has_buffers) { primitive.store = contiguous(Buffer::output, range.first); }
    }
    primitive.finish = serves;
    return primitive;
  }

 private:
  bool is_worker() const { return host_ == Host::rank; }
  AgentId server() const { return AgentId{is_worker() ? 0 : ranks()}; }
  std::uint32_t workers() const { return ranks() - (is_worker() ? 1 : 0); }
  AgentId worker(std::uint32_t port) const { return AgentId{port + (is_worker() ? 1 : 0)}; }
  PortId port(AgentId worker) const { return PortId{worker.value - (is_worker() ? 1 : 0)}; }
  bool serves(AgentId agent) const { return agent == server(); }
  static bool pushes(LaneId lane) { return lane.value % 2 == 0; }
  std::uint32_t channel_of(AgentId agent, LaneId lane) const { return serves(agent) ? lane.value : lane.value / 2; }

  Host host_;
};

std::unique_ptr<const Schedule> make_rank(const Collective& collective, const Layout& layout) {
  return std::make_unique<ParameterServer>(collective, layout, ParameterServer::Host::rank);
}

Cost cost_of_rank(const Collective& collective) {
  const Elements served = collective.count * (collective.ranks - 1);
  return {2, served, served};
}

std::unique_ptr<const Schedule> make_dedicated(const Collective& collective, const Layout& layout) {
  return std::make_unique<ParameterServer>(collective, layout, ParameterServer::Host::own);
}

/// The server adds, not the ranks; but its answers are P messages, one after the other where it has one port.
Cost cost_of_dedicated(const Collective& collective) { return {2, collective.count, Elements::zero()}; }

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
    const ElementRange range = cut().piece(lane.value / 4, loop, server(duty, agent.value, step));
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
Cost cost_of_sharded(const Collective& collective) {
  const std::uint32_t others = collective.ranks - 1;
  const Elements own = block(collective.count, collective.ranks, 0).count;
  return {2 * others, collective.count - own + own * others, own * others};
}

}  // namespace

Algorithm parameter_server_all_reduce() {
  return {
      .name = "parameter_server",
      .kind = CollectiveKind::all_reduce,
      .summary = "rank 0, a worker itself, adds up what all others send and answers them; its link carries all twice",
      .formula =
          "2 alpha + 2 (P-1) n beta + (P-1) n gamma; with many chunks pushes and pulls overlap: towards (P-1) n beta",
      .source = "Li et al., Scaling distributed machine learning with the parameter server, 2014",
      .explanation =
          "Rank 0 is a server: all others push their vector to it, it adds them up and answers each. Two steps, but "
          "all traffic goes through the link of one rank, first in, then out.",
      .ranks = "any number of ranks",
      .fabrics = "few workers; shows what a ring saves, and the incast at a server",
      .pipelines = true,
      .make_for_many = make_rank,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost_of_rank,
  };
}

Algorithm parameter_server_dedicated_all_reduce() {
  return {
      .name = "parameter_server_dedicated",
      .kind = CollectiveKind::all_reduce,
      .summary = "a server of its own, no worker, adds up what all ranks send and answers them",
      .engine = Engine::server,
      .formula =
          "2 alpha + 2 P n beta + (P-1) n gamma, beta and gamma those of the server; with many chunks pushes and pulls "
          "overlap: towards P n beta",
      .source = "Li et al., Scaling distributed machine learning with the parameter server, 2014",
      .explanation =
          "The server is one more endpoint beside the ranks: all push their vector to it, it adds them up and answers "
          "each. A rank sends and receives its vector once, less than in any all-reduce among the ranks alone, but all "
          "traffic goes through the server's link.",
      .ranks = "any number of ranks, and one endpoint more than they are",
      .fabrics = "few workers; shows the incast at a server",
      .pipelines = true,
      .make_for_many = make_dedicated,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost_of_dedicated,
  };
}

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
      .cost_for_many = cost_of_sharded,
  };
}

}  // namespace athanor
