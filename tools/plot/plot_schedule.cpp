#include "tools/plot/plot_schedule.hpp"

#include <memory>
#include <vector>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "tools/cli/output.hpp"
#include "tools/plot/drawing.hpp"
#include "tools/plot/plot_options.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// Whose messages are followed one by one.
constexpr std::uint32_t kMostRanks = 1024;
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

std::string needed(const std::optional<std::string>& value, const char* option) {
  if (!value) { throw UsageError(fmt::format("plot: --{} is missing", option)); }
  return *value;
}

/// All blocks of an all-to-all-v alike, and as many elements as fill them.
void even_sizes(Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  const auto each = Elements{std::max<std::int64_t>(1, collective.count.count() / ranks)};
  collective.sizes = std::make_shared<AllToAllVSizes>(ranks, std::vector<Elements>(std::size_t{ranks} * ranks, each));
  collective.count = collective.sizes->largest();
}

/// What the options ask for. Where nothing else is said the payload is the least that is cut into equal pieces, an
/// all-to-all-v's blocks are of equal size, and all ranks are one group. Throws UsageError, and ScenarioError with
/// those that fit where the algorithm does not.
ScheduleRequest request_of(const ScheduleOptions& options) {
  ScheduleRequest request;
  Collective& collective = request.collective;
  collective.kind = named_collective("plot", needed(options.collective, "collective"));
  const std::string name = needed(options.algorithm, "algorithm");
  if (!options.ranks) { throw UsageError("plot: --ranks is missing"); }
  collective.ranks = *options.ranks;
  if (collective.ranks > kMostRanks) {
    throw UsageError(fmt::format("plot: {} ranks are more than the {} whose messages are followed one by one",
                                 collective.ranks, kMostRanks));
  }
  collective.root = options.root;
  request.algorithm = &find(collective.kind, name);
  request.layout = options.layout;
  request.layout.shape = options.grid;
  if (options.chunk) { request.layout.chunk = Elements{*options.chunk}; }
  if (collective.kind == CollectiveKind::all_to_all_v) { even_sizes(collective); }
  if (const auto refusal = refusal_with_alternatives(*request.algorithm, collective, request.layout)) {
    throw ScenarioError(*refusal);
  }
  const Elements least = request.algorithm->granule(collective, request.layout);
  if (collective.kind != CollectiveKind::barrier) {
    collective.count = options.count ? Elements{*options.count} : least;
  }
  if (collective.kind == CollectiveKind::all_to_all_v) { even_sizes(collective); }
  return request;
}

}  // namespace

void visit(OptionFields& fields, ScheduleOptions& options) {
  fields.group("a schedule");
  fields.text("collective", "KIND", options.collective, "as in all_reduce");
  fields.text("algorithm", "NAME", options.algorithm, "a name from `athanor list algorithms`");
  fields.number("ranks", "N", options.ranks, 1, "how many take part");
  fields.number("root", "RANK", options.root, 0,
                "of broadcast, reduce, gather and scatter, the sender of send_receive; absent: 0");
  fields.number("count", "N", options.count, 1,
                "elements of the payload; absent: the least that is cut into equal pieces");
  fields.number("channels", "N", options.layout.channels, 1, "side by side; absent: 1");
  fields.number("chunk", "N", options.chunk, 1, "most elements of one chunk; absent: all in one loop");
  fields.number("slices", "N", options.layout.slices, 1, "messages per chunk; absent: 1");
  fields.number("group", "N", options.layout.group, 1, "ranks per node, for hierarchies; absent: all in one");
  fields.dimensions("dimensions", "AxB", options.grid.dimensions,
                    "of a torus or mesh; absent: the sides of the least sum");
}

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

ExitCode plot_schedule(const PlotOptions& options, const Streams& streams) {
  const CommonOptions& common = options.common;
  const ScheduleRequest request = request_of(options.schedule);
  const bool drawn = !common.json || options.output;
  if (drawn) { check_drawable(request); }
  const std::string picture_name =
      fmt::format("{}-{}-{}", name(request.collective.kind), request.algorithm->name, request.collective.ranks);
  const std::string picture = drawn ? picture_path(options.output, options.folder, picture_name) : "";
  const Json schedule = schedule_json(request);
  if (drawn) { draw(common.library, streams, "plot_schedule.py", schedule, picture); }
  if (common.json) { write_json(common, streams, text_of(Json{{"results", std::vector{schedule}}})); }
  return ExitCode::ok;
}

}  // namespace athanor
