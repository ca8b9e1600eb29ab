#include "models/execution/execution_observer.hpp"

#include <algorithm>
#include <map>
#include <optional>

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

void SendingOverTime::widen() {
  for (std::size_t i = 0; i < kParts; ++i) {
    bytes_.at(i) = 2 * i + 1 < kParts ? bytes_.at(2 * i) + bytes_.at(2 * i + 1) : 0;
  }
  width_ = width_ * 2;
}

void SendingOverTime::add(Time begin, Time end, Bytes bytes) {
  while (end / width_ >= static_cast<std::int64_t>(kParts)) { widen(); }
  const auto count = static_cast<double>(bytes.count());
  total_ += count;
  const auto first = static_cast<std::size_t>(begin / width_);
  const auto last = static_cast<std::size_t>(end / width_);
  if (first == last) {
    bytes_.at(first) += count;
    return;
  }
  const double rate = count / static_cast<double>((end - begin).count());
  for (std::size_t i = first; i <= last; ++i) {
    const Time from = std::max(begin, width_ * static_cast<std::int64_t>(i));
    const Time to = std::min(end, width_ * static_cast<std::int64_t>(i + 1));
    bytes_.at(i) += rate * static_cast<double>((to - from).count());
  }
}

std::vector<double> SendingOverTime::shares(std::size_t parts, Time until) const {
  std::vector<double> shares(parts);
  if (total_ == 0) { return shares; }
  const double part = static_cast<double>(until.count()) / static_cast<double>(parts);
  const auto width = static_cast<double>(width_.count());
  for (std::size_t i = 0; i < kParts; ++i) {
    const double begin = width * static_cast<double>(i);
    const double end = begin + width;
    for (auto place = static_cast<std::size_t>(begin / part); place < parts; ++place) {
      const double from = std::max(begin, part * static_cast<double>(place));
      const double to = std::min(end, part * static_cast<double>(place + 1));
      if (to > from) { shares[place] += bytes_.at(i) * (to - from) / width / total_; }
      if (part * static_cast<double>(place + 1) >= end) { break; }
    }
  }
  return shares;
}

void PipelinePhases::primitive_ended(const EndedPrimitive& primitive) {
  if (primitive.lane >= lanes_.next()) { lanes_.resize(primitive.lane.value + 1); }
  Lane& lane = lanes_[primitive.lane];
  if (primitive.receives > 0 && !lane.receives) {
    lane.receives = true;
    lane.first_received = primitive.end;
  }
  if (primitive.sends > 0) {
    sending_.add(primitive.begin, primitive.end, primitive.bytes * primitive.sends);
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
