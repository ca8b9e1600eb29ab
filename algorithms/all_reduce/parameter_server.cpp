#include "algorithms/catalog.hpp"
#include "algorithms/layout.hpp"

namespace athanor {

namespace {

/// Rank 0 serves. Per channel it has one lane whose in-port and out-port j belong to rank j + 1; it adds all inputs of
/// a chunk and answers everyone. A worker has one lane that pushes and one that pulls, so that a chunk is pushed while
/// the answer to an earlier one is still awaited.
class ParameterServer final : public Schedule {
 public:
  ParameterServer(const Collective& collective, const Layout& layout)
      : collective_(collective), cut_(collective.count, 1, slices_as_chunks(layout)) {}

  Roster roster() const override { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId agent) const override { return cut_.channels() * (serves(agent) ? 1 : 2); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t workers = collective_.ranks - 1;
    const std::uint32_t channel = channel_of(agent, lane);
    const std::uint32_t first = 3 * cut_.shape(channel);
    if (serves(agent)) { return {1, cut_.loops(channel), workers, workers, ProgramId{first}}; }
    if (pushes(lane)) { return {1, cut_.loops(channel), 0, 1, ProgramId{first + 1}}; }
    return {1, cut_.loops(channel), 1, 0, ProgramId{first + 2}};
  }
  Memory memory(AgentId) const override {
    return {collective_.count, collective_.count, Elements::zero(),
            collective_.in_place ? std::optional<std::int64_t>{0} : std::nullopt};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    if (serves(agent)) { return {AgentId{out.value + 1}, LaneId{2 * lane.value + 1}, PortId{0}}; }
    return {AgentId{0}, LaneId{lane.value / 2}, PortId{agent.value - 1}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    if (serves(agent)) { return {AgentId{in.value + 1}, LaneId{2 * lane.value}, PortId{0}}; }
    return {AgentId{0}, LaneId{lane.value / 2}, PortId{agent.value - 1}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Piece range = cut_.piece(channel_of(agent, lane), loop, 0);
    const std::uint32_t ports = serves(agent) ? collective_.ranks - 1 : 1;
    Primitive primitive;
    primitive.count = range.count;
    if (serves(agent) || pushes(lane)) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
      primitive.sends = {0, ports};
    }
    if (serves(agent) || !pushes(lane)) {
      primitive.receives = {0, ports};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    primitive.finish = serves(agent);
    return primitive;
  }

  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  static bool serves(AgentId agent) { return agent.value == 0; }
  static bool pushes(LaneId lane) { return lane.value % 2 == 0; }
  static std::uint32_t channel_of(AgentId agent, LaneId lane) { return serves(agent) ? lane.value : lane.value / 2; }

  Collective collective_;
  VectorCut cut_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<ParameterServer>(collective, layout);
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

Cost cost(const Collective& collective) {
  const Elements served = collective.count * (collective.ranks - 1);
  return {2, served, served};
}

}  // namespace

Algorithm parameter_server_all_reduce() {
  return {
      .name = "parameter_server",
      .kind = CollectiveKind::all_reduce,
      .summary = "rank 0 adds up what all others send and answers them; its link carries everything twice",
      .formula =
          "2 alpha + 2 (P-1) n beta + (P-1) n gamma; with many chunks pushes and pulls overlap: towards (P-1) n beta",
      .source = "Li et al., Scaling distributed machine learning with the parameter server, 2014",
      .explanation =
          "Rank 0 is a server: all others push their vector to it, it adds them up and answers each. Two steps, but "
          "all traffic goes through the link of one rank, first in, then out.",
      .ranks = "any number of ranks",
      .fabrics = "few workers; shows what a ring saves, and the incast at a server",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
