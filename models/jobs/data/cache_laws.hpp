#pragma once

#include <cstdint>

namespace athanor {

/// What a full cache does with an item that it does not have.
enum class Eviction : std::uint8_t {
  random,        ///< it takes the place of any other: what Linux's page cache is like (Mohan et al., VLDB 2021)
  least_recent,  ///< of the one read longest ago
  none,          ///< of none: what came first stays (MinIO of CoorDL)
};

/// In which order items are read.
enum class ReadOrder : std::uint8_t {
  shuffled,    ///< a fresh permutation of all items in each epoch
  sharded,     ///< each node has a part of its own, in a fresh permutation in each epoch
  sequential,  ///< each node has a part of its own, in the same order in each epoch
};

/// One reading through a cache that several readers share, who read alike and at the same speed.
struct CachedReading {
  Eviction eviction = Eviction::random;
  bool same_order = false;  ///< as in the reading before, and of all readers; else all items come in random orders
  double capacity = 1;      ///< of the cache, as a share of the items there are, above 0; 1 and more: all fit
  double held = 0;          ///< items that it has when the reading begins, 0 to 1 and at most `capacity`
  double part = 1;          ///< of the items that each reader reads, above 0 and at most 1: a random part
  std::uint32_t readers = 1;
};

struct CachedOutcome {
  double miss = 1;  ///< share of what is read that was not there
  double held = 0;  ///< items that the cache has in the end
};

/// The limits of many items, exact for random orders: an item that a reader has not read yet was last read by another
/// reader in this reading, or by any of them in one before, at a time that depends on nothing else.
CachedOutcome read_through(const CachedReading& reading);

}  // namespace athanor
