#include "algorithms/patterns/cube_all_reduce.hpp"

namespace athanor {

Lane CubeAllReduce::lane(AgentId agent, LaneId lane) const {
  const std::uint32_t rank = agent.value;
  const std::uint32_t steps = cube_.is_corner(rank) ? exchanges_ + (cube_.serves(rank) ? 2 : 0) : 2;
  const std::uint32_t ports = this->ports(rank);
  return {steps, cut().loops(lane.value), ports, ports, ProgramId{3 * cut().shape(lane.value) + cube_.role(rank)}};
}

std::uint32_t CubeAllReduce::ports(std::uint32_t rank) const {
  return cube_.is_corner(rank) ? cube_.dimensions() + (cube_.serves(rank) ? 1 : 0) : 1;
}

Endpoint CubeAllReduce::opposite(std::uint32_t rank, LaneId lane, PortId port) const {
  if (!cube_.is_corner(rank)) { return {AgentId{rank - cube_.corners()}, lane, PortId{cube_.dimensions()}}; }
  if (port.value == cube_.dimensions()) { return {AgentId{rank + cube_.corners()}, lane, PortId{0}}; }
  return {AgentId{partner(lane.value, rank, port.value)}, lane, port};
}

Primitive CubeAllReduce::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
  const std::uint32_t rank = agent.value;
  const bool serves = cube_.serves(rank);
  if (cube_.is_corner(rank) && !serves) { return exchange(rank, lane, loop, step, Buffer::input); }
  const ElementRange whole = cut().pieces(lane.value, loop, 0, pieces_);
  if (!serves) { return step == 0 ? sending(whole, Buffer::input, 0) : receiving(whole, Buffer::output, 0); }
  if (step == 0) { return adding(whole, Buffer::input, Buffer::output, cube_.dimensions()); }
  if (step == exchanges_ + 1) { return sending(whole, Buffer::output, cube_.dimensions()); }
  return exchange(rank, lane, loop, step - 1, Buffer::output);
}

HalvingCube::HalvingCube(const Collective& collective, const Layout& layout)
    : CubeAllReduce(collective, for_messages_of(FoldedCube(collective.ranks).corners(), layout),
                    FoldedCube(collective.ranks).corners(), 4 * FoldedCube(collective.ranks).dimensions()) {}

Elements HalvingCube::granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(FoldedCube(collective.ranks).corners(), layout);
}

Primitive HalvingCube::exchange(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t step,
                                Buffer sum) const {
  const std::uint32_t dimensions = cube().dimensions();
  const std::uint32_t halving = step / 2;
  const bool sends = step % 2 == 0;
  if (halving >= dimensions) {
    const std::uint32_t back = 2 * dimensions - 1 - halving;
    const ElementRange range = results(corner, lane, loop, back, sends);
    return sends ? sending(range, Buffer::output, back) : receiving(range, Buffer::output, back);
  }
  const ElementRange range = results(corner, lane, loop, halving, !sends);
  return halve(range, halving, sends, halving == 0 ? sum : Buffer::output);
}

/// Of the pieces that a corner holds before a halving exchange, the half that it keeps, or the other.
ElementRange HalvingCube::results(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t exchange,
                                  bool keeps) const {
  const std::uint32_t half = cube().corners() >> (exchange + 1);
  const std::uint32_t kept = place(lane.value, corner) & ~(half - 1);
  return cut().pieces(lane.value, loop, keeps ? kept : kept ^ half, half);
}

Primitive HalvingCube::halve(const ElementRange& range, std::uint32_t exchange, bool sends, Buffer sum) const {
  if (sends) { return sending(range, sum, exchange); }
  Primitive primitive = adding(range, sum, Buffer::output, exchange);
  primitive.finish = exchange + 1 == cube().dimensions();
  return primitive;
}

/// Corner 0 keeps the lower halves, which are never the shorter ones, and serves a rank beyond if any does.
Cost HalvingCube::cost() const {
  Cost result{2 * cube().dimensions() + (cube().folds() ? 2 : 0), Elements::zero(), Elements::zero()};
  for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
    for (std::uint32_t exchange = 0; exchange < cube().dimensions(); ++exchange) {
      result.sent += cut().pieces(channel, 0, 0, cube().corners() >> exchange).count;
      result.reduced += cut().pieces(channel, 0, 0, cube().corners() >> (exchange + 1)).count;
    }
    if (!cube().folds()) { continue; }
    const Elements all = cut().pieces(channel, 0, 0, cube().corners()).count;
    result.sent += all;
    result.reduced += all;
  }
  return result;
}

std::uint32_t bits_reversed(std::uint32_t number, std::uint32_t bits) {
  std::uint32_t reversed = 0;
  for (std::uint32_t bit = 0; bit < bits; ++bit) { reversed |= (number >> bit & 1U) << (bits - 1 - bit); }
  return reversed;
}

}  // namespace athanor
