#include "sim/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <doctest/doctest.h>

using namespace athanor;

TEST_CASE("a stream yields the published SplitMix64 sequence of its state on every machine") {
  // The reference generator seeded with 1234567 yields these first (Rosetta Code, "Pseudo-random numbers/Splitmix64").
  CHECK(mix64(1234567) == 6457827717110365317U);
  CHECK(mix64(1234567 + 0x9E3779B97F4A7C15) == 3203168211198807973U);
}

TEST_CASE("streams depend on seed and name alone") {
  RandomStream a(1, "routing");
  RandomStream same(1, "routing");
  RandomStream other_name(1, "routinh");
  RandomStream other_seed(2, "routing");
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t drawn = a.bits();
    CHECK(drawn == same.bits());
    CHECK(drawn != other_name.bits());
    CHECK(drawn != other_seed.bits());
  }
}

TEST_CASE("below(n) reaches every value evenly and never n") {
  for (const std::uint64_t n : {1, 2, 3, 7, 10, 64}) {
    RandomStream stream(3, "dice");
    std::vector<std::uint64_t> counts(n);
    const std::uint64_t draws = 10'000 * n;
    for (std::uint64_t i = 0; i < draws; ++i) { ++counts.at(stream.below(n)); }
    for (const std::uint64_t count : counts) {
      CAPTURE(n);
      CHECK(count > 9'500);  // five standard deviations
      CHECK(count < 10'500);
    }
  }
  RandomStream stream(3, "large");
  for (int i = 0; i < 1000; ++i) { CHECK(stream.below(UINT64_MAX / 2 + 2) < UINT64_MAX / 2 + 2); }
}

TEST_CASE("a shuffle is a permutation, and each order of three comes equally often") {
  RandomStream stream(5, "shuffle");
  std::array<int, 27> seen{};
  for (int i = 0; i < 60'000; ++i) {
    std::vector<int> list{0, 1, 2};
    stream.shuffle(list);
    ++seen[static_cast<std::size_t>(list[0] * 9 + list[1] * 3 + list[2])];
  }
  CHECK(std::count_if(seen.begin(), seen.end(), [](int count) { return count > 9'500 && count < 10'500; }) == 6);
  CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 60'000);
  std::vector<int> nothing;
  stream.shuffle(nothing);
  CHECK(nothing.empty());
}

TEST_CASE("flipping one input bit of the hash flips about half of the output bits") {
  for (int bit = 0; bit < 64; ++bit) {
    int flipped = 0;
    for (std::uint64_t value = 0; value < 256; ++value) {
      flipped += std::popcount(mix64(value) ^ mix64(value ^ (std::uint64_t{1} << bit)));
    }
    CAPTURE(bit);
    CHECK(flipped > 256 * 30);
    CHECK(flipped < 256 * 34);
  }
  CHECK(join_hash(1, 2) != join_hash(2, 1));
}

TEST_CASE("a scaled hash stays within its range") {
  CHECK(scale_hash(UINT64_MAX, 7) == 6);
  CHECK(scale_hash(0, 7) == 0);
  CHECK(scale_hash(UINT64_MAX, 1) == 0);
}
