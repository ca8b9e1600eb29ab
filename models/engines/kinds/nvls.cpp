#include "models/engines/catalog.hpp"

// NVLink SHARP: the NVSwitches of a node load from all GPUs, add up and store to all. Algorithms nvls, nvls_tree and
// nvls_sharp; its costs belong to NCCL and stand in the profiles of machines.

namespace athanor {

EngineModel nvls_engine() {
  EngineModel engine;
  engine.name = "nvls";
  engine.summary = "NVLink SHARP: load-reduce and store-multicast in the NVSwitches of a node";
  engine.limits.place = EnginePlace::nvswitch;
  engine.limits.types = {DataType::float16, DataType::bfloat16, DataType::float32,
                         DataType::float64, DataType::int32,    DataType::int64};
  engine.limits.reductions = {Reduction::sum, Reduction::minimum, Reduction::maximum};
  engine.only_summed = {DataType::float32, DataType::float64};
  engine.source =
      "NCCL 2.30, src/graph/tuning.cc and src/transport/nvls.cc (third generation of NVSwitch, H100 and later; no "
      "product, "
      "average, 8-bit types; minimum and maximum not of float32 and float64)";
  engine.assumed = "nothing: costs are those of the profile";
  return engine;
}

}  // namespace athanor
