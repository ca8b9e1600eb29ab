#pragma once

#include <cstdint>

#include "sim/units.hpp"

namespace athanor {

/// Mixes a word into a hash so that every bit of both changes about half of the bits (the finalizer of splitmix64).
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  std::uint64_t z = (hash ^ word) + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

/// One of `count` (at least 1), each equally likely, by the upper bits of a hash.
constexpr std::uint32_t pick(std::uint64_t hash, std::uint32_t count) {
  __extension__ using Unsigned = unsigned __int128;
  return static_cast<std::uint32_t>((Unsigned{hash} * count) >> 64U);
}

}  // namespace athanor
