#include "models/embeddings/cache_hits.hpp"

#include <algorithm>
#include <cmath>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Rows that were looked up within the last `time` look-ups.
double rows_within(const AccessLaw& law, double time) {
  double sum = 0;
  for (const AccessGroup& group : law.groups()) { sum -= group.rows * std::expm1(-group.share * time); }
  return sum;
}

/// Of rows that are ever looked up.
double rows_used(const AccessLaw& law) {
  double sum = 0;
  for (const AccessGroup& group : law.groups()) { sum += group.share > 0 ? group.rows : 0; }
  return sum;
}

double lru_hit_rate(const AccessLaw& law, std::uint64_t rows_kept) {
  if (rows_kept == 0) { return 0; }
  if (static_cast<double>(rows_kept) >= rows_used(law)) { return 1; }
  const double time = characteristic_time(law, rows_kept);
  double hits = 0;
  for (const AccessGroup& group : law.groups()) { hits -= group.rows * group.share * std::expm1(-group.share * time); }
  return hits;
}

}  // namespace

std::string_view name(RowCachePolicy policy) {
  switch (policy) {
    case RowCachePolicy::lru: return "lru";
    case RowCachePolicy::lfu: return "lfu";
    case RowCachePolicy::static_hot: return "static";
  }
  return "";
}

double characteristic_time(const AccessLaw& law, std::uint64_t rows_kept) {
  const auto kept = static_cast<double>(rows_kept);
  require(rows_kept > 0 && kept < rows_used(law), "a cache of {} rows of {}", rows_kept, law.rows());
  double low = kept;  // as many look-ups name no more rows
  double high = 2 * kept;
  while (rows_within(law, high) < kept) { high *= 2; }
  constexpr int kSteps = 100;
  constexpr double kClose = 1e-12;
  for (int i = 0; i < kSteps && high - low > kClose * high; ++i) {
    const double middle = (low + high) / 2;
    (rows_within(law, middle) < kept ? low : high) = middle;
  }
  return high;
}

double hit_rate(const AccessLaw& law, RowCachePolicy policy, std::uint64_t rows_kept) {
  return policy == RowCachePolicy::lru ? lru_hit_rate(law, rows_kept) : law.top_share(rows_kept);
}

double rows_fetched(const AccessLaw& law, RowCachePolicy policy, std::uint64_t rows_kept, double lookups) {
  if (policy == RowCachePolicy::static_hot) { return law.distinct_beyond(lookups, rows_kept); }
  return std::min(law.distinct(lookups), lookups * (1 - hit_rate(law, policy, rows_kept)));
}

}  // namespace athanor
