#include "models/execution/pipeline_phases.hpp"

#include <algorithm>
#include <optional>

namespace athanor {

void PipelinePhases::primitive_ended(const EndedPrimitive& primitive) {
  if (primitive.lane >= lanes_.size()) { lanes_.resize(primitive.lane + 1); }
  Lane& lane = lanes_[primitive.lane];
  if (primitive.receives > 0 && !lane.receives) {
    lane.receives = true;
    lane.first_received = primitive.end;
  }
  if (primitive.sends > 0) {
    lane.sends = true;
    lane.last_sent = std::max(lane.last_sent, primitive.end);
  }
}

Time PipelinePhases::filled() const {
  Time filled;
  for (const Lane& lane : lanes_) {
    if (lane.receives) { filled = std::max(filled, lane.first_received); }
  }
  return filled;
}

Time PipelinePhases::draining() const {
  std::optional<Time> first;
  for (const Lane& lane : lanes_) {
    if (lane.sends) { first = std::min(first.value_or(lane.last_sent), lane.last_sent); }
  }
  return std::max(first.value_or(Time::zero()), filled());
}

}  // namespace athanor
