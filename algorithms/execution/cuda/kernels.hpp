#pragma once

#include "algorithms/execution/cuda/device_view.hpp"
#include "algorithms/reduction.hpp"

namespace athanor {

/// The interpreter for one element type and operation, as cudaLaunchCooperativeKernel takes it: void(DeviceView).
const void* interpreter_kernel(DataType type, Reduction reduction);

}  // namespace athanor
