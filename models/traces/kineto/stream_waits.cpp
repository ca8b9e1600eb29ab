#include "models/traces/kineto/stream_waits.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using GpuOperation = GpuProfile::GpuOperation;
using CpuCall = GpuProfile::CpuCall;

/// By correlation; calls must not move while it is used.
std::unordered_map<std::uint64_t, std::size_t> calls_by_correlation(const GpuProfile& profile) {
  std::unordered_map<std::uint64_t, std::size_t> calls;
  calls.reserve(profile.calls.size());
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    if (profile.calls[i].correlation != 0) { calls.emplace(profile.calls[i].correlation, i); }
  }
  return calls;
}

}  // namespace

void choose_step(GpuProfile& profile, const std::string& step, WorkloadDraft& draft) {
  if (step.empty()) { return; }
  const auto fits = [&](const GpuProfile::Step& each) {
    return each.name == step || each.name == "ProfilerStep#" + step;
  };
  const auto found = std::find_if(profile.steps.begin(), profile.steps.end(), fits);
  if (found == profile.steps.end()) {
    std::vector<std::string> names;
    for (const GpuProfile::Step& each : profile.steps) { names.push_back(each.name); }
    draft.complaints.add(
        {"no-such-step",
         fmt::format("the profile has no step '{}'", step),
         {profile.file, 0, 0, ""},
         names.empty() ? "it has no steps at all; leave \"step\" out" : fmt::format("it has {}", joined(names, ", "))});
    return;
  }
  const GpuProfile::Step chosen = *found;
  const auto within = [&](ProfileTime time) { return time >= chosen.start && time < chosen.end; };
  const auto calls = calls_by_correlation(profile);
  const std::size_t before = profile.operations.size();
  std::erase_if(profile.operations, [&](const GpuOperation& operation) {
    const auto call = calls.find(operation.correlation);
    return !within(call == calls.end() ? operation.start : profile.calls[call->second].start);
  });
  std::erase_if(profile.calls, [&](const CpuCall& call) { return !within(call.start); });
  draft.notes.count("operations of the GPU are of other steps", before - profile.operations.size());
}

void sort_by_launch(GpuProfile& profile) {
  std::stable_sort(profile.calls.begin(), profile.calls.end(),
                   [](const CpuCall& a, const CpuCall& b) { return a.start < b.start; });
  const auto calls = calls_by_correlation(profile);
  std::vector<std::pair<ProfileTime, GpuOperation>> order;
  order.reserve(profile.operations.size());
  for (const GpuOperation& operation : profile.operations) {
    const auto call = calls.find(operation.correlation);
    order.emplace_back(call == calls.end() ? operation.start : profile.calls[call->second].start, operation);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.start < b.second.start;
  });
  for (std::size_t i = 0; i < order.size(); ++i) { profile.operations[i] = order[i].second; }
}

StreamWaits::StreamWaits(const GpuProfile& profile)
    : profile_(profile),
      streams_(profile.streams.size()),
      events_(profile.streams.size()),
      next_event_(profile.streams.size(), 0) {
  const auto calls = calls_by_correlation(profile);
  for (const GpuOperation& operation : profile.operations) {
    const auto call = calls.find(operation.correlation);
    call_of_.push_back(call == calls.end() ? kNoCall : call->second);
    if (operation.communicates) { streams_[operation.stream].communicates = true; }
  }
  for (const CpuCall& call : profile.calls) {
    knows_waits_ |= call.kind == CpuCall::Kind::makes_stream_wait;
    if (!profile.waits.empty() && call.correlation != 0) { recorded_at_.emplace(call.correlation, call.start); }
  }
  for (const GpuProfile::StreamWait& wait : profile.waits) { events_[wait.stream].push_back(wait); }
  for (auto& list : events_) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  }
}

std::optional<std::size_t> StreamWaits::last_on(std::uint32_t stream, ProfileTime ended_by) const {
  const auto& launched = streams_[stream].launched;
  const auto after = std::upper_bound(launched.begin(), launched.end(), ended_by, [&](ProfileTime time, std::size_t i) {
    return time < profile_.operations[i].end;
  });
  if (after == launched.begin()) { return std::nullopt; }
  return *(after - 1);
}

std::optional<std::size_t> StreamWaits::last_ended(ProfileTime from, ProfileTime to, std::size_t launched) const {
  std::optional<std::size_t> last;
  for (std::uint32_t stream = 0; stream < streams_.size(); ++stream) {
    const auto found = last_on(stream, to);
    if (!found || *found >= launched || profile_.operations[*found].end < from) { continue; }
    if (!last || profile_.operations[*found].end > profile_.operations[*last].end) { last = found; }
  }
  return last;
}

void StreamWaits::launch(std::size_t operation, const std::function<void(std::size_t)>& depends) {
  const GpuOperation& recorded = profile_.operations[operation];
  if (profile_.waits.empty()) {
    launch_after_guess(operation, depends);
  } else {
    launch_after_events(operation, depends);
  }
  if (!recorded.communicates) { last_computation_ = operation; }
  streams_[recorded.stream].launched.push_back(operation);
}

/// The event of a wait that was recorded by a call stands for what was launched on its stream before that call.
void StreamWaits::launch_after_events(std::size_t operation, const std::function<void(std::size_t)>& depends) {
  const GpuOperation& recorded = profile_.operations[operation];
  const auto& events = events_[recorded.stream];
  std::size_t& next = next_event_[recorded.stream];
  const ProfileTime now = call_of_[operation] == kNoCall ? recorded.start : profile_.calls[call_of_[operation]].start;
  for (; next < events.size() && events[next].at <= now; ++next) {
    const auto found = recorded_at_.find(events[next].recorded_by);
    const ProfileTime record = found == recorded_at_.end() ? events[next].at : found->second;
    const auto& launched = streams_[events[next].waits_for].launched;
    const auto after = std::partition_point(launched.begin(), launched.end(), [&](std::size_t i) {
      const std::size_t call = call_of_[i];
      return (call == kNoCall ? profile_.operations[i].start : profile_.calls[call].start) <= record;
    });
    if (after != launched.begin()) { depends(*(after - 1)); }
  }
}

void StreamWaits::launch_after_guess(std::size_t operation, const std::function<void(std::size_t)>& depends) {
  const GpuOperation& recorded = profile_.operations[operation];
  if (recorded.communicates) {
    waiting_ = false;
    if (last_computation_ && profile_.operations[*last_computation_].end <= recorded.start &&
        profile_.operations[*last_computation_].stream != recorded.stream) {
      depends(*last_computation_);
    }
    return;
  }
  if (knows_waits_ && !waiting_) { return; }
  waiting_ = false;
  const auto& own = streams_[recorded.stream].launched;
  ProfileTime ready = own.empty() ? INT64_MIN : profile_.operations[own.back()].end;
  if (call_of_[operation] != kNoCall) { ready = std::max(ready, profile_.calls[call_of_[operation]].start); }
  for (std::uint32_t stream = 0; stream < streams_.size(); ++stream) {
    if (stream == recorded.stream || (knows_waits_ && !streams_[stream].communicates)) { continue; }
    const auto last = last_on(stream, recorded.start);
    if (last && (knows_waits_ || profile_.operations[*last].end > ready)) { depends(*last); }
  }
}

}  // namespace athanor
