#include "models/engines/catalog.hpp"

// ATP: programmable top-of-rack switches whose slots ("aggregators") all jobs share. A packet's slot is a hash of its
// job and number; one that another packet holds lets the packet pass on to the job's parameter server, which adds up
// what the switch did not. What jobs do to each other, and losses: slots/.

namespace athanor {

using namespace literals;

EngineModel atp_engine() {
  EngineModel engine;
  engine.name = "atp";
  engine.summary = "ATP: integers in programmable top-of-rack switches, slots shared by all jobs, a server behind them";
  engine.limits.place = EnginePlace::leaf;
  engine.limits.workers = 64;  // a bit of each in a packet
  engine.limits.types = {DataType::float32, DataType::int32};
  engine.limits.reductions = {Reduction::sum, Reduction::average};
  engine.exclusive = false;
  AggregatorSettings& pool = engine.slots.emplace();
  pool.policy = AggregatorPolicy::best_effort;
  pool.slots = 512;
  pool.payload = 248_B;
  pool.header = 58_B;
  engine.modes = {packet_mode("ATP", pool, 400_ns)};
  engine.source =
      "Lao et al., ATP: In-network Aggregation for Multi-tenant Learning, NSDI 2021 (packets of 306 bytes with 62 "
      "elements of 4 bytes; aggregators by hash; parameter server as fallback)";
  engine.assumed =
      "400 ns through the switch's pipeline; 512 slots and a window of as many packets; at most 64 workers; 1 ms until "
      "a packet is sent again";
  return engine;
}

}  // namespace athanor
