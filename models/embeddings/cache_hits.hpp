#pragma once

#include <cstdint>
#include <string_view>

#include "models/embeddings/access_law.hpp"

namespace athanor {

/// Which rows of a table that lies in the host's memory a GPU keeps.
enum class RowCachePolicy : std::uint8_t {
  lru,         ///< the most recently looked up ones
  lfu,         ///< those that were looked up most often so far
  static_hot,  ///< those that are looked up most often, chosen in advance; no other row ever comes in
};

std::string_view name(RowCachePolicy policy);

/// The share of look-ups that a cache of so many rows answers, in the long run and row by row. Of static hot rows
/// exact; of LFU the same, which it tends to as counts grow; of LRU by Che's approximation: a row is there if it was
/// looked up within the last T look-ups, T such that the rows expected there fill the cache (Che, Tung and Wang,
/// Hierarchical Web caching systems, JSAC 2002; Fricker, Robert and Roberts, A versatile and accurate approximation for
/// LRU cache performance, ITC 2012).
double hit_rate(const AccessLaw& law, RowCachePolicy policy, std::uint64_t rows_kept);

/// Che's characteristic time of an LRU cache, in look-ups. Requires 0 < rows_kept < rows that are ever looked up.
double characteristic_time(const AccessLaw& law, std::uint64_t rows_kept);

/// How many rows come over from the host for so many look-ups that are known together (a batch): of static hot rows
/// each cold row once, exactly; of others as many as miss.
double rows_fetched(const AccessLaw& law, RowCachePolicy policy, std::uint64_t rows_kept, double lookups);

}  // namespace athanor
