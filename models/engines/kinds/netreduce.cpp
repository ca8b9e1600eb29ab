#include "models/engines/catalog.hpp"

// NetReduce: an FPGA on ports of the top-of-rack switch. Hosts speak RoCE v2 to each other; the switch turns their
// messages over the FPGA, which adds them up and keeps the hosts' connections intact, so that their congestion control
// and their recovery of losses stay in use. FPGAs beside the spines join racks, as the
// authors' extension to spine-leaf fabrics has it.

namespace athanor {

using namespace literals;

EngineModel netreduce_engine() {
  EngineModel engine;
  engine.name = "netreduce";
  engine.summary =
      "NetReduce: an FPGA beside each switch next to hosts, and beside those that join racks; hosts keep RoCE v2";
  engine.limits.types = {DataType::float32, DataType::int32};
  engine.limits.reductions = {Reduction::sum, Reduction::average};
  engine.exclusive = false;
  Protocol mode;
  mode.name = "NetReduce";
  mode.chunk = 64_KiB;
  mode.slots = 8;
  mode.aggregation.payload = {1024, 1024 + 82};  // Ethernet 38, IPv4 20, UDP 8, base transport 12, CRC 4
  mode.aggregation.latency = 1_us;
  mode.aggregation.rate = scaled_up(Bandwidth{12'500'000'000}, mode.aggregation.payload);
  mode.aggregation.grain = 1_KiB;
  mode.aggregation.outstanding = 8;
  engine.modes = {mode};
  engine.source =
      "Liu et al., In-Network Aggregation with Transport Layer Transparency for Distributed Training (NetReduce), "
      "ASPLOS 2023; arXiv 2009.09736 (FPGA on an Ethernet switch, message-level credits, racks in a spine-leaf fabric)";
  engine.assumed =
      "100 Gb/s between the switch and the FPGA for each port; 1 us per message to or from it; packets of 1,024 B with "
      "82 B of headers; messages of 64 KiB, eight credits; FPGAs beside the spines too, which the authors outline";
  return engine;
}

}  // namespace athanor
