#include "models/experiments/scenario/aggregation_section.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/engines/trees/switch_graph.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

enum class Sharing : std::uint8_t { exclusive, turns };
enum class OnExhausted : std::uint8_t { fail, fallback };

void read_engine(FieldValue& value, EngineModel& engine) {
  std::vector<std::string> names;
  for (const EngineModel& each : engine_catalog()) {
    if (is_in_switches(each)) { names.push_back(each.name); }
  }
  std::string text = names.front();
  value.visit(text, OneOf{names});
  if (value.ok()) { engine = find_engine(text); }
}

void read_limits(Fields& fields, EngineLimits& limits) {
  fields.optional("switches", limits.switches,
                  "Names, with * and ?, of the switches that have an engine; absent: all that the engine is made for");
  fields.optional("children", limits.children, "Most that one switch adds up: ranks and other switches",
                  {2, UINT32_MAX});
  fields.optional("trees", limits.trees, "Trees of low latency in the whole fabric");
  fields.optional("streams", limits.streams, "Streaming trees in the whole fabric");
  fields.optional("streams_per_switch", limits.streams_per_switch, "Streaming trees that are active in one switch");
  fields.optional("streams_per_port", limits.streams_per_port, "Streaming trees that use one port");
  fields.optional("jobs_per_switch", limits.jobs_per_switch, "Jobs that hold memory of one switch");
  fields.optional("message", limits.message,
                  "Most bytes of one operation: of a chunk where one is given, else of the "
                  "payload",
                  {Bytes{1}});
}

/// General algorithms that scale: of these, the fastest.
std::vector<const Algorithm*> default_fallback(CollectiveKind kind) {
  static constexpr std::array kNames{
      "ring",  "double_binary_tree", "recursive_doubling", "halving_doubling", "binomial_tree", "dissemination",
      "bruck", "recursive_halving"};
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* algorithm : algorithms_of(kind)) {
    const bool general = std::find(kNames.begin(), kNames.end(), algorithm->name) != kNames.end();
    if (general && algorithm->engine == Engine::none) { algorithms.push_back(algorithm); }
  }
  return algorithms;
}

std::vector<const Algorithm*> named_fallback(const AggregationSection& section, CollectiveKind kind,
                                             Problems& problems) {
  std::vector<const Algorithm*> algorithms;
  for (const std::string& name : *section.fallback) {
    try {
      algorithms.push_back(&find(kind, name));
    } catch (const ScenarioError& error) {
      Problem problem = error.problems().front();
      problem.place = section.fallback_place;
      problems.add(std::move(problem));
      continue;
    }
    if (algorithms.back()->engine == Engine::none) { continue; }
    problems.add({"conflict", fmt::format("{} needs engines itself", name), section.fallback_place,
                  "name an algorithm that hosts carry out alone, such as \"ring\""});
  }
  return algorithms;
}

/// Are the switches there that are said to have engines?
bool check_switches(const AggregationSection& section, const Cluster& cluster, Problems& problems) {
  if (section.engine.limits.switches.empty()) { return true; }  // nor is a graph of millions of cables made
  std::optional<Problem> problem = wrong_places(SwitchGraph(*cluster.fabric, cluster.network), section.engine.limits);
  if (!problem) { return true; }
  problem->place = section.switches_place;
  problems.add(std::move(*problem));
  return false;
}

}  // namespace

void visit(Fields& fields, AggregationSection& section) {
  section.engine = engine_catalog().front();
  fields.optional_value("engine", "Its limits and costs (`athanor list engines`); absent: ideal",
                        [&](FieldValue& value) { read_engine(value, section.engine); });
  read_limits(fields, section.engine.limits);
  fields.optional("trees_per_job", section.engine.trees_per_job, "That the channels of a job are spread over", {1, 64});
  Sharing sharing = section.engine.exclusive ? Sharing::exclusive : Sharing::turns;
  fields.optional("sharing", sharing,
                  "What jobs do that need a streaming tree of one switch; absent: as the engine's software does",
                  {{"exclusive", Sharing::exclusive}, {"turns", Sharing::turns}});
  section.engine.exclusive = sharing == Sharing::exclusive;
  OnExhausted on_exhausted = OnExhausted::fail;
  fields.optional("on_exhausted", on_exhausted, "Where engines cannot be had",
                  {{"fail", OnExhausted::fail}, {"fallback", OnExhausted::fallback}});
  section.falls_back = on_exhausted == OnExhausted::fallback;
  fields.optional_value("fallback",
                        "Algorithms without engines, of which the fastest runs then; absent: a choice of them",
                        [&](FieldValue& value) { value.visit(section.fallback.emplace()); });
  visit(fields, section.engine, section.slots);
  section.switches_place = fields.place("switches");
  section.fallback_place = fields.place("fallback");
  if (section.fallback && !section.falls_back) {
    fields.problem("fallback", "conflict", "nothing falls back here", R"(add "on_exhausted": "fallback")");
  }
}

std::shared_ptr<const EngineDeployment> resolve(const AggregationSection& section, const Cluster& cluster,
                                                const SlotUsers& users, Problems& problems) {
  auto aggregation = std::make_shared<EngineDeployment>();
  aggregation->engine = section.engine;
  if (section.fallback) {
    aggregation->fallback = named_fallback(section, users.kind, problems);
  } else if (section.falls_back) {
    aggregation->fallback = default_fallback(users.kind);
  }
  if (!check_switches(section, cluster, problems)) { return nullptr; }
  resolve(section.slots, cluster, users, *aggregation, problems);
  return aggregation;
}

std::shared_ptr<const EngineDeployment> resolve_for_groups(const AggregationSection& section, const Cluster& cluster,
                                                           std::uint32_t ranks, const SourceLocation& place,
                                                           Problems& problems) {
  const SlotUsers users{.kind = CollectiveKind::all_reduce, .ranks = ranks, .choose = true};
  auto aggregation = resolve(section, cluster, users, problems);
  if (!aggregation || !aggregation->slots) { return aggregation; }
  problems.add({"not-simulated",
                fmt::format("{} adds up packet by packet, which is simulated for collectives and jobs alone",
                            aggregation->engine.name),
                place, R"(take another "engine", such as "sharp_v3", or leave "aggregation" out)"});
  return nullptr;
}

}  // namespace athanor
