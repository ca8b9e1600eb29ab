#include "models/nccl/tuning/peer_work.hpp"

#include <algorithm>
#include <bit>

#include "models/nccl/tuning/work.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kPartGrain = 4096;
constexpr std::uint32_t kPerChannelRate = 14;  ///< GB/s of the network that one channel carries
constexpr std::uint32_t kGroup = 8;            ///< peers that one block works for at once

/// Of a message to another node: enough for the NICs; with few channels in all, fewer.
std::uint32_t network_channels(const NcclCommunicator& communicator) {
  const NcclPeers& peers = communicator.peers;
  if (communicator.environment.network_peer_channels) { return *communicator.environment.network_peer_channels; }
  if (communicator.version >= NcclVersion{2, 28, 0}) {
    const auto whole_rate = static_cast<std::uint32_t>(peers.nic_rate);
    return peers.nics == 0 ? 2 : std::max(peers.nics, (whole_rate + kPerChannelRate - 1) / kPerChannelRate);
  }
  const bool crowded = 2 * communicator.ranks > 4 * peer_channels(communicator);
  return std::max(peers.nics, crowded ? 1U : 2U);
}

std::uint32_t node_channels(const NcclCommunicator& communicator) {
  return communicator.peers.all_nvlink ? 2 * std::max(1U, communicator.peers.least_links) : 2;
}

/// Bytes of one step: more over NVLink alone, twice as many between nodes of few GPUs on Arm.
std::int64_t step_bytes(const NcclCommunicator& communicator) {
  const NcclEnvironment& environment = communicator.environment;
  std::int64_t bytes = environment.pcie_peer_chunk.value_or(Bytes{131072}).count();
  if (communicator.nodes > 1) {
    const bool grace = communicator.cpu == CpuArchitecture::arm && communicator.least_capability >= 100;
    bytes = environment.network_peer_chunk.value_or(Bytes{131072}).count() *
            (grace && communicator.version >= NcclVersion{2, 28, 0} ? 2 : 1);
  } else if (communicator.peers.all_nvlink) {
    bytes = environment.nvlink_peer_chunk.value_or(Bytes{524288}).count();
  }
  return std::min(bytes, buffer_of(environment, NcclProtocol::simple).count() / kNcclBufferSteps);
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::uint32_t parts_of(const NcclParts& rule, std::int64_t bytes) {
  auto parts = static_cast<std::uint32_t>(std::min<std::int64_t>(rule.least, divided_up(bytes, rule.small.count())));
  while (divided_up(bytes, parts) > rule.large.count() && parts <= rule.most / 2) { parts *= 2; }
  return parts;
}

/// A message over the network that has few chunks is cut finer.
std::int64_t network_chunk(NcclProtocol protocol, std::int64_t bytes, std::int64_t step) {
  if (protocol == NcclProtocol::simple && bytes < step) { return step / 4; }
  return bytes < 8 * step ? step / 2 : step;
}

}  // namespace

std::uint32_t peer_channels(const NcclCommunicator& communicator) {
  const NcclEnvironment& environment = communicator.environment;
  const std::uint32_t channels = std::min(compute_channels(communicator), environment.most_peer_channels.value_or(64));
  return std::bit_ceil(std::max(channels, environment.least_peer_channels.value_or(1)));
}

std::uint32_t channels_per_peer(const NcclCommunicator& communicator) {
  const std::uint32_t all = peer_channels(communicator);
  const bool has_neighbours = communicator.most_local_ranks > 1;
  std::uint32_t channels = communicator.nodes > 1 ? network_channels(communicator) : node_channels(communicator);
  if (communicator.nodes > 1 && has_neighbours) { channels = std::min(channels, node_channels(communicator)); }
  channels = std::min(std::bit_ceil(channels), all);
  const std::uint32_t groups = (communicator.ranks + kGroup - 1) / kGroup;
  while (communicator.nodes > 1 && channels > 1 && channels * groups > all) { channels /= 2; }
  return channels;
}

NcclParts nccl_parts(const NcclCommunicator& communicator) {
  const std::int64_t step = step_bytes(communicator);
  const bool across = communicator.nodes > 1;
  NcclParts parts{Bytes{across ? step / 2 : step / 8}, Bytes{across ? step : step * 32}, 1,
                  channels_per_peer(communicator)};
  parts.least = parts.most;
  const std::uint32_t all = peer_channels(communicator);
  // src/enqueue.cc of 2.17.1: a channel has work for at most four ranks' messages, wherever they are.
  const bool spares = communicator.version < NcclVersion{2, 20, 0};
  while (spares && std::uint64_t{parts.most} * communicator.ranks > std::uint64_t{4} * all && parts.most > 1) {
    parts.most /= 2;
  }
  while (std::uint64_t{parts.least} * communicator.ranks > all && parts.least > 1) { parts.least /= 2; }
  return parts;
}

std::uint32_t peers_at_once(const NcclCommunicator& communicator, std::uint32_t peers, std::uint32_t parts) {
  const std::uint32_t all = peer_channels(communicator);
  const auto works = static_cast<std::uint32_t>(divided_up(std::int64_t{peers} * parts, all));
  return std::clamp(works, 1U, kGroup);
}

NcclPeerWork nccl_peer_work(const NcclCommunicator& communicator, Bytes bytes, bool over_network) {
  NcclPeerWork work;
  const NcclEnvironment& environment = communicator.environment;
  const std::int64_t peer_step = step_bytes(communicator);
  if (bytes.count() > 0) { work.parts = parts_of(nccl_parts(communicator), bytes.count()); }
  const bool short_enough = bytes.count() <= work.parts * environment.peer_ll_threshold.count();
  const bool has_ll = !over_network || environment.network_ll_buffers;
  work.protocol = short_enough && has_ll ? NcclProtocol::ll : NcclProtocol::simple;
  const bool ll = work.protocol == NcclProtocol::ll;
  std::int64_t step = ll ? buffer_of(environment, NcclProtocol::ll).count() / kNcclBufferSteps : peer_step;
  if (over_network) { step = network_chunk(work.protocol, bytes.count(), step); }
  work.chunk = Bytes{ll ? step / 2 : step};
  work.part = Bytes{divided_up(divided_up(bytes.count(), work.parts), kPartGrain) * kPartGrain};
  work.slots = kNcclBufferSteps;
  return work;
}

}  // namespace athanor
