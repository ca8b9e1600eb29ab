#include "algorithms/patterns/torus_all_reduce.hpp"

namespace athanor {

namespace {

Layout copied(const Layout& layout, const Dimensions& dimensions, TorusCopies copies) {
  Layout result = slices_as_chunks(layout);
  result.channels *= TorusRings(dimensions, copies).copies();
  return result;
}

/// The layout's chunk is the longest message.
Layout in_pieces(const Collective& collective, Layout layout, const Grid& grid, TorusCopies copies) {
  std::uint32_t shortest = grid.side(grid.dimensions() - 1);
  for (std::uint32_t dimension = 0; copies.rotated && dimension < grid.dimensions(); ++dimension) {
    shortest = std::min(shortest, grid.side(dimension));
  }
  if (layout.chunk < Elements::max()) {
    layout.chunk = std::max(Elements{1}, layout.chunk / (collective.ranks / shortest));
  }
  return layout;
}

}  // namespace

TorusAllReduce::TorusAllReduce(const Collective& collective, const Layout& layout, const Dimensions& dimensions,
                               TorusCopies copies)
    : VectorSchedule(collective, collective.ranks,
                     in_pieces(collective, copied(layout, dimensions, copies), Grid(dimensions), copies)),
      rings_(dimensions, copies) {
  for (std::uint32_t rotation = 0; rotation < rings_.rotations(); ++rotation) {
    largest_group_ = std::max(largest_group_, ranks() / rings_.side(rings_.channel(rotation), 0));
  }
}

Elements TorusAllReduce::granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions,
                                 TorusCopies copies) {
  return VectorCut::granule(collective.ranks, copied(layout, dimensions, copies));
}

std::uint32_t TorusAllReduce::alike(std::uint32_t channel) const {
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

/// A reduce-scatter or all-gather around X ranks takes X calls, an all-reduce 2X - 1.
std::uint32_t TorusAllReduce::steps(std::uint32_t channel, std::uint32_t phase) const {
  const std::uint32_t side = rings_.side(channel, order_of(phase));
  return 2 * phase + 1 == phases() ? 2 * side - 1 : side;
}

TorusAllReduce::Phase TorusAllReduce::phase_of(std::uint32_t rank, LaneId lane) const {
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

Piece TorusAllReduce::group(const Phase& phase, std::uint64_t loop, std::uint32_t position) const {
  return cut().pieces(phase.channel, loop, phase.first + phase.group * position, phase.group);
}

Lane TorusAllReduce::lane(AgentId, LaneId lane) const {
  const std::uint32_t channel = lane.value / phases();
  const std::uint32_t phase = lane.value % phases();
  const std::uint32_t kind = cut().shape(channel) * rings_.rotations() + alike(channel);
  return {steps(channel, phase), cut().loops(channel), 1, 1, ProgramId{kind * phases() + phase}};
}

Endpoint TorusAllReduce::beside(AgentId agent, LaneId lane, PortId port, bool next) const {
  const std::uint32_t channel = lane.value / phases();
  const std::uint32_t phase = lane.value % phases();
  return {AgentId{rings_.beside(agent.value, channel, order_of(phase), next)}, lane, port};
}

Endpoint TorusAllReduce::target(AgentId agent, LaneId lane, PortId out) const { return beside(agent, lane, out, true); }

Endpoint TorusAllReduce::source(AgentId agent, LaneId lane, PortId in) const { return beside(agent, lane, in, false); }

/// Call c handles the group of the position c + 1 places before; an all-gather begins with its own.
Primitive TorusAllReduce::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
  const Phase phase = phase_of(agent.value, lane);
  const std::uint32_t call = phase.reduces ? step : step + phase.side - 1;
  const std::uint32_t turned = (phase.position + 2 * phase.side - call - 1) % phase.side;
  const Piece range = group(phase, loop, turned);
  const bool adds = phase.reduces && call < phase.side;
  const std::uint32_t last = steps(phase.channel, lane.value % phases()) - 1;
  Primitive primitive = over(range);
  if (step > 0) { primitive.receives = {0, 1}; }
  if (step < last) { primitive.sends = {0, 1}; }
  if (adds || step == 0) {
    primitive.operands[0] = contiguous(phase.order == 0 && phase.reduces ? Buffer::input : Buffer::output, range.first);
  }
  if (step > 0 && call + 1 >= phase.side) { primitive.store = contiguous(Buffer::output, range.first); }
  primitive.finish = phase.reduces && phase.gathers && call + 1 == phase.side;
  if (step == 0 && lane.value % phases() > 0) {
    const std::uint64_t before = steps(phase.channel, lane.value % phases() - 1);
    primitive.wait = Wait{LaneId{lane.value - 1}, before * (loop + 1)};
  }
  return primitive;
}

/// Per dimension and both ways as around a ring, over what the dimensions before have left (see CycleAllReduce).
Cost TorusAllReduce::cost() const {
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

}  // namespace athanor
