#include "models/jobs/job_timeline.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/timeline.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kPicoseconds = 1'000'000;  // in a microsecond

/// One stint of a job, on one node.
struct Stay {
  const JobStint* stint = nullptr;
  std::uint32_t gpus = 0;
  std::uint32_t line = 0;
};

Time drawn(WallTime time) {
  if (time.count() > INT64_MAX / kPicoseconds) {
    throw SimulationError("timeline-too-long",
                          "a timeline has 106 days at most; give the workload a \"horizon\" of so many");
  }
  return Time{time.count() * kPicoseconds};
}

IdVector<NodeId, std::vector<Stay>> stays_of(const JobsRun& run, const NodeList& nodes) {
  IdVector<NodeId, std::vector<Stay>> stays(nodes.count());
  for (const JobStint& stint : run.stints) {
    for (const NodeShare& share : stint.where) {
      std::vector<Stay>& of_node = stays[share.node];
      if (!of_node.empty() && of_node.back().stint == &stint) {
        of_node.back().gpus += share.gpus.count();
      } else {
        of_node.push_back({&stint, share.gpus.count(), 0});
      }
    }
  }
  return stays;
}

/// Puts stays that overlap on lines of their own, each on the first that is free. Returns how many lines there are.
std::size_t lay_out(std::vector<Stay>& stays) {
  std::stable_sort(stays.begin(), stays.end(),
                   [](const Stay& a, const Stay& b) { return a.stint->since < b.stint->since; });
  std::vector<WallTime> busy_until;
  for (Stay& stay : stays) {
    const auto free =
        std::find_if(busy_until.begin(), busy_until.end(), [&](WallTime until) { return until <= stay.stint->since; });
    stay.line = static_cast<std::uint32_t>(free - busy_until.begin());
    if (free == busy_until.end()) { busy_until.emplace_back(); }
    busy_until[stay.line] = stay.stint->until;
  }
  return busy_until.size();
}

}  // namespace

void draw(const JobsRun& run, const JobList& jobs, const NodeList& nodes, Timeline& timeline) {
  IdVector<NodeId, std::vector<Stay>> stays = stays_of(run, nodes);
  std::map<std::uint32_t, ProcessId> groups;
  for (const NodeId node : nodes.nodes.ids()) {
    const std::uint32_t domain = nodes.tiers.empty() ? 0 : nodes.tiers.front().domains[node];
    const std::string name = nodes.tiers.empty() ? "nodes" : fmt::format("{} {}", nodes.tiers.front().name, domain);
    const auto at = groups.find(domain);
    const ProcessId group = at != groups.end() ? at->second : timeline.add_process(name);
    groups.try_emplace(domain, group);
    const std::size_t lines = std::max<std::size_t>(lay_out(stays[node]), 1);
    std::vector<Track> tracks;
    for (std::size_t line = 0; line < lines; ++line) { tracks.push_back(timeline.add_track(group, nodes.name(node))); }
    for (const Stay& stay : stays[node]) {
      const Job& job = jobs.jobs[stay.stint->job];
      timeline.span(tracks[stay.line], jobs.title(stay.stint->job),
                    jobs.name(job.queue).empty() ? "job" : jobs.name(job.queue), drawn(stay.stint->since),
                    drawn(stay.stint->until), {{"gpus_here", stay.gpus}, {"user", jobs.name(job.user)}});
    }
  }
}

}  // namespace athanor
