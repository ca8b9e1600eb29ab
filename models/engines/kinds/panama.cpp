#include "models/engines/catalog.hpp"

// PANAMA: FPGAs in the links between hosts and switches and between switches. A job's gradients go over several
// aggregation trees, so that no link carries them all, and a congestion control that reads marks of the aggregated
// packets shares links fairly with other traffic.

namespace athanor {

using namespace literals;

EngineModel panama_engine() {
  EngineModel engine;
  engine.name = "panama";
  engine.summary = "PANAMA: FPGAs in the links of every switch; a job's payload is spread over four trees";
  engine.limits.types = {DataType::float32};
  engine.limits.reductions = {Reduction::sum, Reduction::average};
  engine.trees_per_job = 4;
  engine.exclusive = false;
  Protocol mode;
  mode.name = "PANAMA";
  mode.channels = 4;
  mode.chunk = 64_KiB;
  mode.slots = 8;
  mode.aggregation.payload = {1024, 1024 + 66};  // Ethernet 38, IPv4 20, UDP 8
  mode.aggregation.latency = 500_ns;
  mode.aggregation.grain = 1_KiB;
  engine.modes = {mode};
  engine.source =
      "Gebara, Costa, Ghobadi, In-Network Aggregation for Shared Machine Learning Clusters, MLSys 2021 (floating point "
      "at the line rate of 10 Gb/s in the prototype, several trees per job, congestion control by marks)";
  engine.assumed =
      "line rate also on faster links; four trees; 500 ns per message to or from an accelerator; packets of 1,024 B "
      "with 66 B of headers; marks are those of the packet level's transports";
  return engine;
}

}  // namespace athanor
