#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

namespace athanor {

/// Finds out after how many looks a system is again in a state in which it was before. Of states it keeps hashes alone:
/// who is told a distance compares the states at both ends of the next one.
class Recurrence {
 public:
  /// The present state. The looks since the last one with the same hash; none: there is none.
  std::optional<std::uint64_t> look(std::span<const std::int64_t> state);
  void forget() { seen_.clear(); }
  std::uint64_t looks() const { return looks_; }

 private:
  static constexpr std::size_t kMost = 1U << 18U;  ///< hashes; with more, it begins anew

  std::unordered_map<std::uint64_t, std::uint64_t> seen_;  ///< the last look by hash
  std::uint64_t looks_ = 0;
};

}  // namespace athanor
