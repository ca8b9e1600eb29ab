#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "algorithms/schedule/schedule.hpp"
#include "tools/measure/backend.hpp"

namespace athanor {

/// NVIDIA's (or, where it stands in for it, AMD's) library of collectives, found when the program runs: libnccl.so.2
/// on the library path. Its C interface has kept its numbers since version 2.
class NcclLibrary {
 public:
  /// None where there is no such library, or it lacks a function.
  static std::optional<NcclLibrary> find();
  ~NcclLibrary();
  NcclLibrary(NcclLibrary&& other) noexcept;
  NcclLibrary& operator=(NcclLibrary&&) = delete;
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  /// "2.21.5".
  std::string version() const;

 private:
  friend class NcclCollective;
  struct Functions;
  explicit NcclLibrary(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

/// Why NCCL does no such trial on so many GPUs, or nothing: it takes a GPU for each rank and equal parts, and has no
/// barrier.
std::optional<std::string> nccl_refuses(const Trial& trial, std::size_t gpus);

/// A collective by NCCL's own function for it, or by its sends and receives in one group, rank r on GPU r.
class NcclCollective {
 public:
  /// Requires a trial that is not refused, and a library that outlives this. Throws SimulationError "cuda" or "nccl".
  NcclCollective(const NcclLibrary& library, const Trial& trial);
  ~NcclCollective();
  NcclCollective(const NcclCollective&) = delete;
  NcclCollective& operator=(const NcclCollective&) = delete;

  /// Copies to a rank's buffer and from it. Requires as many bytes as it holds.
  void write(std::uint32_t rank, Buffer buffer, std::span<const std::byte> data);
  void read(std::uint32_t rank, Buffer buffer, std::span<std::byte> data) const;

  /// Once. Returns the time in seconds, by the events of the slowest GPU. Throws SimulationError "nccl-time-limit"
  /// after the trial's limit, when the collective is aborted.
  double run();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace athanor
