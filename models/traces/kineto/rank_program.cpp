#include "models/traces/kineto/rank_program.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "models/traces/kineto/stream_waits.hpp"
#include "models/traces/program_draft.hpp"
#include "models/traces/trace_options.hpp"

namespace athanor {

namespace {

using GpuOperation = GpuProfile::GpuOperation;
using CpuCall = GpuProfile::CpuCall;

constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

Time time_between(ProfileTime from, ProfileTime to) {
  return to > from ? Time{to - from} * kPicosecondsPerNanosecond : Time::zero();
}

class RankProgram {
 public:
  RankProgram(const GpuProfile& profile, std::uint32_t rank, std::uint32_t world, bool alone,
              const TraceOptions& options, WorkloadDraft& draft)
      : profile_(profile),
        options_(options),
        draft_(draft),
        program_(profile.file, fmt::format("rank {}", rank)),
        calls_(profile, rank, world, alone, draft),
        waits_(profile) {
    program_.worker().ranks = alone ? world : 1;
    cpu_ = program_.stream("cpu", true, true);
    for (const std::string& stream : profile.streams) { streams_.push_back(program_.stream(stream, true)); }
    for (const std::string& name : profile.names) { labels_.push_back(draft.label(name)); }
    cpu_label_ = draft.label("between launches");
    wait_label_ = draft.label("wait for the GPU");
  }

  /// Operations of the GPU are nodes by their index; those of the CPU follow them.
  void run() && {
    next_node_ = profile_.operations.size();
    std::size_t launched = 0;
    for (std::size_t call = 0; call < profile_.calls.size(); ++call) {
      while (launched < profile_.operations.size() && waits_.call_of(launched) == StreamWaits::kNoCall &&
             profile_.operations[launched].start < profile_.calls[call].start) {
        add_operation(launched++, std::nullopt);
      }
      const std::size_t first = launched;
      while (launched < profile_.operations.size() && waits_.call_of(launched) == call) { ++launched; }
      take_call(profile_.calls[call], first, launched);
    }
    while (launched < profile_.operations.size()) { add_operation(launched++, std::nullopt); }
    std::move(program_).finish(draft_, false);
  }

 private:
  void take_call(const CpuCall& call, std::size_t first, std::size_t last) {
    if (call.kind == CpuCall::Kind::makes_stream_wait) { return waits_.make_wait(); }
    const bool waits = call.kind == CpuCall::Kind::waits_for_gpu;
    if (first == last && !waits) { return; }
    const std::optional<std::uint64_t> launch = compute_on_cpu(waits ? call.start : call.end);
    for (std::size_t i = first; i < last; ++i) { add_operation(i, launch); }
    if (waits) { wait_for_gpu(call, last); }
  }

  /// The CPU's time up to `until`; a node that what follows waits for. None where nothing was done.
  std::optional<std::uint64_t> compute_on_cpu(ProfileTime until) {
    const ProfileTime from = cpu_end_.value_or(until);
    cpu_end_ = std::max(from, until);
    const Time time = options_.cpu == TraceOptions::Cpu::free ? Time::zero() : time_between(from, until);
    if (time == Time::zero()) { return last_on_cpu_; }
    return add_on_cpu(time, cpu_label_);
  }

  std::uint64_t add_on_cpu(Time time, std::uint32_t label) {
    Workload::Operation operation;
    operation.kind = time > Time::zero() ? Workload::Kind::compute : Workload::Kind::mark;
    operation.time = time;
    operation.stream = cpu_;
    operation.label = label;
    program_.add(next_node_, operation);
    last_on_cpu_ = next_node_;
    return next_node_++;
  }

  /// For the last of what was launched so far and ended while the call waited.
  void wait_for_gpu(const CpuCall& call, std::size_t launched) {
    const std::optional<std::size_t> awaited = waits_.last_ended(call.start, call.end, launched);
    if (!awaited) {
      compute_on_cpu(call.end);
      return;
    }
    const ProfileTime end = profile_.operations[*awaited].end;
    const Time rest = options_.cpu == TraceOptions::Cpu::free ? Time::zero() : time_between(end, call.end);
    add_on_cpu(rest, wait_label_);
    program_.depends(*awaited);
    cpu_end_ = call.end;
  }

  void add_operation(std::size_t index, std::optional<std::uint64_t> launch) {
    const GpuOperation& recorded = profile_.operations[index];
    Workload::Operation operation = recorded.communicates ? communication(recorded) : computation(recorded);
    operation.stream = streams_[recorded.stream];
    operation.label = labels_[recorded.name];
    program_.add(index, operation);
    if (launch) { program_.depends(*launch); }
    waits_.launch(index, [&](std::size_t other) { program_.depends(other); });
  }

  Workload::Operation lasting(Time time) const {
    Workload::Operation operation;
    operation.kind = time > Time::zero() ? Workload::Kind::compute : Workload::Kind::mark;
    operation.time = time;
    return operation;
  }

  Workload::Operation computation(const GpuOperation& recorded) const {
    return lasting(scaled_up(time_between(recorded.start, recorded.end), options_.compute_scale));
  }

  Workload::Operation communication(const GpuOperation& recorded) {
    const Time measured = time_between(recorded.start, recorded.end);
    if (options_.communication == TraceOptions::Communication::measured) { return lasting(measured); }
    std::uint32_t collective = recorded.collective;
    if (collective == GpuProfile::kNone) {
      const auto found = profile_.recorded.find(recorded.external);
      if (found != profile_.recorded.end()) { collective = found->second; }
    }
    if (collective == GpuProfile::kNone) {
      draft_.notes.count("NCCL kernels of which nothing was recorded but the name last as measured");
      return lasting(measured);
    }
    std::string why;
    const auto operation = calls_.operation(profile_.collectives[collective], why);
    if (operation) { return *operation; }
    draft_.notes.count(why);
    return lasting(measured);
  }

  const GpuProfile& profile_;
  const TraceOptions& options_;
  WorkloadDraft& draft_;
  ProgramDraft program_;
  RecordedCalls calls_;
  StreamWaits waits_;
  std::uint16_t cpu_ = 0;
  std::vector<std::uint16_t> streams_;
  std::vector<std::uint32_t> labels_;
  std::uint32_t cpu_label_ = 0;
  std::uint32_t wait_label_ = 0;
  std::uint64_t next_node_ = 0;
  std::optional<ProfileTime> cpu_end_;
  std::optional<std::uint64_t> last_on_cpu_;
};

}  // namespace

void add_rank_program(GpuProfile profile, std::uint32_t rank, std::uint32_t world, bool alone,
                      const TraceOptions& options, WorkloadDraft& draft) {
  draft.notes.count("events that end before they begin are left out", profile.backward);
  choose_step(profile, options.step, draft);
  sort_by_launch(profile);
  RankProgram(profile, rank, world, alone, options, draft).run();
}

namespace {

std::uint32_t world_of(const GpuProfile& profile, const TraceOptions& options) {
  std::uint32_t world = std::max(profile.world.value_or(1), profile.rank.value_or(0) + 1);
  for (const RecordedCollective& collective : profile.collectives) {
    if (!profile.world && collective.group_size > static_cast<std::int64_t>(world)) {
      world = static_cast<std::uint32_t>(collective.group_size);
    }
    for (const std::uint32_t rank : rank_list(collective.ranks).value_or(std::vector<std::uint32_t>{})) {
      world = std::max(world, rank + 1);
    }
  }
  return options.ranks.value_or(world);
}

void read_alone(const std::string& file, const TraceOptions& options, WorkloadDraft& draft) {
  ByteSource source(file, options.limit.value_or(kMostStreamed));
  GpuProfile profile = read_profile(source);
  const std::uint32_t world = world_of(profile, options);
  const std::uint32_t rank = profile.rank.value_or(0);
  if (world > 1) {
    draft.notes.say(fmt::format("one of {} ranks was recorded (rank {}); all are taken to do the same at the same time",
                                world, rank));
  }
  add_rank_program(std::move(profile), rank, world, true, options, draft);
}

/// Which rank each file is of: as it says, or as the files are given where none says so.
std::vector<std::string> by_rank(const std::vector<std::string>& files, const std::vector<std::uint32_t>& ranks,
                                 WorkloadDraft& draft) {
  std::vector<std::string> ordered(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (ranks[i] >= files.size()) {
      draft.complaints.add(
          {"missing-ranks",
           fmt::format("this profile is of rank {}, and there are profiles of {} ranks", ranks[i], files.size()),
           {files[i], 0, 0, ""},
           "give the profile of one rank, or those of all"});
    } else if (!ordered[ranks[i]].empty()) {
      draft.complaints.add({"duplicate-rank",
                            fmt::format("this profile is of rank {}, as is {}", ranks[i], ordered[ranks[i]]),
                            {files[i], 0, 0, ""},
                            ""});
    } else {
      ordered[ranks[i]] = files[i];
    }
  }
  return ordered;
}

}  // namespace

void read_kineto(const std::vector<std::string>& files, const TraceOptions& options, WorkloadDraft& draft) {
  if (files.size() == 1) { return read_alone(files.front(), options, draft); }
  const auto world = static_cast<std::uint32_t>(files.size());
  std::vector<GpuProfile> profiles;
  std::vector<std::uint32_t> ranks;
  for (const std::string& file : files) {
    ByteSource source(file, options.limit.value_or(kMostStreamed));
    profiles.push_back(read_profile(source));
    ranks.push_back(profiles.back().rank.value_or(static_cast<std::uint32_t>(ranks.size())));
    if (profiles.back().world.value_or(world) == world) { continue; }
    draft.complaints.add(
        {"missing-ranks",
         fmt::format("this profile is of one of {} ranks, and there are profiles of {}", *profiles.back().world, world),
         {file, 0, 0, ""},
         "give the profile of one rank, or those of all"});
  }
  const std::vector<std::string> ordered = by_rank(files, ranks, draft);
  if (!draft.complaints.empty()) { return; }
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    const auto found = std::find(ranks.begin(), ranks.end(), rank);
    add_rank_program(std::move(profiles[static_cast<std::size_t>(found - ranks.begin())]), rank, world, false, options,
                     draft);
  }
}

}  // namespace athanor
