#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// How a schedule is to be run on GPUs.
struct CudaRequest {
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::uint32_t slots = 8;         ///< at least what the schedule needs
  std::uint32_t threads = 512;     ///< of a block, 32 to 1024; a block runs one lane
  std::vector<int> devices;        ///< CUDA device numbers; agents are spread over them in order. Empty: all
  double time_limit_seconds = 30;  ///< after which a run that has not ended is stopped
};

/// "NVIDIA H100 80GB HBM3", one per device; empty without a GPU or a driver.
std::vector<std::string> cuda_devices();

struct CudaLimits {
  std::uint32_t resident_blocks = 0;  ///< of the interpreter of float32, at once on one GPU
  std::int64_t cache_bytes = 0;       ///< of its L2
};
/// Of a device, for blocks of so many threads. Throws SimulationError "cuda".
CudaLimits cuda_limits(int device, std::uint32_t threads);

/// Runs a schedule on the GPUs of this machine: one persistent kernel per GPU interprets the tables of its lanes, with
/// messages and flags in device memory; peers on other GPUs are written through peer access. Engine agents are run
/// like ranks, by blocks of the GPU that they fall on: they add as ranks do (no EngineArithmetic), and their speed is
/// not that of a switch.
///
/// Memory, tables and flags are made once, so that runs can be timed. Not thread-safe.
/// Throws SimulationError: "cuda" with the driver's words, "cuda-residency" when not all lanes fit on their GPU at
/// once (with how many do), "cuda-peer" when two GPUs have no access to each other, "cuda-time-limit".
class CudaExecutor {
 public:
  CudaExecutor(const Schedule& schedule, const CudaRequest& request);
  ~CudaExecutor();
  CudaExecutor(const CudaExecutor&) = delete;
  CudaExecutor& operator=(const CudaExecutor&) = delete;

  /// Copies to and from an agent's buffer. Requires as many bytes as it holds.
  void write(AgentId agent, Buffer buffer, std::span<const std::byte> data);
  void read(AgentId agent, Buffer buffer, std::span<std::byte> data) const;

  /// Runs the schedule once and waits for its end. Returns the time in seconds, by the events of the slowest GPU.
  double run();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace athanor
