#include "sim/error.hpp"
#include "tools/measure/cuda_backend.hpp"

namespace athanor {

std::unique_ptr<Backend> make_cuda_backend() {
  throw UsageError("this athanor was built without CUDA; install nvcc and the CUDA runtime and build it anew");
}

}  // namespace athanor
