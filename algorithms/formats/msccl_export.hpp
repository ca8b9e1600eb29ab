#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// What an exported file holds, to hold against what a runtime takes.
struct MscclSummary {
  std::uint32_t chunks = 0;
  std::uint32_t channels = 0;
  std::uint32_t most_blocks = 0;   ///< thread blocks of one gpu
  std::uint32_t most_steps = 0;    ///< of one thread block
  std::uint32_t most_scratch = 0;  ///< chunks of one gpu
};

/// Writes a schedule as MSCCL XML, one gpu at a time. A lane becomes a thread block where each of its in-ports always
/// goes with the same out-port, else one per port; primitives that MSCCL does not know become several steps, with a
/// scratch chunk where a value has to wait. Loops are written out and `finish` is left to the runtime, as MSCCL does.
/// What does not fit is refused with ScenarioError ("no-msccl-form"): engines, send/receive, an empty payload or one
/// that its ranks do not divide, more than 2^20 steps in a lane. Requires a proven schedule of the collective.
MscclSummary export_msccl(const Schedule& schedule, const Collective& collective, std::string_view name,
                          const std::function<void(std::string_view)>& write);

}  // namespace athanor
