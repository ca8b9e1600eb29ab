#include "algorithms/patterns/cube_all_reduce.hpp"

namespace athanor {

namespace {

/// In exchange d the corners that differ in bit d swap their sums.
class RecursiveDoubling final : public DoublingCube {
 public:
  using DoublingCube::DoublingCube;

 protected:
  std::uint32_t partner(std::uint32_t, std::uint32_t corner, std::uint32_t exchange) const override {
    return corner ^ (1U << exchange);
  }
};

/// The exchanges of recursive doubling, but each is a stage with a lane of its own that sends the sum of the stage
/// before and adds what its partner sends: chunks follow each other through the stages, which all work at once, where
/// recursive doubling has one exchange under way at a time. Stage e is lane e of the channel. A corner that serves a
/// rank beyond has two lanes more: one adds before stage 0, one answers after the last. A rank beyond has one lane that
/// pushes and one that pulls.
class Butterfly final : public VectorSchedule {
 public:
  Butterfly(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)), cube_(collective.ranks) {}

  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * lanes_per_channel(agent.value); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t number = number_of(agent.value, lane);
    const std::uint32_t channel = lane.value / lanes_per_channel(agent.value);
    const std::uint64_t loops = cut().loops(channel);
    const std::uint32_t first = 64 * (3 * cut().shape(channel) + cube_.role(agent.value));
    const ProgramId program{first + number};
    if (is_stage(agent.value, number)) {
      const bool as_any = number > 0 && cube_.serves(agent.value);
      return {2, loops, 1, 1, as_any ? ProgramId{first - 64 + number} : program};
    }
    const bool receives = receives_only(agent.value, number);
    return {1, loops, receives ? 1U : 0U, receives ? 0U : 1U, program};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId) const override { return opposite(agent.value, lane); }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override { return opposite(agent.value, lane); }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const std::uint32_t number = number_of(rank, lane);
    const ElementRange range = cut().piece(lane.value / lanes_per_channel(rank), loop, 0);
    if (is_stage(rank, number)) { return stage(rank, lane, number, range, loop, step); }
    if (receives_only(rank, number)) {
      return cube_.is_corner(rank) ? adding(range, Buffer::input, Buffer::output, 0)
                                   : receiving(range, Buffer::output, 0);
    }
    Primitive primitive = sending(range, cube_.is_corner(rank) ? Buffer::output : Buffer::input, 0);
    if (cube_.is_corner(rank)) { primitive.wait = Wait{LaneId{lane.value - 2}, 2 * (loop + 1)}; }
    return primitive;
  }

 private:
  std::uint32_t lanes_per_channel(std::uint32_t rank) const {
    if (!cube_.is_corner(rank)) { return 2; }
    return cube_.dimensions() + (cube_.serves(rank) ? 2 : 0);
  }
  std::uint32_t number_of(std::uint32_t rank, LaneId lane) const { return lane.value % lanes_per_channel(rank); }
  bool is_stage(std::uint32_t rank, std::uint32_t number) const {
    return cube_.is_corner(rank) && number < cube_.dimensions();
  }
  /// Of the lanes that are no stage: a corner's first adds, its second answers; a rank beyond pushes, then pulls.
  bool receives_only(std::uint32_t rank, std::uint32_t number) const {
    return cube_.is_corner(rank) ? number == cube_.dimensions() : number == 1;
  }

  Primitive stage(std::uint32_t rank, LaneId lane, std::uint32_t number, const ElementRange& range, std::uint64_t loop,
                  std::uint32_t step) const {
    const bool folded = cube_.serves(rank);
    const Buffer sum = number == 0 && !folded ? Buffer::input : Buffer::output;
    Primitive primitive = step == 1 ? adding(range, sum, Buffer::output, 0) : sending(range, sum, 0);
    if (step == 1) {
      primitive.finish = number + 1 == cube_.dimensions();
      return primitive;
    }
    if (number > 0) {
      primitive.wait = Wait{LaneId{lane.value - 1}, 2 * (loop + 1)};
    } else if (folded) {
      primitive.wait = Wait{LaneId{lane.value + cube_.dimensions()}, loop + 1};
    }
    return primitive;
  }

  /// Connections join lanes of one kind, or one that only sends with one that only receives.
  Endpoint opposite(std::uint32_t rank, LaneId lane) const {
    const std::uint32_t number = number_of(rank, lane);
    const std::uint32_t channel = lane.value / lanes_per_channel(rank);
    const auto at = [&](std::uint32_t far, std::uint32_t far_number) {
      return Endpoint{AgentId{far}, LaneId{channel * lanes_per_channel(far) + far_number}, PortId{0}};
    };
    if (is_stage(rank, number)) { return at(rank ^ (1U << number), number); }
    if (cube_.is_corner(rank)) { return at(rank + cube_.corners(), number - cube_.dimensions()); }
    return at(rank - cube_.corners(), number + cube_.dimensions());
  }

  FoldedCube cube_;
};

}  // namespace

Algorithm recursive_doubling_all_reduce() {
  return {
      .name = "recursive_doubling",
      .kind = CollectiveKind::all_reduce,
      .summary = "partners at doubling distances swap whole sums; fewest steps, for small payloads",
      .formula =
          "log2 P (alpha + n (beta + gamma)); where P = 2^k + e, e > 0: (k+2) alpha + (k+2) n beta + (k+1) n gamma "
          "where the fold has a port of its own, and more n beta on one port",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "In step k every rank swaps its whole sum with the rank whose number differs in bit k, and adds what it "
          "gets. After log2 P steps everyone has the sum of all. Fewest steps of all without an engine, but the whole "
          "payload in each.",
      .ranks =
          "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner and get "
          "the result at the end",
      .fabrics = "small payloads, where latency decides; the far exchanges need a fabric with full bisection",
      .make_for_many = make_schedule<RecursiveDoubling>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = DoublingCube::cost,
  };
}

Algorithm butterfly_all_reduce() {
  return {
      .name = "butterfly",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "recursive doubling whose exchanges are stages that chunks follow each other through; uses log2 P ports at "
          "once",
      .formula =
          "log2 P (alpha + n (beta + gamma)) in one chunk; (log2 P + k - 1)(alpha + n/k (beta + gamma)) in k chunks "
          "with log2 P ports; where P is no power of two, two steps and n (2 beta + gamma) more",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "The exchanges of recursive doubling as stages that chunks follow each other through: while one chunk is in "
          "stage k, the next is in stage k-1, so that log2 P exchanges go on at once.",
      .ranks =
          "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner and get "
          "the result at the end",
      .fabrics = "ranks with log2 P ports (a hypercube); on one port it is recursive doubling",
      .pipelines = true,
      .make_for_many = make_schedule<Butterfly>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = DoublingCube::cost,
  };
}

}  // namespace athanor
