#include "models/engines/catalog.hpp"

// SwitchML: a programmable switch with a pool of slots. A worker sends packet k into slot k mod s as soon as it has the
// result of packet k - s, which is window and recovery from loss at once. The switch adds integers; workers turn blocks
// of floating-point numbers into integers of a common exponent (see EngineArithmetic). Losses: slots/.

namespace athanor {

using namespace literals;

EngineModel switchml_engine() {
  EngineModel engine;
  engine.name = "switchml";
  engine.summary = "SwitchML: integers in a programmable switch, a pool of slots as window";
  engine.limits.types = {DataType::float32, DataType::float16, DataType::int32};
  engine.limits.reductions = {Reduction::sum, Reduction::average};
  engine.exclusive = false;
  AggregatorSettings& pool = engine.slots.emplace();
  pool.policy = AggregatorPolicy::static_pool;
  pool.slots = 512;
  pool.payload = 1024_B;
  pool.header = 86_B;  // Ethernet 38, IPv4 20, UDP 8, base transport 12, SwitchML's exponents and numbers 8
  engine.modes = {packet_mode("SwitchML", pool, 400_ns)};
  engine.source =
      "Sapio et al., Scaling Distributed Machine Learning with In-Network Aggregation, NSDI 2021 (Tofino; 128 slots at "
      "10 Gb/s and 512 at 100 Gb/s, packets of 256 elements of 4 bytes over RDMA, block floating point)";
  engine.assumed =
      "400 ns through the switch's pipeline; several racks: switches in a tree, as the paper outlines; 1 ms until a "
      "packet is sent again";
  return engine;
}

}  // namespace athanor
