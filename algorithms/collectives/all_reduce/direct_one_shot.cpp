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
    const Piece range = cut().piece(lane.value / 2, loop, 0);
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

Cost cost(const Collective& collective) {
  const Elements others = collective.count * (collective.ranks - 1);
  return {1, others, others};
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
      .cost_for_many = cost,
      .refuses_many = refuse_all_at_once,
  };
}

}  // namespace athanor
