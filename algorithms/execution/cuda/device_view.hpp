#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "algorithms/execution/cuda/lane_table.hpp"

namespace athanor {

/// Most operands and messages that one primitive reduces, and most places that its value goes to.
constexpr std::uint32_t kMostPlaces = 130;
/// Most threads of a block; the kernel is compiled for the registers that so many leave to each.
constexpr std::uint32_t kMostThreads = 1024;

/// A connection as both of its ends see it. Slots and `filled` are in the memory of the receiver's GPU, `freed` in the
/// sender's, so that each side polls its own memory; the other side writes over NVLink or PCIe.
struct DeviceConnection {
  std::byte* slots = nullptr;       ///< slots x message_limit elements
  std::uint64_t* filled = nullptr;  ///< messages sent; written by the sender
  std::uint64_t* freed = nullptr;   ///< messages used; written by the receiver
  std::uint64_t* sent = nullptr;    ///< the sender's own count, in its memory
  std::uint64_t* used = nullptr;    ///< the receiver's own count, in its memory
  bool here = false;                ///< both ends are on one GPU
};

/// All that a thread block needs to interpret its lane. Plain pointers into device memory.
struct DeviceView {
  const LaneTables::Entry* entries = nullptr;
  const LaneTables::Lane* lanes = nullptr;
  const std::uint32_t* in_connections = nullptr;
  const DeviceConnection* connections = nullptr;
  std::byte* const* buffers = nullptr;        ///< by agent x 3 + Buffer
  const std::uint32_t* lanes_here = nullptr;  ///< by block of this GPU
  std::uint64_t* ended = nullptr;             ///< by lane: primitives; only lanes of one agent, on one GPU, wait for it
  const std::uint32_t* go = nullptr;          ///< in host memory: not 0 once everything is launched on every GPU
  const std::uint32_t* stop = nullptr;        ///< in host memory: not 0 when what waits must give up
  std::array<std::int64_t, 3> shift{};
  std::int64_t message_limit = 0;
  std::uint32_t slots = 0;
  std::uint32_t divisor = 1;  ///< of what is finished: the ranks where it is an average
};

}  // namespace athanor
