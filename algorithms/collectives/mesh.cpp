#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

std::uint32_t largest_group(std::uint32_t ranks, const Grid& grid) {
  std::uint32_t largest = 1;
  for (std::uint32_t dimension = 0; dimension < grid.dimensions(); ++dimension) {
    largest = std::max(largest, ranks / grid.side(dimension));
  }
  return largest;
}

Layout copied(const Layout& layout, const Grid& grid) {
  Layout result = slices_as_chunks(layout);
  result.channels *= grid.dimensions();
  return result;
}

LaneId other_direction(LaneId lane) { return LaneId{lane.value ^ 1U}; }

/// All-reduce on a grid of chains, whose ends are not joined: reduce-scatter along the chains of one dimension after
/// the other, each on the part that the one before has left, and all-gather back. One copy begins in each dimension.
///
/// A chain of X ranks has one group of pieces per rank. Sums flow both ways at once, to the farthest rank first; a rank
/// joins what comes from both sides with its own. Then its result flows both ways. So a channel has two lanes: forwards
/// and backwards, each of which waits at the end of a dimension for the other. Where backwards comes in last, it joins.
class MeshAllReduce : public VectorSchedule {
 public:
  MeshAllReduce(const Collective& collective, const Layout& layout, const Dimensions& dimensions)
      : VectorSchedule(
            collective, collective.ranks,
            for_messages_of(largest_group(collective.ranks, Grid(dimensions)), copied(layout, Grid(dimensions)))),
        grid_(dimensions),
        largest_group_(largest_group(collective.ranks, grid_)) {}

  static Elements granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions) {
    return VectorCut::granule(collective.ranks, copied(layout, Grid(dimensions)));
  }

  std::uint32_t lanes(AgentId) const final { return 2 * cut().channels(); }
  Lane lane(AgentId agent, LaneId lane) const final {
    const std::uint32_t rank = agent.value;
    const std::uint32_t channel = lane.value / 2;
    std::uint32_t place = 0;
    for (std::uint32_t order = 0; order < grid_.dimensions(); ++order) {
      const std::uint32_t along = dimension(channel, order);
      place = place * grid_.side(along) + grid_.coordinate(rank, along);
    }
    const std::uint32_t kind =
        (cut().shape(channel) * grid_.dimensions() + first_with_sides_of(channel)) * 2 + lane.value % 2;
    return {steps_before(rank, lane, 2 * grid_.dimensions()), cut().loops(channel),
            port(rank, lane, grid_.dimensions(), false), port(rank, lane, grid_.dimensions(), true),
            ProgramId{kind * ranks() + place}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return beside(agent, lane, out, true); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return beside(agent, lane, in, false); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final {
    const std::uint32_t rank = agent.value;
    std::uint32_t number = 0;
    while (steps_before(rank, lane, number + 1) <= step) { ++number; }
    const std::uint32_t inside = step - steps_before(rank, lane, number);
    const Phase phase = phase_of(rank, lane, order_of(number));
    const bool reduces = number < grid_.dimensions();
    Primitive primitive = reduces ? reduce(rank, lane, phase, loop, inside) : gather(rank, lane, phase, loop, inside);
    if (inside == 0 && number > 0) {
      const std::uint64_t all = steps_before(rank, other_direction(lane), 2 * grid_.dimensions());
      primitive.wait = Wait{other_direction(lane), loop * all + steps_before(rank, other_direction(lane), number)};
    }
    return primitive;
  }
  Elements message_limit() const final { return cut().message_limit() * largest_group_; }

  /// Of a layout with one loop.
  Cost cost() const {
    Cost result;
    for (std::uint32_t order = 0; order < grid_.dimensions(); ++order) { result.steps += 2 * (grid_.side(order) - 1); }
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      Elements sent;
      Elements reduced;
      for (std::uint32_t lane = 0; lane < lanes(AgentId{rank}); ++lane) {
        for (std::uint32_t order = 0; order < grid_.dimensions(); ++order) {
          const Phase phase = phase_of(rank, LaneId{lane}, order);
          sent += groups(phase, 0, phase.position + 1, phase.side).count;
          if (!phase.ends()) { sent += groups(phase, 0, 0, phase.position + 1).count; }
          if (!phase.begins()) { reduced += groups(phase, 0, phase.position, phase.side).count; }
        }
      }
      result.sent = std::max(result.sent, sent);
      result.reduced = std::max(result.reduced, reduced);
    }
    return result;
  }

 private:
  /// A lane's part in one dimension. Positions count in its direction: it receives from position - 1.
  struct Phase {
    std::uint32_t channel = 0;
    bool backwards = false;
    std::uint32_t order = 0;  ///< dimensions that went before, in this copy
    std::uint32_t first = 0;  ///< piece of group 0
    std::uint32_t group = 1;  ///< pieces per group
    std::uint32_t side = 1;
    std::uint32_t position = 0;

    bool begins() const { return position == 0; }
    bool ends() const { return position + 1 == side; }
    /// Reduce-scatter, then all-gather.
    std::uint32_t reduce_steps() const { return side - 1 - position + (begins() ? 0 : 1); }
    std::uint32_t gather_steps() const { return position + (ends() ? 0 : 1); }
  };

  std::uint32_t dimension(std::uint32_t channel, std::uint32_t order) const {
    const std::uint32_t rotation = channel % grid_.dimensions();
    return (2 * grid_.dimensions() - 1 - rotation - order) % grid_.dimensions();
  }
  /// The first copy with the same sides in the same order.
  std::uint32_t first_with_sides_of(std::uint32_t channel) const {
    const auto same = [&](std::uint32_t other) {
      for (std::uint32_t order = 0; order < grid_.dimensions(); ++order) {
        if (grid_.side(dimension(other, order)) != grid_.side(dimension(channel, order))) { return false; }
      }
      return true;
    };
    std::uint32_t copy = 0;
    while (!same(copy)) { ++copy; }
    return copy;
  }
  Phase phase_of(std::uint32_t rank, LaneId lane, std::uint32_t order) const {
    Phase phase;
    phase.channel = lane.value / 2;
    phase.backwards = lane.value % 2 == 1;
    phase.order = order;
    std::uint32_t length = ranks();
    for (std::uint32_t before = 0; before < order; ++before) {
      const std::uint32_t along = dimension(phase.channel, before);
      length /= grid_.side(along);
      phase.first += length * grid_.coordinate(rank, along);
    }
    const std::uint32_t along = dimension(phase.channel, order);
    const std::uint32_t coordinate = grid_.coordinate(rank, along);
    phase.side = grid_.side(along);
    phase.group = length / phase.side;
    phase.position = phase.backwards ? phase.side - 1 - coordinate : coordinate;
    return phase;
  }
  /// Steps of a lane before phase `number` of 2D: reduce-scatters, then all-gathers.
  std::uint32_t steps_before(std::uint32_t rank, LaneId lane, std::uint32_t number) const {
    std::uint32_t steps = 0;
    for (std::uint32_t before = 0; before < number; ++before) {
      const Phase phase = phase_of(rank, lane, order_of(before));
      steps += before < grid_.dimensions() ? phase.reduce_steps() : phase.gather_steps();
    }
    return steps;
  }
  std::uint32_t order_of(std::uint32_t number) const { return std::min(number, 2 * grid_.dimensions() - 1 - number); }
  /// Groups from .. to - 1, counted in the lane's direction.
  ElementRange groups(const Phase& phase, std::uint64_t loop, std::uint32_t from, std::uint32_t to) const {
    const std::uint32_t lowest = phase.backwards ? phase.side - to : from;
    return cut().pieces(phase.channel, loop, phase.first + phase.group * lowest, phase.group * (to - from));
  }
  /// What goes on to the ranks behind, the farthest first; then, unless the chain begins here, what comes for this one.
  Primitive reduce(std::uint32_t rank, LaneId lane, const Phase& phase, std::uint64_t loop, std::uint32_t step) const {
    const std::uint32_t target = phase.side - 1 - step;
    const bool own = target == phase.position;
    const bool joins = own && phase.backwards && !phase.ends();
    const ElementRange range = groups(phase, loop, target, target + 1);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(phase.order == 0 && !joins ? Buffer::input : Buffer::output, range.first);
    if (!phase.begins()) { primitive.receives = {port(rank, lane, phase.order, false), 1}; }
    if (!own) {
      primitive.sends = {port(rank, lane, phase.order, true), 1};
      return primitive;
    }
    primitive.store = contiguous(Buffer::output, range.first);
    primitive.finish = phase.order + 1 == grid_.dimensions() && (phase.backwards || phase.ends());
    if (joins) {
      const std::uint64_t all = steps_before(rank, other_direction(lane), 2 * grid_.dimensions());
      primitive.wait =
          Wait{other_direction(lane), loop * all + steps_before(rank, other_direction(lane), phase.order + 1)};
    }
    return primitive;
  }
  /// Its own result, unless the chain ends here; then those of the ranks before, the nearest first.
  Primitive gather(std::uint32_t rank, LaneId lane, const Phase& phase, std::uint64_t loop, std::uint32_t step) const {
    const std::uint32_t owner = phase.position - step - (phase.ends() ? 1 : 0);
    const ElementRange range = groups(phase, loop, owner, owner + 1);
    Primitive primitive = over(range);
    if (!phase.ends()) { primitive.sends = {port(rank, lane, phase.order, true), 1}; }
    if (owner == phase.position) {
      primitive.operands[0] = contiguous(Buffer::output, range.first);
    } else {
      primitive.receives = {port(rank, lane, phase.order, false), 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    return primitive;
  }
  /// The port of a dimension, of those that the lane has towards `forwards` or the other way.
  std::uint32_t port(std::uint32_t rank, LaneId lane, std::uint32_t order, bool forwards) const {
    std::uint32_t port = 0;
    for (std::uint32_t before = 0; before < order; ++before) {
      const Phase phase = phase_of(rank, lane, before);
      if (forwards ? !phase.ends() : !phase.begins()) { ++port; }
    }
    return port;
  }
  Endpoint beside(AgentId agent, LaneId lane, PortId port, bool forwards) const {
    std::uint32_t order = 0;
    while (this->port(agent.value, lane, order + 1, forwards) <= port.value) { ++order; }
    const Phase phase = phase_of(agent.value, lane, order);
    const std::uint32_t along = dimension(phase.channel, order);
    const std::uint32_t steps = forwards == phase.backwards ? phase.side - 1 : 1;
    const AgentId far{grid_.moved(agent.value, along, steps)};
    return {far, lane, PortId{this->port(far.value, lane, order, !forwards)}};
  }

  Grid grid_;
  std::uint32_t largest_group_ = 1;
};

}  // namespace

Algorithm mesh_2d_all_reduce() {
  return on_grid_of<MeshAllReduce>(
      {
          .name = "mesh_2d",
          .kind = CollectiveKind::all_reduce,
          .summary =
              "reduced along the rows, then the columns of a mesh without wrap-around and gathered back; two copies at "
              "once",
          .formula = "for X = Y >= 3, large n: 4(X-1) alpha + (1 + (floor((X-1)/2) - 3)/(2P)) n beta, beta that of one "
                     "of four "
                     "ports, + "
                     "(X+1)/(2X) n gamma",
          .source = "Barnett, Littlefield, Payne and van de Geijn, Global combine on mesh architectures with wormhole "
                    "routing, "
                    "1993",
          .explanation = "As on a torus, but rows and columns are chains whose ends are not joined: sums flow along a "
                         "chain from both "
                         "ends to the rank that keeps them, and results flow back both ways. Two copies, one begins "
                         "with the rows and "
                         "one with the columns. The end of a chain sends through one port only, which decides.",
          .ranks = "any number of ranks that is a product of two sides; the sides of the least sum, or as given",
          .fabrics = "a mesh without wrap-around links, such as a part of a torus",
      },
      2);
}

}  // namespace athanor
