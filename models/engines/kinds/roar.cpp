#include "models/engines/catalog.hpp"

// Roar: a processing unit inside the router, which hosts reach by RDMA. It adds up in a fixed order, so that results
// repeat, and takes large messages in fragments.

namespace athanor {

using namespace literals;

EngineModel roar_engine() {
  EngineModel engine;
  engine.name = "roar";
  engine.summary = "Roar: a processing unit in each router, reached by RDMA; repeatable results";
  engine.limits.types = {DataType::float32, DataType::float64, DataType::int32, DataType::int64};
  engine.exclusive = false;
  Protocol mode;
  mode.name = "Roar";
  mode.chunk = 64_KiB;
  mode.slots = 8;
  mode.aggregation.payload = {2048, 2048 + 58};  // the same headers as of InfiniBand, with RDMA's own of 16
  mode.aggregation.latency = 200_ns;
  mode.aggregation.grain = 2_KiB;
  engine.modes = {mode};
  engine.source =
      "Wang et al., Roar: A Router Microarchitecture for In-network Allreduce, ICS 2023 (abstract: RDMA for "
      "throughput, "
      "large messages, repeatable results, near the optimum of host algorithms)";
  engine.assumed = "everything but that: line rate, 200 ns per message to or from a unit, types, packets of 2,048 B";
  return engine;
}

}  // namespace athanor
