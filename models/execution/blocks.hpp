#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "models/network/flow_network.hpp"
#include "models/software/gpu_costs.hpp"

namespace athanor {

/// Told when a block has moved all that its primitive reads and writes.
class BlockListener {
 public:
  virtual ~BlockListener() = default;
  virtual void block_done(std::uint32_t lane) = 0;
};

/// The thread blocks that carry out the lanes of a schedule on GPUs, a block for each. All that a primitive reads and
/// writes in its GPU is one stream, of at most `block_rate`; all streams of a GPU share its cache, and beyond it its
/// memory, max-min fairly. What goes into another GPU is a stream of its own for each connection, which the blocks of
/// both GPUs share the link between them for. A primitive is done when all its streams are.
class Blocks : public MoveListener {
 public:
  /// Borrows plan, costs and listener. Agent a is on GPU a * gpus / agents, as the executor spreads them. Throws
  /// SimulationError("gpu-residency") where a GPU has more lanes than resident blocks.
  Blocks(Simulator& simulator, const MappedSchedule& plan, const Schedule& schedule, const GpuCosts& costs,
         std::uint32_t gpus, Bytes element_size, std::uint32_t slots, BlockListener& listener);

  Time overhead() const { return costs_.primitive; }
  /// Until the second lane sees what the first one has sent.
  Time notice(std::uint32_t lane, std::uint32_t other) const {
    return gpu(lane) == gpu(other) ? costs_.flag : costs_.peer_flag;
  }
  /// The block of this lane reads and writes what this primitive of it does. Messages leave by ports from `first_out`
  /// of the plan on.
  void move(std::uint32_t lane, const Primitive& primitive);

  void injected(std::uint32_t stream) override;
  void grain_arrived(std::uint32_t) override {}
  void delivered(std::uint32_t) override {}

 private:
  std::uint32_t gpu(std::uint32_t lane) const { return gpu_of_[lane]; }
  void require_residency(std::uint32_t gpus) const;
  void lay_out_streams(const std::vector<bool>& cached, std::uint32_t gpus);
  std::vector<bool> fit_into_cache(const Schedule& schedule, std::uint32_t gpus, std::uint32_t slots) const;
  void begin(std::uint32_t lane, std::uint32_t stream, Bytes bytes);

  const MappedSchedule& plan_;
  const GpuCosts& costs_;
  Bytes element_size_;
  BlockListener& listener_;
  std::vector<std::uint32_t> gpu_of_;       ///< of each lane
  NetworkPlan streams_;                     ///< one for each lane, then one for each connection between two GPUs
  std::vector<std::uint32_t> peer_stream_;  ///< of each connection of the plan
  std::vector<std::uint32_t> lane_of_;      ///< of each stream
  std::vector<std::uint32_t> unended_;      ///< streams of each lane's primitive
  std::unique_ptr<FlowNetwork> memory_;
};

}  // namespace athanor
