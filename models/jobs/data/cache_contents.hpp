#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/data/data_rules.hpp"

namespace athanor {

/// What one cache holds of each data set, and who reads them through it.
class CacheContents {
 public:
  /// Borrows the cache.
  explicit CacheContents(const DataCache& cache) : cache_(&cache) {}

  /// Somebody begins to read such a data set, at so many bytes per second undisturbed; or reads it no longer.
  void attach(std::uint32_t data_set, double bytes, double rate);
  void detach(std::uint32_t data_set, double rate);

  /// What a reading of a part of `bytes` of a data set would meet at present. `same_order`, `part`: as of
  /// CachedReading. Requires that it is attached.
  CachedReading reading(std::uint32_t data_set, double bytes, bool same_order, double part) const;
  /// The cache holds at least so many bytes of it from now on, in the place of what nobody reads.
  void hold(std::uint32_t data_set, double bytes);
  double held(std::uint32_t data_set) const;

 private:
  struct Held {
    std::uint32_t data_set = 0;
    double size = 0;  ///< of the data set
    double bytes = 0;
    std::uint32_t readers = 0;
    double rate = 0;  ///< of all readers
  };
  Held& of(std::uint32_t data_set);
  /// Of data sets that are read each has room by its rate, and no more than it needs.
  double room(std::uint32_t data_set) const;

  const DataCache* cache_;
  std::vector<Held> held_;
};

}  // namespace athanor
