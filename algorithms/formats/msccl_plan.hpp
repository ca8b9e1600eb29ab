#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// How a lane becomes thread blocks: those of its ports that are used, an in-port together with the out-port that it
/// always goes with. A lane without ports has one block.
struct LanePlan {
  struct Block {
    std::optional<std::uint32_t> in;
    std::optional<std::uint32_t> out;
    std::uint32_t channel = 0;
  };
  std::uint32_t first_block = 0;  ///< within its gpu
  std::vector<Block> blocks;
  Elements longest;  ///< count of its longest primitive

  /// Of a port of this lane, counted from first_block.
  std::uint32_t block_of_in(std::uint32_t port) const;
  std::uint32_t block_of_out(std::uint32_t port) const;
};

/// A schedule's thread blocks, channels and chunks.
struct MscclPlan {
  Wiring wiring;
  std::vector<LanePlan> lanes;  ///< as in the wiring
  Elements chunk;               ///< divides every count, address and buffer
  bool single_chunks = false;   ///< some cells are strided, so that all messages are sent chunk by chunk
  std::uint32_t channels = 1;
};

/// Throws ScenarioError where the schedule has no MSCCL form.
MscclPlan plan_msccl(const Schedule& schedule, const Collective& collective);

}  // namespace athanor
