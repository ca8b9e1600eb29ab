// The kernels as they stand, by the compiler of the host. As nvcc does, the runtime's header comes first.
#include <cuda_runtime.h>

#include "algorithms/execution/cuda/kernels.cu"
