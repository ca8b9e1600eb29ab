#include "models/traces/kineto/event_sink.hpp"

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// PyTorch opens some dozens. What a stream waits for is looked for on all others.
constexpr std::size_t kMostGpuStreams = 1024;

bool waits_for_gpu(std::string_view name) { return name.find("Synchronize") != std::string_view::npos; }

/// A copy that is not asynchronous ends when the GPU has done it.
bool copies_and_waits(std::string_view name) {
  return (name.find("Memcpy") != std::string_view::npos || name.find("memcpy") != std::string_view::npos) &&
         name.find("Async") == std::string_view::npos;
}

/// "void cutlass::Kernel2<...>(...)" is told as "cutlass::Kernel2": arguments say nothing and take memory.
std::string_view short_name(std::string_view name) {
  if (name.starts_with("void ")) { name.remove_prefix(5); }
  return name.substr(0, name.find_first_of("<("));
}

}  // namespace

void EventSink::take(ProfileEvent& event) {
  ++profile_.events;
  if (event.phase != "X" || !event.timed) { return; }
  if (event.duration < 0) {
    ++profile_.backward;
    return;
  }
  if (event.category == "kernel") {
    take_gpu(event, true);
  } else if (event.category == "gpu_memcpy" || event.category == "gpu_memset") {
    take_gpu(event, false);
  } else if (event.category == "cuda_runtime" || event.category == "cuda_driver") {
    take_call(event);
  } else if (event.category == "cuda_sync") {
    take_wait(event);
  } else if (event.category == "user_annotation" && event.name.starts_with("ProfilerStep")) {
    profile_.steps.push_back({event.name, event.start, event.start + event.duration});
  } else if (event.name == "record_param_comms" && event.external != 0 && !event.collective.name.empty()) {
    profile_.recorded[event.external] = add_collective(event.collective);
  }
}

void EventSink::take_gpu(ProfileEvent& event, bool kernel) {
  GpuProfile::GpuOperation operation;
  operation.start = event.start;
  operation.end = event.start + event.duration;
  operation.correlation = event.correlation;
  operation.external = event.external;
  operation.stream = stream(event.device, event.stream);
  operation.communicates = kernel && event.name.find("nccl") != std::string::npos;
  operation.name = name(operation.communicates ? event.name.substr(0, event.name.find('(')) : short_name(event.name));
  if (operation.communicates && !event.collective.name.empty()) {
    operation.collective = add_collective(event.collective);
  }
  profile_.operations.push_back(operation);
}

void EventSink::take_call(const ProfileEvent& event) {
  using Kind = GpuProfile::CpuCall::Kind;
  const Kind kind = waits_for_gpu(event.name) || copies_and_waits(event.name) ? Kind::waits_for_gpu
                    : event.name.find("StreamWaitEvent") != std::string::npos ? Kind::makes_stream_wait
                                                                              : Kind::other;
  if (kind == Kind::other && event.correlation == 0) { return; }
  profile_.calls.push_back({event.start, event.start + event.duration, event.correlation, kind});
}

void EventSink::take_wait(const ProfileEvent& event) {
  if (event.waits_for < 0 || event.stream < 0 || event.name.find("Stream Wait") == std::string::npos) { return; }
  profile_.waits.push_back({event.start, event.correlation, event.recorded_by, stream(event.device, event.stream),
                            stream(event.device, event.waits_for)});
}

std::uint32_t EventSink::stream(std::int64_t device, std::int64_t number) {
  const auto [found, is_new] =
      streams_.try_emplace({device, number}, static_cast<std::uint32_t>(profile_.streams.size()));
  if (profile_.streams.size() == kMostGpuStreams && is_new) {
    throw ScenarioError(Problem{"too-many-streams",
                                fmt::format("event {} of traceEvents is on stream {} of device {}, one of more than {}",
                                            profile_.events, number, device, kMostGpuStreams),
                                {profile_.file, 0, 0, ""},
                                "a profile is of one GPU"});
  }
  if (is_new) { profile_.streams.push_back(fmt::format("stream {}", number)); }
  return found->second;
}

std::uint32_t EventSink::name(std::string_view text) {
  const auto [found, is_new] = names_.try_emplace(std::string(text), static_cast<std::uint32_t>(profile_.names.size()));
  if (is_new) { profile_.names.emplace_back(text); }
  return found->second;
}

std::uint32_t EventSink::add_collective(RecordedCollective& collective) {
  profile_.collectives.push_back(std::move(collective));
  return static_cast<std::uint32_t>(profile_.collectives.size()) - 1;
}

}  // namespace athanor
