#include "models/engines/catalog.hpp"

// A NIC that runs the schedule of a collective: the host posts it, computes, and finds the result. Costs of a primitive
// are the NIC's; the key "offload" of a scenario says so.

namespace athanor {

EngineModel nic_offload_engine() {
  EngineModel engine;
  engine.name = "nic";
  engine.summary = "NICs that run the schedule while their hosts compute (CORE-Direct and its successors)";
  engine.limits.place = EnginePlace::nic;
  engine.source =
      "Graham et al., ConnectX-2 InfiniBand Management Queues: First Investigation of the New Support for Network "
      "Offloaded Collective Operations, CCGRID 2010 (work requests that wait for others, without the host)";
  engine.assumed = "costs: the scenario gives them";
  return engine;
}

}  // namespace athanor
