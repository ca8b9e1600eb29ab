#include "models/engines/catalog.hpp"

// NACA, a reference architecture of operators: hosts hand a collective to a NIC that offloads it, the switches next to
// hosts and those above add up, and a controller places trees. So it is a composition: SHARP's kind of engine in every
// switch, over RoCE packets, with the NIC's costs in place of the host's.

namespace athanor {

using namespace literals;

EngineModel naca_engine() {
  EngineModel engine = sharp_v3_engine();
  engine.name = "naca";
  engine.summary = "NACA: engines in Ethernet switches under a controller, behind NICs that offload";
  engine.exclusive = false;
  for (Protocol& mode : engine.modes) { mode.aggregation.payload = {1024, 1024 + 82}; }
  engine.source =
      "no public text of the architecture was found; nearest: draft-yao-tsvwg-cco-requirement-and-analysis (China "
      "Mobile and others) and draft-lou-rtgwg-sinc (Huawei and China Mobile), IETF";
  engine.assumed =
      "engines with the limits and costs of sharp_v3, shared by jobs, over RoCE packets of 1,024 B with 82 B of "
      "headers; "
      "combine it with \"offload\" for its NICs";
  return engine;
}

}  // namespace athanor
