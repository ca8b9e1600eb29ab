#include "models/nccl/tuning/chunks.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "models/nccl/tuning/rates.hpp"
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

}  // namespace athanor
