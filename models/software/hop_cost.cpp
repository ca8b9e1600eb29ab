#include "models/software/hop_cost.hpp"

namespace athanor {

void read(ObjectReader& reader, HopCost& hop) {
  reader.optional("latency", hop.latency, "Of each message, in software; overlaps with other messages");
  reader.optional("rate", hop.rate, "Payload rate of one channel; absent: only links limit");
  reader.optional("pace", hop.pace,
                  "Payload rate of the sender itself, where \"send_end\" is paced; absent: done at once");
  reader.optional("efficiency", hop.efficiency, "Share of the links' usable rate that is reached", {{1, 100}, {1, 1}});
}

}  // namespace athanor
