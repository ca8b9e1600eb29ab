#include "models/traces/channel_peers.hpp"

#include "sim/error.hpp"

namespace athanor {

ChannelPeers::ChannelPeers(const Workload& workload) {
  for (const Workload::Channel& channel : workload.channels) {
    Ends& ends = ends_.emplace_back();
    for (const std::vector<std::uint32_t>& pair : *channel.pairs) {
      const bool first = ends.receiver.emplace(pair.front(), pair.back()).second;
      if (first && ends.sender.emplace(pair.back(), pair.front()).second) { continue; }
      throw SimulationError("unknown-ranks", channel.name + ": a rank sends to several, or receives from several");
    }
  }
}

}  // namespace athanor
