#include "sim/error.hpp"
#include "tools/measure/cuda_backend.hpp"

namespace athanor {

namespace {

[[noreturn]] void refuse() {
  throw UsageError("this athanor was built without CUDA; install nvcc and the CUDA runtime and build it anew");
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() { refuse(); }
GpuFacts gpu_facts() { refuse(); }
std::vector<std::chrono::nanoseconds> time_on_gpus(const Schedule&, std::uint32_t, std::chrono::nanoseconds) {
  refuse();
}

}  // namespace athanor
