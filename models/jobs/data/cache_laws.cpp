#include "models/jobs/data/cache_laws.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/check.hpp"

namespace athanor {

namespace {

// Time t is what each reader has read, as a share of all items. Of items that nobody has read in this reading a share
// `held` is there; with J readers an item that one has not read by t is unread by the others with (1 - t)^(J - 1).

/// When a cache without eviction is full: 1 - (1 - held) (1 - t)^J = capacity.
double full_at(const CachedReading& r) {
  if (r.capacity >= 1) { return 1; }
  return 1 - std::pow((1 - r.capacity) / (1 - r.held), 1.0 / r.readers);
}

/// Misses of one reader up to t while nothing is evicted.
double misses_until(const CachedReading& r, double t) {
  return (1 - r.held) * (1 - std::pow(1 - t, r.readers)) / r.readers;
}

double held_at(const CachedReading& r, double t) {
  return std::min(r.capacity, 1 - (1 - r.held) * std::pow(1 - t, r.readers));
}

CachedOutcome never_evicting(const CachedReading& r) {
  const double full = std::min(full_at(r), r.part);
  const double miss = misses_until(r, full) + (r.part - full) * (1 - r.held) * std::pow(1 - full, r.readers - 1.0);
  return {miss / r.part, held_at(r, full)};
}

/// An item is there if the last reading of it was so recent that no more items than fit were read since. Of items that
/// were in the cache at the beginning the share of others unread since then is uniform, whatever was read before; so
/// once the cache is full h(t) = 1 - (1 - x) / (1 - t), until nothing is left that was read in a reading before.
CachedOutcome evicting_oldest(const CachedReading& r) {
  const double full = full_at(r);
  if (full >= r.part) { return {misses_until(r, r.part) / r.part, held_at(r, r.part)}; }
  const double missing = 1 - r.capacity;
  const double all_fresh = 1 - std::pow(missing, 1.0 / r.readers);
  const double old_until = std::min(all_fresh, r.part);
  double miss = misses_until(r, full) + missing * std::log((1 - full) / (1 - old_until));
  miss += (r.part - old_until) * std::pow(missing, (r.readers - 1.0) / r.readers);
  return {miss / r.part, r.capacity};
}

/// With y(t) the replacements so far over the items that fit, what was there at s is still there with e^(y(s) - y(t)).
/// For one reader h(t) = held e^-y and y' = (1 - h) / x, so that e^y = held + (1 - held) e^(t / x).
CachedOutcome evicting_any(const CachedReading& r) {
  const double full = full_at(r);
  if (full >= r.part) { return {misses_until(r, r.part) / r.part, held_at(r, r.part)}; }
  const double x = r.capacity;
  const double after = r.part - full;
  if (r.readers == 1) {
    const double replaced = x * std::log(r.held + (1 - r.held) * std::exp(after / x));
    return {(misses_until(r, full) + replaced) / r.part, x};
  }
  constexpr std::size_t kSteps = 400;
  const double step = r.part / kSteps;
  const double others = r.readers - 1.0;
  std::vector<double> last_read(kSteps);  ///< chance that another reader read an item last so many steps ago
  for (std::size_t i = 0; i < kSteps; ++i) {
    const double ago = static_cast<double>(i) * step;
    last_read[i] = std::pow(1 - std::max(0.0, ago - step / 2), others) - std::pow(1 - ago - step / 2, others);
  }
  std::vector<double> growth;  ///< e^y in the middle of each step
  double y = 0;
  double miss = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const double t = (static_cast<double>(i) + 0.5) * step;
    growth.push_back(std::exp(y));
    double there = r.held * std::pow(1 - t, others);
    for (std::size_t s = 0; s <= i; ++s) { there += last_read[i - s] * growth[s]; }
    const double missed = std::max(0.0, 1 - there / growth[i]);
    miss += missed * step;
    if (t > full) { y += missed * r.readers * step / x; }
  }
  return {miss / r.part, x};
}

/// All readers read an item together, so that one of them misses it for all.
CachedOutcome in_the_same_order(const CachedReading& r) {
  const double x = std::min(r.capacity, 1.0);
  const double held = std::min(x, r.held + (1 - r.held) * r.part);
  double miss = 1 - r.held;
  if (x < 1 && r.held >= x && r.eviction == Eviction::least_recent) { miss = 1; }
  if (x < 1 && r.held >= x && r.eviction == Eviction::random) {
    // An item is there with e^(-m / x) after the m replacements of a reading.
    double low = 0;
    double high = 1;
    for (int i = 0; i < 60; ++i) {
      const double m = (low + high) / 2;
      (1 - std::exp(-m / x) > m ? low : high) = m;
    }
    miss = low;
  }
  return {miss / r.readers, held};
}

}  // namespace

CachedOutcome read_through(const CachedReading& reading) {
  require(reading.capacity > 0 && reading.readers > 0, "a cache of {} for {} readers", reading.capacity,
          reading.readers);
  require(reading.part > 0 && reading.part <= 1, "a reading of a part of {}", reading.part);
  require(reading.held >= 0 && reading.held <= 1 && reading.held <= reading.capacity, "a cache of {} holds {}",
          reading.capacity, reading.held);
  if (reading.held >= 1) { return {0, 1}; }
  if (reading.same_order) { return in_the_same_order(reading); }
  switch (reading.eviction) {
    case Eviction::random: return evicting_any(reading);
    case Eviction::least_recent: return evicting_oldest(reading);
    case Eviction::none: return never_evicting(reading);
  }
  return {};
}

}  // namespace athanor
