#include "models/experiments/scenario/expert_fields.hpp"

#include <algorithm>

namespace athanor {

void visit(Fields& fields, ExpertSettings& settings) {
  fields.optional("kind", settings.kind, "How tokens get to experts and back",
                  {{"pairwise", ExchangeKind::pairwise},
                   {"deep_ep", ExchangeKind::deep_ep},
                   {"hybrid_ep", ExchangeKind::hybrid_ep},
                   {"low_latency", ExchangeKind::low_latency}});
  fields.optional("dispatch", settings.dispatch, "In what tokens go to experts; results come back in bf16",
                  {{"bf16", DispatchPrecision::bf16}, {"fp8", DispatchPrecision::fp8}});
  fields.optional("most_nodes", settings.most_nodes, "Nodes that a token's experts are on, at most; absent: any",
                  {1, 1'000'000});
  fields.optional_value("multiprocessors", "That the kernels take; absent: deep_ep 24, hybrid_ep 16",
                        [&](FieldValue& value) {
                          value.visit(settings.multiprocessors.emplace(1), Range<std::uint32_t>{1, 1000});
                        });
  fields.optional("overhead", settings.overhead,
                  "Of each dispatch and combine, whatever its size; absent: as measured");
  Ratio zipf{0, 1};
  fields.optional("zipf", zipf, "How unequal experts are: the exponent by which their weights fall", {{0, 1}, {5, 1}});
  settings.zipf = to_double(zipf);
  std::vector<Ratio> loads;
  fields.optional_value("loads", "Of each expert, as measured, in any unit", [&](FieldValue& value) {
    value.list(loads,
               [](FieldValue& each, Ratio& load) {
                 each.visit(load, {{1, 1'000'000'000}, {1'000'000'000, 1}});
               },
               {1});
  });
  for (const Ratio& load : loads) { settings.loads.push_back(to_double(load)); }
  fields.optional("redundant", settings.redundant, "Replicas of busy experts, beyond one of each", {0, 100'000});
  Ratio capacity{0, 1};
  fields.optional("capacity_factor", capacity,
                  "An expert takes of a rank's tokens so many times its share, and drops the others; absent: all",
                  {{1, 100}, {1000, 1}});
  settings.capacity_factor = to_double(capacity);
}

}  // namespace athanor
