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
  const Piece whole = cut().pieces(lane.value, loop, 0, pieces_);
  if (!serves) { return beyond(whole, step); }
  if (step == 0 || step == exchanges_ + 1) { return serve(whole, step > 0); }
  return exchange(rank, lane, loop, step - 1, Buffer::output);
}

Primitive CubeAllReduce::beyond(const Piece& range, std::uint32_t step) {
  Primitive primitive = over(range);
  if (step == 0) {
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    primitive.sends = {0, 1};
  } else {
    primitive.receives = {0, 1};
    primitive.store = contiguous(Buffer::output, range.first);
  }
  return primitive;
}

Primitive CubeAllReduce::serve(const Piece& range, bool answers) const {
  Primitive primitive = over(range);
  if (answers) {
    primitive.operands[0] = contiguous(Buffer::output, range.first);
    primitive.sends = {cube_.dimensions(), 1};
  } else {
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    primitive.receives = {cube_.dimensions(), 1};
    primitive.store = contiguous(Buffer::output, range.first);
  }
  return primitive;
}

}  // namespace athanor
