#include "models/nccl/tuning/work.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "models/nccl/tuning/rates.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

constexpr std::int64_t kKibi = 1024;

/// What is cut, and among how many.
struct Cut {
  const NcclCommunicator& communicator;
  const NcclCall& call;
  std::int64_t channels;
  std::int64_t bytes;

  /// Chunks that every channel has, rounded down.
  std::int64_t loops(std::int64_t chunk) const { return bytes / (channels * chunk); }
};

/// Halves while there are fewer loops than `loops`, down to `least`.
std::int64_t halved(const Cut& cut, std::int64_t chunk, double loops, std::int64_t least) {
  while (chunk > least && static_cast<double>(cut.loops(chunk)) < loops) { chunk /= 2; }
  return chunk;
}

std::int64_t direct_chunk(Cut cut, std::int64_t chunk) {
  cut.channels *= std::max(1U, cut.communicator.collnet.heads);
  const double depth = cut.communicator.ranks == cut.communicator.nodes ? 1 : 2;
  chunk = halved(cut, chunk, depth * 64, 128 * kKibi);
  chunk = halved(cut, chunk, depth * 8, 64 * kKibi);
  return halved(cut, chunk, depth * 8, 32 * kKibi);
}

std::int64_t chain_chunk(const Cut& cut, std::int64_t chunk) {
  const std::uint32_t ranks = cut.communicator.ranks / cut.communicator.nodes;
  const double depth = ranks;
  chunk = halved(cut, std::min(chunk, 256 * kKibi), depth * 64, 128 * kKibi);
  chunk = halved(cut, chunk, depth * 8, 64 * kKibi);
  return halved(cut, chunk, depth, 32 * kKibi);
}

/// To `most`, where there are fewer than `loops` rounds of all heads and channels.
std::int64_t lowered(std::int64_t bytes, std::int64_t at_once, std::int64_t chunk, std::int64_t loops,
                     std::int64_t most) {
  return bytes < loops * at_once * chunk ? std::min(chunk, most) : chunk;
}

std::int64_t nvls_chunk(const Cut& cut, std::int64_t step) {
  const bool gathers = cut.call.function != NcclFunction::all_reduce;
  if (cut.communicator.registered && gathers) { return step; }
  const double rate = cut.communicator.nodes == 1
                          ? 150
                          : nccl_rate(cut.communicator, NcclFunction::all_reduce, Algorithm::nvls, Protocol::simple);
  std::int64_t chunk = std::min(step, rate < 150 ? 32 * kKibi : nvls_sizes(cut.communicator).chunk.count());
  const std::int64_t at_once = cut.channels * nvls_heads(cut.communicator);
  chunk = lowered(cut.bytes, at_once, chunk, 64, 64 * kKibi);
  chunk = lowered(cut.bytes, at_once, chunk, 8, 32 * kKibi);
  return lowered(cut.bytes, at_once, chunk, 2, 16 * kKibi);
}

std::int64_t nvls_tree_chunk(const Cut& cut) {
  std::int64_t chunk = nvls_sizes(cut.communicator).tree_chunk.count();
  const std::int64_t at_once = cut.channels * nvls_heads(cut.communicator);
  chunk = lowered(cut.bytes, at_once, chunk, 32, 256 * kKibi);
  chunk = lowered(cut.bytes, at_once, chunk, 16, 128 * kKibi);
  chunk = lowered(cut.bytes, at_once, chunk, 4, 64 * kKibi);
  return lowered(cut.bytes, at_once, chunk, 1, 32 * kKibi);
}

/// Before 2.20 (src/enqueue.cc at 5d3ab08b, 2.17.1; src/enqueue.cu of 2.4): for few loops, by the depth of the tree.
std::int64_t simple_tree_chunk(const Cut& cut, std::int64_t chunk) {
  const double followers = cut.communicator.ranks / cut.communicator.nodes - 1;
  const double depth = followers + floor_log2(cut.communicator.nodes);
  chunk = halved(cut, chunk, depth * 8, 128 * kKibi);
  chunk = halved(cut, chunk, depth * 4, 64 * kKibi);
  return halved(cut, chunk, depth, 32 * kKibi);
}

std::int64_t tree_chunk(const Cut& cut, std::int64_t chunk) {
  const double per_node = cut.communicator.ranks_per_node();
  const double steps = 1 + floor_log2(cut.communicator.nodes) + 0.1 * per_node;
  chunk = halved(cut, chunk, steps * 64 / per_node, 128 * kKibi);
  return halved(cut, chunk, steps * 16 / per_node, 32 * kKibi);
}

std::int64_t pat_chunk(const Cut& cut, std::int64_t chunk) {
  const std::int64_t rounds = cut.call.function == NcclFunction::all_gather ? 32 : 16;
  while (chunk > 64 * kKibi && chunk * cut.channels * rounds > cut.bytes) { chunk /= 2; }
  return chunk;
}

/// RCCL follows NCCL's versions.
bool halves_tree_chunks(const NcclCommunicator& communicator) {
  return nccl_tuning_tables(communicator.version).halves_tree_chunks;
}

/// Payload of a step as its buffer is: half of LL is flags, one word in 16 of LL128.
std::int64_t step_payload(const NcclEnvironment& environment, Protocol protocol) {
  const std::int64_t step = buffer_of(environment, protocol).count() / kNcclBufferSteps;
  switch (protocol) {
    case Protocol::ll: return step / 2;
    case Protocol::ll128: return step / 16 * 15;
    case Protocol::simple: break;
  }
  return step;
}

}  // namespace

NcclSteps nccl_steps(NcclFunction function, NcclAlgorithm algorithm, NcclProtocol protocol) {
  const bool ring = algorithm == Algorithm::ring && protocol == Protocol::simple;
  const bool rooted = function == NcclFunction::broadcast || function == NcclFunction::reduce;
  return ring && !rooted ? NcclSteps{4, 2} : NcclSteps{1, 1};
}

Bytes nccl_grain(NcclProtocol protocol) {
  constexpr std::array<std::int64_t, kNcclProtocols> kGrains{16, 1920, 512};
  return Bytes{kGrains.at(static_cast<std::size_t>(protocol))};
}

Bytes nccl_chunk(const NcclCommunicator& communicator, const NcclCall& call, const NcclChoice& choice,
                 std::uint32_t channels, Bytes bytes) {
  const Cut cut{communicator, call, channels, bytes.count()};
  std::int64_t chunk = step_payload(communicator.environment, choice.protocol);
  chunk *= nccl_steps(call.function, choice.algorithm, choice.protocol).chunk;
  switch (choice.algorithm) {
    case Algorithm::collnet_direct: chunk = direct_chunk(cut, chunk); break;
    case Algorithm::collnet_chain: chunk = chain_chunk(cut, chunk); break;
    case Algorithm::nvls: chunk = nvls_chunk(cut, chunk); break;
    case Algorithm::nvls_tree: chunk = nvls_tree_chunk(cut); break;
    case Algorithm::pat: chunk = pat_chunk(cut, chunk); break;
    case Algorithm::tree:
      if (choice.protocol == Protocol::ll128) { chunk = tree_chunk(cut, chunk); }
      if (choice.protocol == Protocol::simple && halves_tree_chunks(communicator)) {
        chunk = simple_tree_chunk(cut, chunk);
      }
      break;
    case Algorithm::ring: break;
  }
  const std::int64_t grain = nccl_grain(choice.protocol).count();
  if (chunk < grain) {
    throw SimulationError("nccl-no-chunk",
                          fmt::format("a chunk of {} bytes is below {}'s grain of {}; NCCL does not check "
                                      "its buffers for that: set larger ones",
                                      chunk, name(choice.protocol), grain));
  }
  return Bytes{chunk / grain * grain};
}

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
