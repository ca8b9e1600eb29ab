#include "gangs.hpp"

namespace athanor {

JobList list_of(const std::vector<Gang>& gangs) {
  JobList list;
  for (const Gang& gang : gangs) {
    Job job;
    job.queue = list.name(gang.queue);
    job.shape = list.shape({{gang.tasks, {.gpus = gang.gpus}}});
    job.submitted = wall_seconds(gang.submitted);
    job.duration = job.expected = wall_seconds(gang.duration);
    job.priority = gang.priority;
    list.jobs.push_back(job);
  }
  return list;
}

WallTime started(const JobsRun& run, std::uint32_t job) { return run.outcomes[JobId{job}].started; }
WallTime ended(const JobsRun& run, std::uint32_t job) { return run.outcomes[JobId{job}].ended; }

std::string tiers(const std::string& first, const std::string& second) {
  return R"("tiers": [[)" + first + R"(], [)" + second + R"(]])";
}

}  // namespace athanor
