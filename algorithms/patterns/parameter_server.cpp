#include "algorithms/patterns/parameter_server.hpp"

namespace athanor {

Lane ParameterServer::lane(AgentId agent, LaneId lane) const {
  const std::uint32_t channel = channel_of(agent, lane);
  const std::uint32_t first = 3 * cut().shape(channel);
  if (serves(agent)) { return {1, cut().loops(channel), workers(), workers(), ProgramId{first}}; }
  if (pushes(lane)) { return {1, cut().loops(channel), 0, 1, ProgramId{first + 1}}; }
  return {1, cut().loops(channel), 1, 0, ProgramId{first + 2}};
}

Primitive ParameterServer::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const {
  const Piece range = cut().piece(channel_of(agent, lane), loop, 0);
  const bool serves = this->serves(agent);
  const bool has_buffers = !serves || is_worker();
  Primitive primitive = over(range);
  if (serves || pushes(lane)) {
    if (has_buffers) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    primitive.sends = {0, serves ? workers() : 1};
  }
  if (serves || !pushes(lane)) {
    primitive.receives = {0, serves ? workers() : 1};
    if (has_buffers) { primitive.store = contiguous(Buffer::output, range.first); }
  }
  primitive.finish = serves;
  return primitive;
}

}  // namespace athanor
