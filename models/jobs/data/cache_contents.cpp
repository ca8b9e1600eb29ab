#include "models/jobs/data/cache_contents.hpp"

#include <algorithm>

#include "models/jobs/data/share_rates.hpp"
#include "sim/check.hpp"

namespace athanor {

CacheContents::Held& CacheContents::of(std::uint32_t data_set) {
  for (Held& each : held_) {
    if (each.data_set == data_set) { return each; }
  }
  return held_.emplace_back(Held{.data_set = data_set});
}

void CacheContents::attach(std::uint32_t data_set, double bytes, double rate) {
  Held& held = of(data_set);
  held.size = std::max(held.size, bytes);
  ++held.readers;
  held.rate += rate;
}

void CacheContents::detach(std::uint32_t data_set, double rate) {
  Held& held = of(data_set);
  require(held.readers > 0, "nobody reads data set {}", data_set);
  --held.readers;
  held.rate = held.readers == 0 ? 0 : held.rate - rate;
}

double CacheContents::room(std::uint32_t data_set) const {
  std::vector<RateClaim> claims;
  std::size_t own = 0;
  for (const Held& each : held_) {
    if (each.readers == 0) { continue; }
    if (each.data_set == data_set) { own = claims.size(); }
    claims.push_back({std::max(each.rate, 1.0), each.size, {{0, 1}}});
  }
  require(!claims.empty(), "nobody reads data set {}", data_set);
  return share_rates(claims, {cache_->capacity})[own];
}

CachedReading CacheContents::reading(std::uint32_t data_set, double bytes, bool same_order, double part) const {
  const auto at = std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.data_set == data_set; });
  require(at != held_.end() && at->readers > 0, "nobody reads data set {}", data_set);
  const double capacity = room(data_set) / bytes;
  return {cache_->eviction, same_order, capacity, std::min({1.0, capacity, at->bytes / bytes}), part, at->readers};
}

void CacheContents::hold(std::uint32_t data_set, double bytes) {
  Held& held = of(data_set);
  held.bytes = std::max(held.bytes, std::min(bytes, cache_->capacity));
  double beyond = -cache_->capacity;
  for (const Held& each : held_) { beyond += each.bytes; }
  for (const bool read : {false, true}) {
    for (Held& each : held_) {
      if (beyond <= 0 || each.data_set == data_set || (each.readers > 0) != read) { continue; }
      const double gone = std::min(beyond, each.bytes);
      each.bytes -= gone;
      beyond -= gone;
    }
  }
}

double CacheContents::held(std::uint32_t data_set) const {
  const auto at = std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.data_set == data_set; });
  return at == held_.end() ? 0 : at->bytes;
}

}  // namespace athanor
