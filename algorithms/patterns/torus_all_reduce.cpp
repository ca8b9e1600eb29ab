#include "algorithms/patterns/torus_all_reduce.hpp"

#include <algorithm>

namespace athanor {

namespace {

Layout copied(const Layout& layout, const Dimensions& dimensions, TorusCopies copies) {
  Layout result = slices_as_chunks(layout);
  result.channels *= (copies.rotated ? Grid(dimensions).dimensions() : 1) * (copies.both_ways ? 2 : 1);
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
    : VectorAllReduce(collective, collective.ranks,
                      in_pieces(collective, copied(layout, dimensions, copies), Grid(dimensions), copies)),
      grid_(dimensions),
      rotations_(copies.rotated ? grid_.dimensions() : 1),
      ways_(copies.both_ways ? 2 : 1) {
  for (std::uint32_t rotation = 0; rotation < rotations_; ++rotation) {
    largest_group_ = std::max(largest_group_, ranks() / grid_.side(dimension(rotation * ways_, 0)));
  }
}

Elements TorusAllReduce::granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions,
                                 TorusCopies copies) {
  return VectorCut::granule(collective.ranks, copied(layout, dimensions, copies));
}

std::uint32_t TorusAllReduce::dimension(std::uint32_t channel, std::uint32_t order) const {
  const std::uint32_t rotation = channel / ways_ % rotations_;
  return (2 * grid_.dimensions() - 1 - rotation - order) % grid_.dimensions();
}

std::uint32_t TorusAllReduce::alike(std::uint32_t channel) const {
  const auto same = [&](std::uint32_t other) {
    for (std::uint32_t order = 0; order < grid_.dimensions(); ++order) {
      if (grid_.side(dimension(other, order)) != grid_.side(dimension(channel, order))) { return false; }
    }
    return true;
  };
  std::uint32_t rotation = 0;
  while (!same(rotation * ways_)) { ++rotation; }
  return rotation;
}

/// A reduce-scatter or all-gather around X ranks takes X calls, an all-reduce 2X - 1.
std::uint32_t TorusAllReduce::steps(std::uint32_t channel, std::uint32_t phase) const {
  const std::uint32_t order = std::min(phase, phases() - 1 - phase);
  const std::uint32_t side = grid_.side(dimension(channel, order));
  return 2 * phase + 1 == phases() ? 2 * side - 1 : side;
}

std::uint32_t TorusAllReduce::position(std::uint32_t rank, std::uint32_t channel, std::uint32_t order) const {
  const std::uint32_t along = dimension(channel, order);
  const std::uint32_t here = grid_.coordinate(rank, along);
  return backwards(channel) ? grid_.side(along) - 1 - here : here;
}

TorusAllReduce::Phase TorusAllReduce::phase_of(std::uint32_t rank, LaneId lane) const {
  const std::uint32_t number = lane.value % phases();
  Phase phase;
  phase.channel = lane.value / phases();
  phase.order = std::min(number, phases() - 1 - number);
  phase.dimension = dimension(phase.channel, phase.order);
  phase.reduces = number < grid_.dimensions();
  phase.gathers = number + 1 >= grid_.dimensions();
  phase.side = grid_.side(phase.dimension);
  phase.position = position(rank, phase.channel, phase.order);
  phase.group = ranks() / phase.side;
  for (std::uint32_t order = 0; order < phase.order; ++order) {
    phase.group /= grid_.side(dimension(phase.channel, order));
  }
  std::uint32_t length = ranks();
  for (std::uint32_t order = 0; order < phase.order; ++order) {
    length /= grid_.side(dimension(phase.channel, order));
    phase.first += length * position(rank, phase.channel, order);
  }
  return phase;
}

Piece TorusAllReduce::group(const Phase& phase, std::uint64_t loop, std::uint32_t position) const {
  return cut().pieces(phase.channel, loop, phase.first + phase.group * position, phase.group);
}

Lane TorusAllReduce::lane(AgentId, LaneId lane) const {
  const std::uint32_t channel = lane.value / phases();
  const std::uint32_t phase = lane.value % phases();
  const std::uint32_t kind = cut().shape(channel) * rotations_ + alike(channel);
  return {steps(channel, phase), cut().loops(channel), 1, 1, ProgramId{kind * phases() + phase}};
}

Endpoint TorusAllReduce::beside(AgentId agent, LaneId lane, PortId port, bool next) const {
  const std::uint32_t channel = lane.value / phases();
  const std::uint32_t phase = lane.value % phases();
  const std::uint32_t along = dimension(channel, std::min(phase, phases() - 1 - phase));
  const std::uint32_t steps = next == backwards(channel) ? grid_.side(along) - 1 : 1;
  return {AgentId{grid_.moved(agent.value, along, steps)}, lane, port};
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
  for (std::uint32_t order = 0; order < grid_.dimensions(); ++order) { result.steps += 2 * (grid_.side(order) - 1); }
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    Elements sent;
    Elements reduced;
    for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
      for (std::uint32_t order = 0; order < grid_.dimensions(); ++order) {
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
