#pragma once

#include <cstdint>

#include "models/nccl/tuning/communicator.hpp"

namespace athanor {

/// Channels for sends and receives: a power of two.
std::uint32_t peer_channels(const NcclCommunicator& communicator);
/// Channels for sends to and receives from one peer, at most: a power of two.
std::uint32_t channels_per_peer(const NcclCommunicator& communicator);

/// How the message to one peer is cut.
struct NcclPeerWork {
  std::uint32_t parts = 1;  ///< each on a channel of its own
  Bytes part;               ///< of all but the last, a multiple of 4 KiB
  NcclProtocol protocol = NcclProtocol::simple;
  Bytes chunk;              ///< payload of one message
  std::uint32_t slots = 8;  ///< messages of a part under way at once
};

/// Into how many parts messages are cut: as many as have `small` bytes, at most `least`; twice as many, and so on up to
/// `most`, while a part has more than `large`.
struct NcclParts {
  Bytes small;
  Bytes large;
  std::uint32_t least = 1;
  std::uint32_t most = 1;
};
NcclParts nccl_parts(const NcclCommunicator& communicator);

/// For how many of `peers`, whose messages have so many parts each, a block works at once: one in its turn, up to
/// eight.
std::uint32_t peers_at_once(const NcclCommunicator& communicator, std::uint32_t peers, std::uint32_t parts);

/// `over_network`: the peer is on another node. NCCL 2.30.7, src/enqueue.cc, src/graph/paths.cc, src/init.cc. A message
/// of no bytes is one part. The network has as many channels as its NICs need from 2.28 on, before two at most for all
/// that one NIC carries.
NcclPeerWork nccl_peer_work(const NcclCommunicator& communicator, Bytes bytes, bool over_network);

}  // namespace athanor
