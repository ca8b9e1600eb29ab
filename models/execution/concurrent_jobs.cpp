#include "models/execution/concurrent_jobs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "models/execution/executor.hpp"
#include "sim/check.hpp"

namespace athanor {

void assign_starts(MappedSchedule& mapped, const ConcurrentJobs& jobs) {
  if (jobs.starts.empty()) { return; }
  require(jobs.of_agents.size() == mapped.first_lane.size(), "jobs of {} agents, of {}", jobs.of_agents.size(),
          mapped.first_lane.size());
  std::set<std::uint32_t> awaited;
  for (const JobStart& start : jobs.starts) { awaited.insert(start.after.begin(), start.after.end()); }
  mapped.starts = {};
  std::map<Time, StartIndex> shared;
  std::vector<StartIndex> start_of;  // by job
  for (std::uint32_t job = 0; job < jobs.starts.size(); ++job) {
    const JobStart& start = jobs.starts[job];
    const StartIndex next = mapped.starts.next();
    const bool alone = !start.after.empty() || awaited.contains(job);
    start_of.push_back(alone ? next : shared.try_emplace(start.begin, next).first->second);
    if (start_of.back() != next) { continue; }
    mapped.starts.push_back({start.begin, {}});
    for (const std::uint32_t before : start.after) {
      require(before < job, "job {} waits for job {}", job, before);
      mapped.starts.back().after.push_back(start_of[before]);
    }
  }
  for (MappedSchedule::Lane& lane : mapped.lanes) { lane.start = start_of.at(jobs.of_agents[lane.agent.value]); }
}

std::vector<Time> ends(const MappedSchedule& mapped, const Executor& executor, const ConcurrentJobs& jobs) {
  std::vector<Time> ends(jobs.starts.size());
  if (ends.empty()) { return ends; }
  for (const AgentId agent : mapped.first_lane.ids()) {
    const AgentId next{agent.value + 1};
    const std::size_t behind = next < mapped.first_lane.next() ? mapped.first_lane[next] : mapped.lane_of.size();
    Time& end = ends.at(jobs.of_agents[agent.value]);
    for (std::size_t lane = mapped.first_lane[agent]; lane < behind; ++lane) {
      end = std::max(end, executor.end_of(mapped.lane_of[lane]));
    }
  }
  return ends;
}

}  // namespace athanor
