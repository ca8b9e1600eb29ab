#pragma once

#include "algorithms/schedule/data_type.hpp"

namespace athanor {

/// The interpreter for one element type and operation, as cudaLaunchCooperativeKernel takes it: void(DeviceView).
const void* interpreter_kernel(DataType type, Reduction reduction);

/// One thread that waits for DeviceView::go or stop, launched likewise: holds back what follows it in its stream.
const void* gate_kernel();

}  // namespace athanor
