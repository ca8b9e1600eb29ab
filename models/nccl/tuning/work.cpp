#include "models/nccl/tuning/work.hpp"

#include <algorithm>

#include "models/nccl/tuning/chunks.hpp"

namespace athanor {

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

constexpr std::int64_t kLeastTraffic = 32768;  ///< bytes of a channel, counted as they pass a GPU's links

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t up_to_16(std::int64_t bytes) { return divided_up(bytes, 16) * 16; }

/// The ranks' blocks of a gather are cut alike: what one channel has of a block, it has of all.
std::int64_t blocks(const NcclCommunicator& communicator, NcclFunction function) {
  const bool gathers = function == NcclFunction::all_gather || function == NcclFunction::reduce_scatter;
  return gathers ? communicator.ranks : 1;
}

std::int64_t traffic_per_byte(const NcclCommunicator& communicator, const NcclCall& call, Protocol protocol) {
  const std::int64_t bytes = call.function == NcclFunction::all_reduce ? 2 : blocks(communicator, call.function);
  return protocol == Protocol::ll ? 4 * bytes : bytes;
}

/// Parts of equal cells but for the last, in bytes of one block.
struct Parts {
  std::int64_t first = 0;
  std::int64_t middle = 0;
  std::int64_t last = 0;
  std::int64_t channels = 1;
};

/// Deals cells to the channels in order; the last channel has what is left. `wanted` channels share the traffic; where
/// a rest is left over, one more takes it, up to `limit`.
Parts dealt(std::int64_t block, std::int64_t per_byte, std::int64_t wanted, std::int64_t limit) {
  const std::int64_t cell = up_to_16(divided_up(kLeastTraffic, per_byte));
  const std::int64_t cells = divided_up(block, cell);
  const std::int64_t traffic = std::max(kLeastTraffic, block * per_byte);
  const std::int64_t per_channel = up_to_16(traffic / wanted);
  const std::int64_t each = limit == 1 ? cells : std::min(cells, divided_up(per_channel, cell * per_byte));
  Parts parts{each * cell, each * cell, 0,
              std::max<std::int64_t>(1, divided_up(cells, std::max<std::int64_t>(each, 1)))};
  if (parts.channels > limit) {
    // More than there are: the channels between the first and the last share evenly, the last has the rest.
    parts.channels = limit;
    parts.middle = (cells - each) / (limit - 1) * cell;
  }
  const std::int64_t between = std::max<std::int64_t>(parts.channels - 2, 0);
  if (parts.channels == 1) { return {block, 0, 0, 1}; }
  parts.last = block - parts.first - between * parts.middle;
  if (between == 0) { parts.middle = 0; }
  return parts;
}

/// Before 2.22: equal parts of whole grains.
Parts even(std::int64_t block, std::int64_t channels) {
  const std::int64_t each = up_to_16(divided_up(block, channels));
  const std::int64_t used = std::max<std::int64_t>(1, divided_up(block, std::max<std::int64_t>(each, 1)));
  if (used == 1) { return {block, 0, 0, 1}; }
  return {each, used > 2 ? each : 0, block - (used - 1) * each, used};
}

/// Algorithms in the network get the whole buffer, every channel a share of each chunk.
bool in_network(const NcclCommunicator& communicator, Algorithm algorithm) {
  return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain ||
         (algorithm == Algorithm::nvls && communicator.nodes > 1);
}

/// Channels that calls of this kind share.
std::int64_t channel_limit(const NcclCommunicator& communicator, const NcclChoice& choice) {
  const bool nvls = choice.algorithm == Algorithm::nvls || choice.algorithm == Algorithm::nvls_tree;
  return std::max(choice.channels, nvls ? nvls_sizes(communicator).channels : compute_channels(communicator));
}

}  // namespace

NcclWork nccl_work(const NcclCommunicator& communicator, const NcclCall& call, const NcclChoice& choice) {
  const std::int64_t count = blocks(communicator, call.function);
  const std::int64_t block = divided_up(call.bytes.count(), count);
  const bool whole = in_network(communicator, choice.algorithm) || communicator.version < NcclVersion{2, 22, 0};
  const Parts parts = whole ? even(block, choice.channels)
                            : dealt(block, traffic_per_byte(communicator, call, choice.protocol), choice.channels,
                                    channel_limit(communicator, choice));
  const auto part = [&](std::int64_t bytes) -> NcclWork::Part {
    if (bytes == 0) { return {}; }
    return {Bytes{bytes}, whole ? nccl_chunk(communicator, call, choice, choice.channels, call.bytes)
                                : nccl_chunk(communicator, call, choice, 1, Bytes{bytes * count})};
  };
  const NcclSteps steps = nccl_steps(call.function, choice.algorithm, choice.protocol);
  NcclWork work;
  work.first = part(parts.first);
  work.middle = part(parts.middle);
  work.last = part(parts.last);
  work.channels = static_cast<std::uint32_t>(parts.channels);
  work.threads = choice.threads;
  work.chunk = std::max({work.first.chunk, work.middle.chunk, work.last.chunk});
  work.slices = steps.chunk / steps.slice;
  work.slots = kNcclBufferSteps / steps.slice;
  work.grain = nccl_grain(choice.protocol);
  return work;
}

}  // namespace athanor
