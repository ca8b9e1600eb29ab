#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/proof/replay.hpp"

namespace athanor {

/// Whose progress vector clocks follow, and how far the knowledge of it travels.
struct ClockScope {
  std::vector<bool> followed;  ///< by lane in the wiring
  std::vector<bool> awaited;   ///< by lane: does some lane ever wait for this one?
  bool over_messages = false;  ///< do messages and freed slots carry clocks, or only waits?
};

/// The clocks of all lanes during a replay: of which followed lanes a lane knows how many primitives have ended. Kept
/// as sorted lists, for most lanes know of few others. Requires that `scope` outlives it.
class Clocks {
 public:
  Clocks(const Wiring& wiring, const ClockScope& scope, std::uint32_t slots);

  /// Joins what the primitive waits for, receives and finds free. To be called first.
  void start(const Execution& execution);
  /// Passes the clock on. To be called last.
  void end(const Execution& execution);

  /// Primitives of the followed lane `other` that have ended for certain when `lane` starts its present one.
  std::uint64_t ended(std::uint32_t lane, std::uint32_t other) const;

 private:
  struct Entry {
    std::uint32_t lane = 0;
    std::uint64_t ended = 0;
  };
  using Clock = std::vector<Entry>;
  /// The clock of a lane at the end of each primitive, one after the other.
  struct History {
    std::vector<Entry> entries;
    std::vector<std::size_t> ends;
    std::span<const Entry> after(std::uint64_t primitives) const;
  };

  void join(Clock& into, std::span<const Entry> from);
  void advance(std::uint32_t lane, std::uint64_t ended);
  std::size_t slot(std::uint32_t connection, std::uint64_t message) const {
    return connection * std::size_t{slots_} + message % slots_;
  }

  const Wiring& wiring_;
  const ClockScope& scope_;
  std::uint32_t slots_;
  std::vector<Clock> clocks_;        ///< of each lane
  std::vector<History> history_;     ///< of each awaited lane
  std::vector<std::uint64_t> sent_;  ///< on each connection
  std::vector<std::uint64_t> received_;
  std::vector<Clock> messages_;  ///< in the slots of each connection
  std::vector<Clock> releases_;  ///< of the receives that freed these slots
  Clock joined_;
};

}  // namespace athanor
