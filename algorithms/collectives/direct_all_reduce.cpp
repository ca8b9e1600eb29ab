#include "algorithms/catalog.hpp"
#include "algorithms/patterns/direct_exchange.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Per channel one lane sends the rank's input to everyone, another adds up what everyone sends. In-port i is of the
/// rank i + 1 places back, so ranks add in different orders, each beginning with itself.
class DirectOneShot final : public VectorSchedule {
 public:
  DirectOneShot(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)) {}

  std::uint32_t lanes(AgentId) const override { return 2 * cut().channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / 2;
    const std::uint32_t ins = adds(lane) ? ranks() - 1 : 0;
    return {1, cut().loops(channel), ins, ranks() - 1 - ins, ProgramId{2 * cut().shape(channel) + lane.value % 2}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{after(agent.value, out.value + 1)}, LaneId{lane.value + 1}, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{before(agent.value, in.value + 1)}, LaneId{lane.value - 1}, in};
  }

  Primitive at(AgentId, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const ElementRange range = cut().piece(lane.value / 2, loop, 0);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    if (!adds(lane)) {
      primitive.sends = {0, ranks() - 1};
      return primitive;
    }
    primitive.receives = {0, ranks() - 1};
    primitive.finish = true;
    primitive.store = contiguous(Buffer::output, range.first);
    primitive.wait = Wait{LaneId{lane.value - 1}, loop + 1};
    return primitive;
  }

 private:
  static bool adds(LaneId lane) { return lane.value % 2 == 1; }
};

Cost cost_of_one_shot(const Collective& collective) {
  const Elements others = collective.count * (collective.ranks - 1);
  return {1, others, others};
}

/// A loop's chunk has one piece per rank, which that rank sums up: everyone sends it its share at once, and it sends
/// the result to everyone at once. Per channel a rank has P - 1 lanes that scatter, lane i to the rank i + 1 places on;
/// one that adds and answers; and P - 1 that gather, lane i from the rank i + 1 back.
class DirectTwoShot final : public VectorSchedule {
 public:
  DirectTwoShot(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, collective.ranks, slices_as_chunks(layout)) {}

  std::uint32_t lanes(AgentId) const override { return cut().channels() * lanes_per_channel(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / lanes_per_channel();
    const std::uint32_t number = lane.value % lanes_per_channel();
    const std::uint64_t loops = cut().loops(channel);
    const std::uint32_t first = 3 * cut().shape(channel);
    if (number < others()) { return {1, loops, 0, 1, ProgramId{first}}; }
    if (number == others()) { return {1, loops, others(), others(), ProgramId{first + 1}}; }
    return {1, loops, 1, 0, ProgramId{first + 2}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const std::uint32_t number = lane.value % lanes_per_channel();
    const LaneId adder{lane.value - number + others()};
    if (number < others()) { return {AgentId{after(agent.value, number + 1)}, adder, PortId{number}}; }
    return {AgentId{after(agent.value, out.value + 1)}, LaneId{adder.value + 1 + out.value}, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const std::uint32_t number = lane.value % lanes_per_channel();
    const std::uint32_t first = lane.value - number;
    if (number == others()) {
      return {AgentId{before(agent.value, in.value + 1)}, LaneId{first + in.value}, PortId{0}};
    }
    const std::uint32_t port = number - others() - 1;
    return {AgentId{before(agent.value, port + 1)}, LaneId{first + others()}, PortId{port}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const std::uint32_t number = lane.value % lanes_per_channel();
    const std::uint32_t channel = lane.value / lanes_per_channel();
    const bool scatters = number < others();
    const bool adds = number == others();
    const std::uint32_t owner = scatters ? after(agent.value, number + 1)
                                : adds   ? agent.value
                                         : before(agent.value, number - others());
    const ElementRange range = cut().piece(channel, loop, owner);
    const std::uint32_t ports = adds ? others() : 1;
    Primitive primitive = over(range);
    if (scatters || adds) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
      primitive.sends = {0, ports};
    }
    if (!scatters) {
      primitive.receives = {0, ports};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    primitive.finish = adds;
    return primitive;
  }

 private:
  std::uint32_t others() const { return ranks() - 1; }
  std::uint32_t lanes_per_channel() const { return 2 * ranks() - 1; }
};

/// Rank 0 owns one of the longest pieces.
Cost cost_of_two_shot(const Collective& collective) {
  const Elements own = block(collective.count, collective.ranks, 0).count;
  return {2, collective.count - own + own * (collective.ranks - 1), own * (collective.ranks - 1)};
}

}  // namespace

Algorithm direct_one_shot_all_reduce() {
  return {
      .name = "direct_one_shot",
      .kind = CollectiveKind::all_reduce,
      .summary = "everyone sends all to everyone and adds up; one step, for the smallest payloads inside a node",
      .formula = "alpha + (P-1) n (beta + gamma)",
      .source = "NVIDIA TensorRT-LLM, custom all-reduce kernels (one-shot)",
      .explanation =
          "Every rank sends its whole vector to all others at once, and adds up what it gets. One step, and P-1 times "
          "the payload out of and into every rank.",
      .ranks = "up to 256 ranks, as everyone is connected with everyone",
      .fabrics = "the smallest payloads inside a node whose GPUs all reach each other",
      .make_for_many = make_schedule<DirectOneShot>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost_of_one_shot,
      .refuses_many = refuse_all_at_once,
  };
}

Algorithm direct_two_shot_all_reduce() {
  return {
      .name = "direct_two_shot",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "everyone sends each rank its piece at once, and gets the sums at once; two steps, for small payloads inside "
          "a node",
      .formula = "2 alpha + 2 (P-1)/P n beta + (P-1)/P n gamma",
      .source = "NVIDIA TensorRT-LLM, custom all-reduce kernels (two-shot)",
      .explanation =
          "Every rank sends each other rank its piece, adds up the shares of its own piece, and sends the sum to all "
          "others at once. The traffic of a ring in two steps, if P-1 messages at once are no burden.",
      .ranks = "up to 256 ranks, as everyone is connected with everyone",
      .fabrics = "small and middle payloads inside a node whose GPUs all reach each other",
      .make_for_many = make_schedule<DirectTwoShot>,
      .granule_for_many = granule_of_pieces,
      .cost_for_many = cost_of_two_shot,
      .refuses_many = refuse_all_at_once,
  };
}

}  // namespace athanor
