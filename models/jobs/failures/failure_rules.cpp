#include "models/jobs/failures/failure_rules.hpp"

#include <algorithm>
#include <cmath>

#include "sim/config/fields.hpp"

namespace athanor {

namespace {

using What = FailureSource::What;

void visit_span(Fields& fields, std::string_view key, RandomSpan& span, std::string_view meaning, WallTime least) {
  fields.optional_value(key, meaning, [&](FieldValue& value) { visit(value, span, least); });
}

void visit_span(Fields& fields, std::string_view key, std::optional<RandomSpan>& span, std::string_view meaning,
                WallTime least) {
  if (fields.writing() && !span) { return; }
  RandomSpan given = span.value_or(RandomSpan{});
  visit_span(fields, key, given, meaning, least);
  if (fields.reading() && fields.has(key)) { span = given; }
}

/// What slows nodes down: how much, for how long, and whether anybody sees it.
void check_slowness(Fields& fields, const FailureSource& source) {
  if (source.speed && source.communication) {
    fields.problem("communication", "conflict", "either its nodes have a speed, or it follows from their NICs",
                   R"(leave out "speed" or "communication")");
  }
  if (source.communication && source.what != What::nic) {
    fields.problem("communication", "conflict", "only NICs take communication with them", R"(write "what": "nic")");
  }
  if (source.speed && source.what == What::job) {
    fields.problem("speed", "conflict", "software of a job that fails makes no node slow", "leave it out");
  }
  if (source.lasts && !source.slows()) {
    fields.problem("lasts", "no-effect", "what fails is lost until it is repaired",
                   R"(write "repair", or "speed" for nodes that are slow and not lost)");
  }
  if (source.coverage && source.what == What::job) {
    fields.problem("coverage", "no-effect", "checks look at nodes, not at the software of jobs", "leave it out");
  }
}

void visit_slowness(Fields& fields, FailureSource& source) {
  fields.optional("speed", source.speed, "Its nodes are not lost: jobs go on at that of their speed",
                  {{0, 1}, {999, 1000}});
  fields.optional("communication", source.communication,
                  "Of NICs that are not lost with their nodes: share of the time of jobs that NICs that are left "
                  "carry slower",
                  {{1, 1000}, {1, 1}});
  visit_span(fields, "lasts", source.lasts, "Of what is slow, unless it is found; absent: until it is found",
             WallTime{1});
  fields.optional("coverage", source.coverage, "Probability with which a check finds it; absent: that of all checks",
                  {{0, 1}, {1, 1}});
}

void visit(Fields& fields, FailureSource& source) {
  fields.optional("what", source.what, "What fails",
                  {{"node", What::node},
                   {"gpu", What::gpu},
                   {"nic", What::nic},
                   {"rack", What::rack},
                   {"tier", What::tier},
                   {"job", What::job}});
  fields.optional("name", source.name, "What results call it; absent: what fails");
  fields.optional("tier", source.tier, R"(Of a tier: "leaf", or another layer of the cluster's switches)");
  fields.optional("nodes", source.nodes, "Of a rack: so many nodes in a row");
  fields.required_value("between", "Failures of one such thing, from its repair on; of a job from its start on",
                        [&](FieldValue& value) { visit(value, source.between, WallTime{1}); });
  visit_span(fields, "repair", source.repair, "Until its nodes can be used again; absent: at once", {});
  visit_slowness(fields, source);
  if (!fields.ok()) { return; }
  if ((source.what == What::tier) == source.tier.empty()) {
    fields.problem("tier", "conflict", "a source of failures has a tier if it is one", R"(as in "tier": "leaf")");
  }
  if ((source.what == What::rack) != (source.nodes > 0)) {
    fields.problem("nodes", "conflict", "a rack, and nothing else that fails, has a number of nodes",
                   R"(as in "what": "rack", "nodes": 4)");
  }
  if (source.what == What::job && source.repair != RandomSpan{}) {
    fields.problem("repair", "unknown-key", "the failure of a job takes no node away", "leave it out");
  }
  check_slowness(fields, source);
  if (source.between.law == RandomSpan::Law::fixed) { source.between.law = RandomSpan::Law::exponential; }
  if (source.name.empty()) { source.name = source.what == What::tier ? source.tier : std::string(name(source.what)); }
}

void visit(Fields& fields, FalseAlarms& alarms) {
  fields.required("probability", alarms.probability,
                  "With which one check takes a node that is well for one that is not",
                  {{1, 1'000'000'000'000}, {1, 1}});
  visit_span(fields, "repair", alarms.repair, "Until such a node can be used again; absent: at once", {});
}

void visit(Fields& fields, HealthChecks& checks) {
  fields.required("interval", checks.interval, "Checks are at multiples of it", {WallTime{1}});
  fields.optional("coverage", checks.coverage, "Probability with which one finds a node that has failed or is slow",
                  {{0, 1}, {1, 1}});
  fields.optional("found", checks.found, "What becomes of jobs on a slow node that has been found",
                  {{"drain", HealthChecks::Found::drain}, {"move", HealthChecks::Found::move}});
  fields.optional_object("false_alarms", checks.false_alarms, "Checks that find something on nodes that are well",
                         [](Fields& nested, FalseAlarms& alarms) { visit(nested, alarms); });
}

void visit(Fields& fields, Cordon& cordon) {
  fields.optional("after", cordon.after, "So many failures of a node", {1, 1'000'000});
  fields.required("within", cordon.within, "In that time", {WallTime{1}});
  visit_span(fields, "repair", cordon.repair, "After which it is as good as others; absent: it is out for good", {});
}

/// Whether checks find anything, and what they find can be.
void check_checks(Fields& fields, const FailureRules& rules) {
  const auto any = [&](auto is) { return std::any_of(rules.sources.begin(), rules.sources.end(), is); };
  const bool parts = any([](const FailureSource& source) { return source.what != What::job; });
  const bool alarms = rules.checks && rules.checks->false_alarms;
  if (alarms && any([](const FailureSource& source) { return source.name == kFalseAlarms; })) {
    fields.problem("sources", "duplicate", "\"false alarms\" is what results call those of checks",
                   "give the source another name");
  }
  if (rules.checks && !parts && !alarms) {
    fields.problem("checks", "no-effect", "only software of jobs fails, which checks of nodes do not see",
                   "leave it out");
  }
  if (!rules.checks && any([](const FailureSource& source) { return source.coverage.has_value(); })) {
    fields.problem("checks", "missing-key", "a source has a \"coverage\", and nobody checks",
                   R"(as in "checks": {"interval": "5min"})");
  }
  const auto never_found = [&](const FailureSource& source) {
    return !rules.checks || source.coverage.value_or(rules.checks->coverage) == Ratio{0, 1};
  };
  if (any([&](const FailureSource& source) {
        return source.slows() && source.repair != RandomSpan{} && never_found(source);
      })) {
    fields.problem("sources", "no-effect", "a node that is slow is repaired when a check has found it, and none does",
                   R"(leave out its "repair", or write "checks")");
  }
  if (rules.restart == Restart::requeue && (rules.in_place_overhead || rules.shrink)) {
    fields.problem(rules.shrink ? "shrink" : "in_place_overhead", "no-effect", "no job begins again in place",
                   R"(leave it out, or write "restart": "in_place")");
  }
  const bool moves = rules.checks && rules.checks->found == HealthChecks::Found::move;
  const bool loses = any([](const FailureSource& each) { return each.what != What::job && !each.slows(); });
  if (rules.restart == Restart::lost_tasks && !moves && !loses) {
    fields.problem("restart", "no-effect", "no job loses tasks: nothing takes nodes away", "leave it out");
  }
  if (rules.restart == Restart::lost_tasks && rules.shrink) {
    fields.problem("shrink", "no-effect", "jobs keep what is left, and the scheduler gives them others",
                   R"(leave it out, or write "restart": "in_place")");
  }
  const bool counted = alarms || any([](const FailureSource& source) { return source.what <= What::node; });
  if (rules.cordon && !counted) { fields.problem("cordon", "no-effect", "no node fails by itself", "leave it out"); }
}

}  // namespace

std::string_view name(FailureSource::What what) {
  switch (what) {
    case What::gpu: return "gpu";
    case What::nic: return "nic";
    case What::node: return "node";
    case What::rack: return "rack";
    case What::tier: return "tier";
    case What::job: return "job";
  }
  return "";
}

void visit(Fields& fields, FailureRules& rules) {
  fields.required_list("sources", rules.sources, "What fails",
                       [](Fields& nested, FailureSource& source) { visit(nested, source); });
  visit_span(fields, "detection", rules.detection, "A job that has failed holds its nodes so long; absent: not at all",
             {});
  fields.optional(
      "restart", rules.restart, "How a job begins again that has failed",
      {{"in_place", Restart::in_place}, {"requeue", Restart::requeue}, {"lost_tasks", Restart::lost_tasks}});
  fields.optional("in_place_overhead", rules.in_place_overhead,
                  "Without progress, of one that begins again in place; absent: \"restart_overhead\"");
  fields.optional("shrink", rules.shrink,
                  "Elastic jobs go on with the GPUs that are left, and get others when there are some");
  fields.optional("spares", rules.spares, "Nodes, the last ones, that stand by for those that are lost");
  Ratio share{std::llround(rules.lemon_share * 1000), 1000};
  Ratio times{std::llround(rules.lemon_times * 1000), 1000};
  fields.optional("lemon_share", share, "Share of nodes that fail more often");
  fields.optional("lemon_times", times, "How many times as often as others", {{1, 1}, {1000, 1}});
  rules.lemon_share = to_double(share);
  rules.lemon_times = to_double(times);
  fields.optional_object("checks", rules.checks, "Checks that find nodes that have failed or are slow",
                         [](Fields& nested, HealthChecks& checks) { visit(nested, checks); });
  fields.optional_object("cordon", rules.cordon, "Nodes that fail too often are taken out",
                         [](Fields& nested, Cordon& cordon) { visit(nested, cordon); });
  if (fields.ok()) { check_checks(fields, rules); }
}

}  // namespace athanor
