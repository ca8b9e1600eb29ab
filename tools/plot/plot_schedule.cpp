#include "tools/plot/plot_schedule.hpp"

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/plot/drawing.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// More columns than this cannot be told apart on a page.
constexpr std::uint32_t kMostAgents = 64;
/// Schedules are followed primitive by primitive and element by element.
constexpr std::uint64_t kMostPrimitives = 1 << 22;
constexpr std::int64_t kMostElements = 1 << 22;

Json carried_json(const Carried& carried) {
  Json json;
  if (carried.origin) { json["origin"] = *carried.origin; }
  if (carried.first) { json["first"] = carried.first->count(); }
  json["count"] = carried.count.count();
  json["terms"] = carried.terms;
  return json;
}

Json message_json(const RoundMessage& message) {
  Json carries = Json::list();
  for (const Carried& carried : message.carries) { carries.push_back(carried_json(carried)); }
  return {{"round", message.round}, {"from", message.from.value},        {"to", message.to.value},
          {"part", message.part},   {"elements", message.count.count()}, {"adds", message.added},
          {"carries", carries}};
}

/// Of all lanes of all agents.
std::uint64_t primitives(const Schedule& schedule) {
  std::uint64_t total = 0;
  for (std::uint32_t agent = 0; agent < schedule.agent_count().agents; ++agent) {
    for (std::uint32_t number = 0; number < schedule.lanes(AgentId{agent}); ++number) {
      const Lane lane = schedule.lane(AgentId{agent}, LaneId{number});
      total += lane.loops * lane.steps;
    }
  }
  return total;
}

void check_drawable(const ScheduleRequest& request) {
  const std::uint32_t ranks = request.collective.ranks;
  if (ranks <= kMostAgents) { return; }
  throw UsageError(fmt::format(
      "plot: {} ranks are more than the {} that can be drawn side by side; an algorithm looks alike over fewer ranks, "
      "and --json writes the messages of more",
      ranks, kMostAgents));
}

void check_size(const ScheduleRequest& request, const Schedule& schedule) {
  const std::int64_t elements = request.collective.count.count() * request.collective.ranks;
  const std::uint64_t steps = primitives(schedule);
  if (elements <= kMostElements && steps <= kMostPrimitives) { return; }
  throw UsageError(
      fmt::format("plot: {} elements on all ranks and {} steps of theirs are too much to follow one by one; at most {} "
                  "and {}: fewer ranks, a smaller --count or a larger --chunk",
                  elements, steps, kMostElements, kMostPrimitives));
}

}  // namespace

JsonValue schedule_json(const ScheduleRequest& request) {
  const auto schedule = request.algorithm->make(request.collective, request.layout);
  check_size(request, *schedule);
  const Rounds rounds = rounds_of(*schedule);
  Json messages = Json::list();
  for (const RoundMessage& message : rounds.messages) { messages.push_back(message_json(message)); }
  return {{"collective", name(request.collective.kind)},
          {"algorithm", request.algorithm->name},
          {"summary", request.algorithm->summary},
          {"engine", name(request.algorithm->engine)},
          {"ranks", request.collective.ranks},
          {"agents", schedule->agent_count().agents},
          {"count", request.collective.count.count()},
          {"root", request.collective.root},
          {"channels", request.layout.channels},
          {"rounds", rounds.rounds},
          {"parts", rounds.parts},
          {"messages", std::move(messages)}};
}

ExitCode plot_schedule(const Invocation& invocation, const Streams& streams) {
  const ScheduleRequest request = schedule_request(invocation);
  const bool drawn = !invocation.has("json") || invocation.has("output");
  if (drawn) { check_drawable(request); }
  const std::string picture_name =
      fmt::format("{}-{}-{}", name(request.collective.kind), request.algorithm->name, request.collective.ranks);
  const std::string picture = drawn ? picture_path(invocation, picture_name) : "";
  const Json schedule = schedule_json(request);
  if (drawn) { draw(invocation, streams, "plot_schedule.py", schedule, picture); }
  if (invocation.has("json")) { write_json(invocation, streams, text_of(Json{{"results", std::vector{schedule}}})); }
  return ExitCode::ok;
}

}  // namespace athanor
