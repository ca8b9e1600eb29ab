#pragma once

#include <cstdint>

#include "sim/units.hpp"

namespace athanor {

/// What it costs the cuda executor to carry out a schedule on GPUs, each lane by a thread block, where the agents of a
/// GPU share its memory. Rates count bytes that are read and bytes that are written alike.
struct GpuCosts {
  Time launch;     ///< once per run, until the first primitive starts
  Time primitive;  ///< of every primitive, beside its bytes
  Time message;    ///< of a primitive that sends or receives, beside: it looks up connections
  Time flag;       ///< until a block sees what another one of its GPU has sent
  Time peer_flag;  ///< until a block sees what one of another GPU has sent
  Bandwidth block_read_rate = Bandwidth::max();   ///< most that one block reads in its GPU
  Bandwidth block_write_rate = Bandwidth::max();  ///< most that one block writes in its GPU, behind what it has read
  Bytes cache_size;                               ///< of a GPU's L2
  Bandwidth cache_rate = Bandwidth::max();        ///< of all blocks of a GPU together
  Bandwidth memory_rate =
      Bandwidth::max();  ///< of all blocks of a GPU together, where what they touch does not fit into the cache
  Bandwidth peer_block_rate = Bandwidth::max();  ///< most that one block writes into another GPU on one connection
  Bandwidth peer_rate = Bandwidth::max();        ///< of all blocks of one GPU into one other
  std::uint32_t blocks = 0xffffffff;             ///< that are resident at once on a GPU
  std::uint32_t slots = 8;                       ///< of a connection, at least what the schedule needs
};

}  // namespace athanor
