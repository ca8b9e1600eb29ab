#include "tools/explain/job_explanation.hpp"

#include <fmt/core.h>

#include "models/experiments/shared_cluster_record.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

JsonValue seconds_or_null(WallTime time) { return time == WallTime::max() ? JsonValue() : JsonValue(seconds(time)); }

/// "12.3 % detecting": parts of the time on nodes that are not nothing.
std::string parts_of(const TimeOnNodes& time) {
  const double all = seconds(time.all());
  std::vector<std::string> parts;
  for (const auto& [part, what] :
       {std::pair(time.useful, "work that lasted"), std::pair(time.slowed, "on slow nodes"),
        std::pair(time.writing, "checkpoints"), std::pair(time.lost, "lost"),
        std::pair(time.detecting, "failed and unseen"), std::pair(time.incomplete, "without tasks that were lost"),
        std::pair(time.starting, "beginning again")}) {
    if (part > WallTime::zero()) { parts.push_back(fmt::format("{:.1f} % {}", seconds(part) / all * 100, what)); }
  }
  return fmt::format("{}", joined(parts, ", "));
}

std::string pace_text(const TrainingPace& pace) {
  return fmt::format(
      "steps take {:.2f} times as long as on the first nodes alone: {:.2f} by its place, {:.2f} by others",
      pace.time / pace.best, pace.alone / pace.best, pace.time / pace.alone);
}

}  // namespace

std::string to_text(const JobExplanation& explanation) {
  const JobHistory& history = explanation.history;
  const JobOutcome& outcome = history.outcome;
  std::string text = explanation.heading.text() + "\n";
  text += fmt::format("job        {}, {} GPUs, submitted at {}, {} at full speed\n", history.title, history.gpus,
                      to_string(history.submitted), to_string(history.duration));
  const std::string waited = outcome.starts == 0                    ? "to the end"
                             : outcome.started == history.submitted ? "not at all"
                                                                    : to_string(outcome.started - history.submitted);
  text += fmt::format("waited     {}\n", waited);
  if (outcome.ran() > WallTime::zero()) {
    text += fmt::format("on nodes   {}: {}\n", to_string(outcome.ran()), parts_of(outcome.time));
  }
  if (history.pace && history.pace->best > 0) { text += fmt::format("speed      {}\n", pace_text(*history.pace)); }
  text += "\n";
  for (const JobStory::Event& event : history.story.events) {
    text += fmt::format("{:>14}  {}\n", to_string(event.when), event.what);
  }
  if (history.story.left_out > 0) { text += fmt::format("{:>14}  and {} more\n", "", history.story.left_out); }
  return text;
}

JsonValue to_json(const JobExplanation& explanation) {
  const JobHistory& history = explanation.history;
  const JobOutcome& outcome = history.outcome;
  JsonValue events = JsonValue::list();
  for (const JobStory::Event& event : history.story.events) {
    events.push_back({{"time_s", seconds(event.when)}, {"what", event.what}});
  }
  const bool started = outcome.starts > 0;
  const bool paced = history.pace && history.pace->best > 0;
  return {{"case", explanation.heading.at("case")},
          {"cluster", explanation.heading.at("cluster")},
          {"job", history.job.value},
          {"name", history.title},
          {"gpus", history.gpus},
          {"state", text_of(outcome.state)},
          {"submitted_s", seconds(history.submitted)},
          {"wait_s", started ? JsonValue(seconds(outcome.started - history.submitted)) : JsonValue()},
          {"ended_s", seconds_or_null(outcome.ended)},
          {"duration_s", seconds(history.duration)},
          {"time_s",
           {{"useful", seconds(outcome.time.useful)},
            {"slowed", seconds(outcome.time.slowed)},
            {"writing", seconds(outcome.time.writing)},
            {"lost", seconds(outcome.time.lost)},
            {"detecting", seconds(outcome.time.detecting)},
            {"incomplete", seconds(outcome.time.incomplete)},
            {"starting", seconds(outcome.time.starting)}}},
          {"placement_slowdown", paced ? JsonValue(history.pace->alone / history.pace->best) : JsonValue()},
          {"interference_slowdown", paced ? JsonValue(history.pace->time / history.pace->alone) : JsonValue()},
          {"events", std::move(events)},
          {"left_out", history.story.left_out}};
}

}  // namespace athanor
