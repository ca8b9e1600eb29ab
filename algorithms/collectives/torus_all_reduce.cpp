#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

Layout copied(const Layout& layout, const Dimensions& dimensions, TorusCopies copies) {
  Layout result = slices_as_chunks(layout);
  result.channels *= TorusRings(dimensions, copies).copies();
  return result;
}

/// Pieces of the longest message: one coordinate on the shortest ring that copies begin with.
std::uint32_t most_pieces(std::uint32_t ranks, const Grid& grid, TorusCopies copies) {
  std::uint32_t shortest = grid.side(grid.dimensions() - 1);
  for (std::uint32_t dimension = 0; copies.rotated && dimension < grid.dimensions(); ++dimension) {
    shortest = std::min(shortest, grid.side(dimension));
  }
  return ranks / shortest;
}

/// All-reduce on a grid of rings, dimension by dimension: reduce-scatter around the rings of the first dimensions, each
/// on the part that the one before has left, all-reduce around those of the last, all-gather back to the first.
///
/// Each copy has 2D - 1 lanes, one per phase, so that a chunk is in one phase while the next is in the one before. A
/// phase waits for the phase before to have ended the same loop, stands on its sums in the output, and hands on its
/// own.
class TorusAllReduce : public VectorSchedule {
 public:
  TorusAllReduce(const Collective& collective, const Layout& layout, const Dimensions& dimensions, TorusCopies copies)
      : VectorSchedule(collective, collective.ranks,
                       for_messages_of(most_pieces(collective.ranks, Grid(dimensions), copies),
                                       copied(layout, dimensions, copies))),
        rings_(dimensions, copies) {
    for (std::uint32_t rotation = 0; rotation < rings_.rotations(); ++rotation) {
      largest_group_ = std::max(largest_group_, ranks() / rings_.side(rings_.channel(rotation), 0));
    }
  }

  /// What cutting an equal part for each copy takes.
  static Elements granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions,
                          TorusCopies copies) {
    return VectorCut::granule(collective.ranks, copied(layout, dimensions, copies));
  }

  std::uint32_t lanes(AgentId) const final { return cut().channels() * phases(); }
  Lane lane(AgentId, LaneId lane) const final {
    const std::uint32_t channel = lane.value / phases();
    const std::uint32_t phase = lane.value % phases();
    const std::uint32_t kind = cut().shape(channel) * rings_.rotations() + first_with_sides_of(channel);
    return {steps(channel, phase), cut().loops(channel), 1, 1, ProgramId{kind * phases() + phase}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return beside(agent, lane, out, true); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return beside(agent, lane, in, false); }
  /// Call c handles the group of the position c + 1 places before; an all-gather begins with its own.
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final {
    const Phase phase = phase_of(agent.value, lane);
    const std::uint32_t call = phase.reduces ? step : step + phase.side - 1;
    const std::uint32_t turned = (phase.position + 2 * phase.side - call - 1) % phase.side;
    const ElementRange range = group(phase, loop, turned);
    const bool adds = phase.reduces && call < phase.side;
    const std::uint32_t last = steps(phase.channel, lane.value % phases()) - 1;
    Primitive primitive = over(range);
    if (step > 0) { primitive.receives = {0, 1}; }
    if (step < last) { primitive.sends = {0, 1}; }
    if (adds || step == 0) {
      primitive.operands[0] =
          contiguous(phase.order == 0 && phase.reduces ? Buffer::input : Buffer::output, range.first);
    }
    if (step > 0 && call + 1 >= phase.side) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = phase.reduces && phase.gathers && call + 1 == phase.side;
    if (step == 0 && lane.value % phases() > 0) {
      const std::uint64_t before = steps(phase.channel, lane.value % phases() - 1);
      primitive.wait = Wait{LaneId{lane.value - 1}, before * (loop + 1)};
    }
    return primitive;
  }
  Elements message_limit() const final { return cut().message_limit() * largest_group_; }
  std::uint32_t least_slots() const final { return 2; }

  /// Of a layout with one loop.
  /// Per dimension and both ways as around a ring, over what the dimensions before have left (see CycleAllReduce).
  Cost cost() const {
    Cost result;
    const Grid& grid = rings_.grid();
    for (std::uint32_t d = 0; d < grid.dimensions(); ++d) { result.steps += 2 * (grid.side(d) - 1); }
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      Elements sent;
      Elements reduced;
      for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
        for (std::uint32_t order = 0; order < rings_.dimensions(); ++order) {
          const Phase phase = phase_of(rank, LaneId{channel * phases() + order});
          const Elements all = cut().pieces(channel, 0, phase.first, phase.group * phase.side).count;
          const auto at = [&](std::uint32_t ahead) {
            return group(phase, 0, (phase.position + ahead) % phase.side).count;
          };
          sent += all * 2 - at(0) - at(1);
          reduced += all - at(phase.side - 1);
        }
      }
      result.sent = std::max(result.sent, sent);
      result.reduced = std::max(result.reduced, reduced);
    }
    return result;
  }

 private:
  /// One lane's part: a ring in one dimension, over successive groups of pieces, one group per position.
  struct Phase {
    std::uint32_t channel = 0;
    std::uint32_t order = 0;  ///< dimensions that went before, in this copy
    bool reduces = true;      ///< reduce-scatter or all-reduce
    bool gathers = false;     ///< all-reduce or all-gather
    std::uint32_t first = 0;  ///< piece of group 0
    std::uint32_t group = 1;  ///< pieces per group
    std::uint32_t side = 1;
    std::uint32_t position = 0;
  };

  std::uint32_t phases() const { return 2 * rings_.dimensions() - 1; }
  std::uint32_t order_of(std::uint32_t phase) const { return std::min(phase, phases() - 1 - phase); }
  /// A reduce-scatter or all-gather around X ranks takes X calls, an all-reduce 2X - 1.
  std::uint32_t steps(std::uint32_t channel, std::uint32_t phase) const {
    const std::uint32_t side = rings_.side(channel, order_of(phase));
    return 2 * phase + 1 == phases() ? 2 * side - 1 : side;
  }
  Phase phase_of(std::uint32_t rank, LaneId lane) const {
    const std::uint32_t number = lane.value % phases();
    Phase phase;
    phase.channel = lane.value / phases();
    phase.order = order_of(number);
    phase.reduces = number < rings_.dimensions();
    phase.gathers = number + 1 >= rings_.dimensions();
    phase.side = rings_.side(phase.channel, phase.order);
    phase.position = rings_.position(rank, phase.channel, phase.order);
    phase.group = ranks() / phase.side;
    for (std::uint32_t order = 0; order < phase.order; ++order) { phase.group /= rings_.side(phase.channel, order); }
    std::uint32_t length = ranks();
    for (std::uint32_t order = 0; order < phase.order; ++order) {
      length /= rings_.side(phase.channel, order);
      phase.first += length * rings_.position(rank, phase.channel, order);
    }
    return phase;
  }
  ElementRange group(const Phase& phase, std::uint64_t loop, std::uint32_t position) const {
    return cut().pieces(phase.channel, loop, phase.first + phase.group * position, phase.group);
  }
  Endpoint beside(AgentId agent, LaneId lane, PortId port, bool next) const {
    const std::uint32_t channel = lane.value / phases();
    const std::uint32_t phase = lane.value % phases();
    return {AgentId{rings_.beside(agent.value, channel, order_of(phase), next)}, lane, port};
  }
  /// The first rotation with the same sides in the same order.
  std::uint32_t first_with_sides_of(std::uint32_t channel) const {
    const auto same = [&](std::uint32_t other) {
      for (std::uint32_t order = 0; order < rings_.dimensions(); ++order) {
        if (rings_.side(other, order) != rings_.side(channel, order)) { return false; }
      }
      return true;
    };
    std::uint32_t rotation = 0;
    while (!same(rings_.channel(rotation))) { ++rotation; }
    return rotation;
  }

  TorusRings rings_;
  std::uint32_t largest_group_ = 1;
};

/// The order of the dimensions is that of the hierarchy: in the group first, across the groups between.
Dimensions levels(const Collective& collective, const Layout& layout) {
  const std::uint32_t group = layout.group == 0 ? collective.ranks : layout.group;
  return {collective.ranks / group, group};
}

}  // namespace

Algorithm torus_all_reduce() {
  return on_any_grid<TorusAllReduce>(
      {
          .name = "torus",
          .kind = CollectiveKind::all_reduce,
          .summary = "reduced along each dimension of a torus and gathered back; 2D copies at once use all ports of D "
                     "dimensions",
          .formula = "2 sum (X_d - 1) alpha + (P-1)/(D P) n beta + (P-1)/P n gamma, beta that of one of 2D ports; for "
                     "equal sides "
                     "X_d",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation =
              "As torus_2d and torus_3d, over the number of dimensions that the layout gives: 2D copies, one for each "
              "dimension to begin with and each way round. Sides of one are left out.",
          .ranks = "any number of ranks; up to six dimensions as given, else three sides of the least sum",
          .fabrics = "a torus of D dimensions with 2D ports per rank; equal sides, or the copies differ in length",
      },
      3, kEveryPort);
}

Algorithm torus_2d_all_reduce() {
  return on_grid_of<TorusAllReduce>(
      {
          .name = "torus_2d",
          .kind = CollectiveKind::all_reduce,
          .summary =
              "reduced along the rows, then the columns of a torus and gathered back; four copies at once use all four "
              "ports",
          .formula = "2(X-1 + Y-1) alpha + (P-1)/(2P) n beta + (P-1)/P n gamma, beta that of one of four ports; for X "
                     "= Y, else "
                     "the copies that begin on the shorter side end last",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation =
              "Reduce-scatter around the rings of one dimension, all-reduce around those of the other on what is left, "
              "all-gather back around the first. Four copies, each on a quarter of the payload, begin in each "
              "dimension "
              "and each way round, so that all four ports of a rank work at once.",
          .ranks = "any number of ranks that is a product of two sides; the sides of the least sum, or as given",
          .fabrics = "a torus of two dimensions with four ports per rank",
      },
      2, kEveryPort);
}

Algorithm torus_3d_all_reduce() {
  return on_grid_of<TorusAllReduce>(
      {
          .name = "torus_3d",
          .kind = CollectiveKind::all_reduce,
          .summary =
              "reduced along the three dimensions of a torus and gathered back; six copies at once use all six ports",
          .formula = "2(X-1 + Y-1 + Z-1) alpha + (P-1)/(3P) n beta + (P-1)/P n gamma, beta that of one of six ports; "
                     "for X = Y = "
                     "Z",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation = "As torus_2d, over three dimensions: reduce-scatter in two, all-reduce in the third, "
                         "all-gather back. Six "
                         "copies on a sixth of the payload each use all six ports of a rank.",
          .ranks = "any number of ranks that is a product of three sides; the sides of the least sum, or as given",
          .fabrics = "a torus of three dimensions with six ports per rank, such as TPU v4 pods",
      },
      3, kEveryPort);
}

Algorithm hierarchical_all_reduce() {
  return on_grid<TorusAllReduce>(
      {
          .name = "hierarchical",
          .kind = CollectiveKind::all_reduce,
          .summary = "reduced inside groups, all-reduced across them by ranks of one place, gathered inside; the slow "
                     "links carry "
                     "1/g",
          .formula =
              "2(g-1) alpha + 2 (g-1)/g n beta inside groups of g, 2(P/g-1) alpha + 2 (P/g-1)/(P/g) n/g beta across, + "
              "(P-1)/P n gamma; chunks overlap the two",
          .source =
              "Mikami et al., Massively distributed SGD: ImageNet/ResNet-50 training in a flash, 2018 (2D-torus "
              "all-reduce); Cho et al., BlueConnect: decomposing all-reduce for deep learning on heterogeneous network "
              "hierarchy, 2019",
          .explanation =
              "Reduce-scatter inside groups of g ranks, all-reduce across groups among the ranks of equal place, "
              "all-gather inside. Only 1/g of the payload of a rank crosses the slow links between groups.",
          .ranks = "any number of ranks that groups divide evenly; without groups it is a ring",
          .fabrics = "nodes with a fast inside and one NIC per GPU: each place has a rail of its own",
          .pipelines = true,
      },
      levels, TorusCopies{});
}

}  // namespace athanor
