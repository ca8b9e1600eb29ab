#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "topologies/fabric/router.hpp"

namespace athanor {

/// By which devices of its node each rank of a communicator sends to other nodes and receives from them, channel by
/// channel, as a library found them. Nodes are alike, and hold `places` ranks each: rank r is number r % places of node
/// r / places. NICs and GPUs have their numbers within the node (Vertex::index).
struct ChannelNics {
  struct Use {
    std::uint32_t out = NicChoice::kAny;    ///< NIC that it sends by
    std::uint32_t relay = NicChoice::kAny;  ///< GPU over which it reaches that; kAny: directly
    std::uint32_t in = NicChoice::kAny;     ///< NIC that it receives by
    std::uint32_t out_ports = 1;            ///< NICs from `out` on that carry equal parts of each message
    std::uint32_t in_ports = 1;             ///< likewise
    bool operator==(const Use&) const = default;
  };
  using Table = std::vector<std::vector<Use>>;  ///< [channel][place]

  std::uint32_t places = 1;
  std::vector<std::uint32_t> gpus;  ///< by place: the GPU that this is true of
  Table even;                       ///< of nodes of even number; channel c of a collective is c % even.size()
  Table odd;                        ///< of the others; as many channels
  std::uint32_t ports = 1;          ///< the least multiple of all of `out_ports` and `in_ports`

  const Use& use(std::uint32_t rank, std::uint32_t channel) const {
    const Table& table = rank / places % 2 == 0 ? even : odd;
    return table[channel % table.size()][rank % places];
  }
};

/// A rank of a communicator; null: the router chooses its NICs.
struct NicUser {
  std::shared_ptr<const ChannelNics> nics;
  std::uint32_t rank = 0;
};

/// What a message of a channel takes between two of one communicator.
inline NicChoice nics_between(const NicUser& from, const NicUser& to, std::uint32_t channel) {
  NicChoice choice;
  if (to.nics) {
    const ChannelNics::Use& use = to.nics->use(to.rank, channel);
    choice.in = use.in;
    choice.in_ports = use.in_ports;
  }
  if (!from.nics) { return choice; }
  const ChannelNics::Use& use = from.nics->use(from.rank, channel);
  choice.out = use.out;
  choice.out_ports = use.out_ports;
  choice.relay = use.relay;
  return choice;
}

}  // namespace athanor
