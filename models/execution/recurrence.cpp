#include "models/execution/recurrence.hpp"

#include <bit>

namespace athanor {

std::optional<std::uint64_t> Recurrence::look(std::span<const std::int64_t> state) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  std::uint64_t hash = state.size();
  for (const std::int64_t each : state) { hash = (std::rotl(hash, 23) ^ static_cast<std::uint64_t>(each)) * kOdd; }
  if (seen_.size() == kMost) { seen_.clear(); }
  ++looks_;
  const auto [last, fresh] = seen_.try_emplace(hash, looks_);
  if (fresh) { return std::nullopt; }
  const std::uint64_t distance = looks_ - last->second;
  last->second = looks_;
  return distance;
}

}  // namespace athanor
