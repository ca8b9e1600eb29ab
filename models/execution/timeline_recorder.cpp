#include "models/execution/timeline_recorder.hpp"

#include <map>

#include <fmt/core.h>

#include "models/execution/mapped_schedule.hpp"

namespace athanor {

namespace {

std::string_view what(const EndedPrimitive& primitive) {
  const bool receives = primitive.receives > 0;
  const bool sends = primitive.sends > 0;
  const bool reduces = primitive.inputs > 1;
  if (receives && sends) { return reduces ? "receive, reduce, send" : "receive, send"; }
  if (receives) { return reduces ? "receive, reduce" : "receive"; }
  if (sends) { return reduces ? "reduce, send" : "send"; }
  return reduces ? "reduce" : "copy";
}

}  // namespace

void TimelineRecorder::begins(const MappedSchedule& mapped, const Schedule& schedule) {
  IdVector<LaneIndex, std::uint32_t> members(mapped.lanes.size());
  for (const LaneIndex lane : mapped.lane_of) { ++members[lane]; }
  std::map<AgentId, ProcessId> processes;
  const std::uint32_t ranks = schedule.agent_count().ranks;
  for (const LaneIndex i : mapped.lanes.ids()) {
    const MappedSchedule::Lane& lane = mapped.lanes[i];
    const auto [process, fresh] = processes.try_emplace(lane.agent);
    if (fresh) {
      process->second =
          timeline_.add_process(lane.agent.value < ranks ? fmt::format("rank {}", lane.agent.value)
                                                         : fmt::format("engine {}", lane.agent.value - ranks));
    }
    const std::string equal = members[i] > 1 ? fmt::format(", one of {} equal lanes", members[i]) : "";
    tracks_.push_back(timeline_.add_track(process->second, fmt::format("lane {}{}", lane.lane.value, equal)));
    if (offset_ > Time::zero()) { timeline_.span(tracks_.back(), "launch", "launch", Time::zero(), offset_); }
  }
}

void TimelineRecorder::primitive_ended(const EndedPrimitive& primitive) {
  timeline_.span(tracks_[primitive.lane], what(primitive), "primitive", primitive.begin + offset_,
                 primitive.end + offset_,
                 {{"loop", primitive.loop}, {"step", primitive.step}, {"bytes", primitive.bytes.count()}});
}

}  // namespace athanor
