#include "models/nccl/tuning/communicator.hpp"

#include <algorithm>
#include <array>

namespace athanor {

namespace {

std::uint32_t channel_limit(NcclVersion version) { return version < NcclVersion{2, 24, 0} ? 32 : 64; }

/// Between two nodes whose NICs are fast enough to matter.
NvlsSizes sizes_of_two(const NcclPeers& peers, std::uint32_t local, bool near) {
  const Bytes chunk{local <= 4 ? 262144 : 131072};
  const bool small = local >= 16 || (local <= 8 && near && peers.nic_rate < 96);
  return {32, chunk, small ? Bytes{65536} : chunk};
}

/// Between more nodes over NICs of 96 GB/s and more.
NvlsSizes sizes_of_fast_nics(std::uint32_t local) {
  if (local <= 8) { return {24, Bytes{262144}, Bytes{262144}}; }
  return {32, Bytes{131072}, Bytes{local >= 32 ? 65536 : 131072}};
}

/// NVLS on Blackwell, as NCCL 2.30 tunes it between nodes; before, and over slow NICs, as it does elsewhere.
NvlsSizes blackwell_sizes(const NcclCommunicator& communicator) {
  const NcclPeers& peers = communicator.peers;
  const bool near = peers.nic_path <= NcclPath::pxb;
  if (communicator.nodes == 1) { return {24, Bytes{131072}, Bytes{131072}}; }
  if (communicator.version < NcclVersion{2, 30, 0} || peers.nic_rate < 48) {
    return {32, Bytes{131072}, Bytes{communicator.nodes >= 4 ? 65536 : 131072}};
  }
  if (communicator.nodes == 2) { return sizes_of_two(peers, communicator.most_local_ranks, near); }
  if (peers.nic_rate >= 96) { return sizes_of_fast_nics(communicator.most_local_ranks); }
  return {24, Bytes{131072}, Bytes{near ? 65536 : 131072}};
}

}  // namespace

std::uint32_t compute_channels(const NcclCommunicator& communicator) {
  const NcclEnvironment& environment = communicator.environment;
  const ChannelGraphs& graphs = communicator.graphs;
  const std::uint32_t limit = channel_limit(communicator.version);
  std::uint32_t channels = std::min(limit, 2 * std::min(graphs.ring.count(), graphs.tree.count()));
  const bool collnet = communicator.collnet.present && environment.collnet;
  const bool one_each = communicator.ranks == communicator.nodes;
  if (collnet && graphs.collnet_chain.speed_intra > graphs.collnet_chain.speed_inter && !one_each) {
    channels = std::min(limit, channels + channels / 2);
  }
  if (communicator.least_capability >= 90 && communicator.nodes > 1 && graphs.ring.speed_intra > 45 && channels < 16) {
    channels = std::min(limit, channels * 2);
  }
  const std::uint32_t least = std::max(environment.least_channels.value_or(0), environment.least_blocks.value_or(0));
  const std::uint32_t most =
      std::min(environment.most_channels.value_or(limit), environment.most_blocks.value_or(limit));
  return std::max({least, std::min(channels, most), 1U});
}

NvlsSizes nvls_sizes(const NcclCommunicator& communicator) {
  const NcclEnvironment& environment = communicator.environment;
  NvlsSizes sizes{16, Bytes{131072}, Bytes{communicator.nodes >= 4 ? 65536 : 131072}};
  if (communicator.least_capability >= 100) { sizes = blackwell_sizes(communicator); }
  if (environment.nvls_channels) { sizes.channels = *environment.nvls_channels; }
  const std::uint32_t most = std::min(environment.most_blocks.value_or(64), channel_limit(communicator.version));
  sizes.channels = std::max(environment.least_blocks.value_or(1), std::min(sizes.channels, most));
  if (environment.nvls_chunk) { sizes.chunk = *environment.nvls_chunk; }
  if (environment.nvls_tree_chunk) { sizes.tree_chunk = *environment.nvls_tree_chunk; }
  sizes.tree_chunk = std::min(sizes.tree_chunk, sizes.chunk);
  return sizes;
}

std::uint32_t nvls_heads(const NcclCommunicator& communicator) {
  const std::uint32_t found = communicator.graphs.nvls.count();
  return std::clamp(found, 1U, std::max(1U, communicator.most_local_ranks));
}

Bytes buffer_of(const NcclEnvironment& environment, NcclProtocol protocol) {
  // Of 8 steps each: LL 8 lines of 16 bytes for 512 threads, LL128 120 words of 8 bytes for 640.
  constexpr std::array<std::int64_t, kNcclProtocols> kDefaults{524288, 4915200, 4194304};
  const auto index = static_cast<std::size_t>(protocol);
  return environment.buffers.at(index).value_or(Bytes{kDefaults.at(index)});
}

}  // namespace athanor
