#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

struct HtsimSummary {
  std::uint64_t flows = 0;
  std::uint64_t triggers = 0;
  std::uint64_t bytes = 0;
  std::uint64_t empty = 0;  ///< messages without content, written as one byte, since a flow has at least one
};

/// Writes the messages of a schedule as a connection matrix (.cm) of htsim: a flow for each message, from host to host
/// by rank. The sends of a primitive start together, when all messages that their lane has received before them are
/// there and its sends before them are acknowledged: a trigger of htsim says so. Reductions and copies take no time.
/// Memory grows with the messages. Throws ScenarioError ("no-htsim-form") for engines, lanes that wait for other lanes,
/// messages of 2^31 bytes or more and more than 2^31 messages.
HtsimSummary export_htsim(const Schedule& schedule, std::int64_t element_bytes,
                          const std::function<void(std::string_view)>& write);

}  // namespace athanor
