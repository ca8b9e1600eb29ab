#include "models/software/hop_cost.hpp"

namespace athanor {

void visit(Fields& fields, HopCost& hop) {
  fields.optional("latency", hop.latency, "Of each message, in software; overlaps with other messages");
  fields.optional("rate", hop.rate, "Payload rate of one channel; absent: only links limit");
  fields.renamed("pace", "injection_rate");
  fields.optional("injection_rate", hop.injection_rate,
                  "Payload rate of the sender itself, where \"send_end\" is paced; absent: done at once");
  fields.optional("efficiency", hop.efficiency, "Share of the links' usable rate that is reached", {{1, 100}, {1, 1}});
}

}  // namespace athanor
