#pragma once

#include <vector>

#include "algorithms/execution/cuda/device_memory.hpp"
#include "algorithms/execution/cuda/device_view.hpp"

namespace athanor {

/// Blocks of so many threads that one GPU runs at once. Throws SimulationError "cuda".
std::uint32_t resident_blocks(int device, const void* kernel, std::uint32_t threads);

/// What one GPU holds of a run: its agents' buffers, the ends of connections that belong to it, and the tables.
class GpuShare {
 public:
  GpuShare(int device, const LaneTables& tables, std::vector<std::uint32_t> lanes);

  /// Slots and counters of connections, in the order in which they are asked for.
  void reserve(std::size_t sending_ends, std::size_t receiving_ends, std::size_t slot_bytes);
  void take_sending_end(DeviceConnection& connection);
  void take_receiving_end(DeviceConnection& connection);

  /// Loads what will be launched. Throws "cuda-residency" unless all lanes fit at once.
  void prepare(const void* kernel, std::uint32_t threads) const;
  /// The view with everything in this GPU's memory filled in.
  void set_view(DeviceView common, std::span<const DeviceConnection> connections, std::span<std::byte* const> buffers);

  /// Counters back to the start.
  void reset();
  /// Puts the gate and the kernel behind it into the stream, so that the kernel begins, and its time, when the host
  /// says go: after all GPUs have theirs. Nothing where no lane falls on this GPU; done() is then true and seconds() 0.
  void launch(const void* kernel, std::uint32_t threads);
  /// Whether what was launched has ended; throws where it failed.
  bool done() const;
  /// Waits for all that was launched, failed or not. Requires that it can end: go or stop.
  void settle() const;
  double seconds() const;

 private:
  static constexpr std::size_t kCounterBytes = 128;  // a line of its own for each: two sides write them

  int device_;
  std::vector<std::uint32_t> lanes_;
  DeviceMemory entries_, lane_table_, in_connections_, lanes_here_, ended_;
  DeviceMemory connections_, buffers_;
  DeviceMemory sending_, receiving_, slots_;
  std::size_t slot_bytes_ = 0;
  std::size_t sending_taken_ = 0;
  std::size_t receiving_taken_ = 0;
  DeviceView view_;
  DeviceStream stream_;
  DeviceEvent begin_, end_;
};

}  // namespace athanor
