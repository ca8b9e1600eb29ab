#include <algorithm>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "models/traces/kineto/rank_program.hpp"
#include "models/traces/trace_limits.hpp"

namespace athanor {

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
