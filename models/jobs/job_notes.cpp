// What is noted of the job that somebody asks for.

#include <fmt/core.h>

#include "models/jobs/job_simulation.hpp"
#include "sim/format.hpp"

namespace athanor {

void JobSimulation::note_submission(JobId job) {
  if (!is_watched(job)) { return; }
  const auto name = dependencies_.waits_for(job);
  run_.story.note(state_.now(), "is submitted");
  if (name) { run_.story.note(state_.now(), reason(job)); }
}

/// Schedulers have been asked, and the job waits still.
void JobSimulation::note_waiting() {
  if (!rules_.watched || *rules_.watched >= next_job_) { return; }
  const JobId job = *rules_.watched;
  const bool waits = run_.outcomes[job].state == JobState::waiting || lacks_tasks(job);
  if (!waits || dependencies_.waits_for(job)) { return; }
  run_.story.note(state_.now(), scheduler_.reason(job, state_));
}

void JobSimulation::note_start(JobId job, WallTime overhead) {
  if (!is_watched(job)) { return; }
  std::string nodes;
  constexpr std::size_t kNamed = 8;
  const Allocation& where = state_.running(job).where;
  for (std::size_t i = 0; i < where.size() && i < kNamed; ++i) {
    nodes += fmt::format("{}{} ({})", i == 0 ? "" : ", ", state_.inventory().nodes().name(where[i].node),
                         where[i].gpus.count());
  }
  if (where.size() > kNamed) { nodes += fmt::format(" and {} more", where.size() - kNamed); }
  const std::string again = run_.outcomes[job].starts > 1 ? "begins again" : "begins";
  const std::string after = overhead > WallTime::zero() ? fmt::format(", works after {}", to_string(overhead)) : "";
  run_.story.note(state_.now(), fmt::format("{} on nodes (GPUs) {}{}", again, nodes, after));
}

void JobSimulation::note_speed(JobId job, Speed speed) {
  if (!is_watched(job) || speed == watched_speed_) { return; }
  watched_speed_ = speed;
  run_.story.note(state_.now(),
                  fmt::format("works at {:.4g} of full speed", static_cast<double>(speed.parts) / 0x1p32));
}

void JobSimulation::note_failure(JobId job, std::uint32_t cause, WallTime lost) {
  if (!is_watched(job)) { return; }
  run_.story.note(state_.now(),
                  fmt::format("fails ({}), and loses {} of work", run_.failures[cause].name, to_string(lost)));
}

void JobSimulation::note(JobId job, std::string_view what) {
  if (is_watched(job)) { run_.story.note(state_.now(), std::string(what)); }
}

}  // namespace athanor
