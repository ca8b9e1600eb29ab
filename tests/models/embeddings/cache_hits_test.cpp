#include "models/embeddings/cache_hits.hpp"

#include <algorithm>
#include <cmath>
#include <list>
#include <unordered_map>
#include <vector>

#include <doctest/doctest.h>

#include "sim/random.hpp"

using namespace athanor;

namespace {

/// Rows that are looked up one after the other by Zipf's law.
std::vector<std::uint32_t> stream_of(std::uint32_t rows, double exponent, std::size_t lookups) {
  std::vector<double> upto(rows);
  double sum = 0;
  for (std::uint32_t k = 0; k < rows; ++k) { upto[k] = sum += std::pow(k + 1.0, -exponent); }
  RandomStream random(7, "look-ups");
  std::vector<std::uint32_t> stream;
  for (std::size_t i = 0; i < lookups; ++i) {
    const double drawn = static_cast<double>(random.bits() >> 11U) * 0x1p-53 * sum;
    stream.push_back(static_cast<std::uint32_t>(std::upper_bound(upto.begin(), upto.end(), drawn) - upto.begin()));
  }
  return stream;
}

/// A list in the order of the last look-up; hits of the later half count.
double lru_hits(const std::vector<std::uint32_t>& stream, std::size_t kept) {
  std::list<std::uint32_t> order;
  std::unordered_map<std::uint32_t, std::list<std::uint32_t>::iterator> where;
  std::size_t hits = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const auto found = where.find(stream[i]);
    if (found != where.end()) {
      hits += i >= stream.size() / 2 ? 1 : 0;
      order.erase(found->second);
    } else if (order.size() == kept) {
      where.erase(order.back());
      order.pop_back();
    }
    order.push_front(stream[i]);
    where[stream[i]] = order.begin();
  }
  return static_cast<double>(hits) / static_cast<double>(stream.size() - stream.size() / 2);
}

double static_hits(const std::vector<std::uint32_t>& stream, std::uint32_t kept) {
  const auto hits = std::count_if(stream.begin(), stream.end(), [&](std::uint32_t row) { return row < kept; });
  return static_cast<double>(hits) / static_cast<double>(stream.size());
}

}  // namespace

TEST_CASE("static hot rows answer exactly their share of look-ups") {
  const AccessLaw law = AccessLaw::zipf(4, 1);
  CHECK(hit_rate(law, RowCachePolicy::static_hot, 2) == doctest::Approx(18.0 / 25).epsilon(1e-15));
  CHECK(hit_rate(law, RowCachePolicy::lfu, 2) == hit_rate(law, RowCachePolicy::static_hot, 2));
  CHECK(hit_rate(law, RowCachePolicy::static_hot, 4) == 1);
  CHECK(hit_rate(law, RowCachePolicy::static_hot, 0) == 0);
}

TEST_CASE("an LRU cache of rows that are looked up evenly answers the share that it keeps") {
  for (const std::uint64_t kept : {1U, 10U, 500U, 999U}) {
    CAPTURE(kept);
    const AccessLaw law = AccessLaw::uniform(1000);
    CHECK(hit_rate(law, RowCachePolicy::lru, kept) == doctest::Approx(static_cast<double>(kept) / 1000).epsilon(1e-9));
  }
  CHECK(hit_rate(AccessLaw::uniform(1000), RowCachePolicy::lru, 0) == 0);
  CHECK(hit_rate(AccessLaw::uniform(1000), RowCachePolicy::lru, 1000) == 1);
  CHECK(hit_rate(AccessLaw::counted({5, 3, 0}), RowCachePolicy::lru, 2) == 1);
}

TEST_CASE("the time within which rows stay fills the cache") {
  const AccessLaw law = AccessLaw::uniform(100);
  CHECK(characteristic_time(law, 50) == doctest::Approx(100 * std::log(2.0)).epsilon(1e-9));
}

TEST_CASE("closed forms of caches agree with streams that are looked up row by row") {
  constexpr std::uint32_t kRows = 5000;
  for (const double exponent : {0.6, 0.9, 1.05, 1.4}) {
    const AccessLaw law = AccessLaw::zipf(kRows, exponent);
    const std::vector<std::uint32_t> stream = stream_of(kRows, exponent, 200'000);
    for (const std::uint32_t kept : {50U, 500U, 2500U}) {
      CAPTURE(exponent);
      CAPTURE(kept);
      CHECK(std::abs(lru_hits(stream, kept) - hit_rate(law, RowCachePolicy::lru, kept)) < 0.006);
      CHECK(std::abs(static_hits(stream, kept) - hit_rate(law, RowCachePolicy::static_hot, kept)) < 0.004);
    }
  }
}

TEST_CASE("of static hot rows a batch fetches each cold row once, of others as many as miss") {
  const AccessLaw law = AccessLaw::counted({3, 1});
  CHECK(rows_fetched(law, RowCachePolicy::static_hot, 1, 2) == doctest::Approx(1 - 9.0 / 16).epsilon(1e-15));
  CHECK(rows_fetched(law, RowCachePolicy::lfu, 1, 2) == doctest::Approx(0.5).epsilon(1e-15));
  CHECK(rows_fetched(law, RowCachePolicy::lru, 2, 2) == 0);
}
