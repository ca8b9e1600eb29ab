#include "models/jobs/failures/failure_rules.hpp"

#include <cmath>

#include "sim/config/fields.hpp"

namespace athanor {

namespace {

using What = FailureSource::What;

void visit_span(Fields& fields, std::string_view key, RandomSpan& span, std::string_view meaning, WallTime least) {
  fields.optional_value(key, meaning, [&](FieldValue& value) { visit(value, span, least); });
}

void visit(Fields& fields, FailureSource& source) {
  fields.optional(
      "what", source.what, "What fails",
      {{"node", What::node}, {"gpu", What::gpu}, {"nic", What::nic}, {"tier", What::tier}, {"job", What::job}});
  fields.optional("name", source.name, "What results call it; absent: what fails");
  fields.optional("tier", source.tier, R"(Of a tier: "leaf", or another layer of the cluster's switches)");
  fields.required_value("between", "Failures of one such thing, from its repair on; of a job from its start on",
                        [&](FieldValue& value) { visit(value, source.between, WallTime{1}); });
  visit_span(fields, "repair", source.repair, "Until its nodes can be used again; absent: at once", {});
  if (!fields.ok()) { return; }
  if ((source.what == What::tier) == source.tier.empty()) {
    fields.problem("tier", "conflict", "a source of failures has a tier if it is one", R"(as in "tier": "leaf")");
  }
  if (source.what == What::job && source.repair != RandomSpan{}) {
    fields.problem("repair", "unknown-key", "the failure of a job takes no node away", "leave it out");
  }
  if (source.between.law == RandomSpan::Law::fixed) { source.between.law = RandomSpan::Law::exponential; }
  if (source.name.empty()) { source.name = source.what == What::tier ? source.tier : std::string(name(source.what)); }
}

}  // namespace

std::string_view name(FailureSource::What what) {
  switch (what) {
    case What::gpu: return "gpu";
    case What::nic: return "nic";
    case What::node: return "node";
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
  fields.optional("restart", rules.restart, "How a job begins again that has failed",
                  {{"in_place", Restart::in_place}, {"requeue", Restart::requeue}});
  fields.optional("spares", rules.spares, "Nodes, the last ones, that stand by for those that are lost");
  Ratio share{std::llround(rules.lemon_share * 1000), 1000};
  Ratio times{std::llround(rules.lemon_times * 1000), 1000};
  fields.optional("lemon_share", share, "Share of nodes that fail more often");
  fields.optional("lemon_times", times, "How many times as often as others", {{1, 1}, {1000, 1}});
  rules.lemon_share = to_double(share);
  rules.lemon_times = to_double(times);
}

}  // namespace athanor
