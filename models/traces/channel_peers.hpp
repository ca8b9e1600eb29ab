#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/workload/workload.hpp"

namespace athanor {

/// Whom each rank sends to over a channel of a workload, and receives from.
class ChannelPeers {
 public:
  /// Throws SimulationError("unknown-ranks") where a rank has several of either: traces name one.
  explicit ChannelPeers(const Workload& workload);

  /// Require that the rank sends or receives over it.
  std::uint32_t receiver(std::uint32_t channel, std::uint32_t rank) const { return ends_[channel].receiver.at(rank); }
  std::uint32_t sender(std::uint32_t channel, std::uint32_t rank) const { return ends_[channel].sender.at(rank); }

 private:
  struct Ends {
    std::unordered_map<std::uint32_t, std::uint32_t> receiver;  ///< by sender
    std::unordered_map<std::uint32_t, std::uint32_t> sender;
  };
  std::vector<Ends> ends_;  ///< by channel
};

}  // namespace athanor
