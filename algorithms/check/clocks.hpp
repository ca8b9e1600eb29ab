#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/check/replay.hpp"

namespace athanor {

/// Whose progress vector clocks follow: entry `component` of a clock is the number of primitives that a lane is known
/// to have ended.
struct ClockScope {
  static constexpr std::uint32_t kNotFollowed = UINT32_MAX;

  std::vector<std::uint32_t> component;  ///< of each lane in the wiring
  std::vector<std::uint32_t> width;      ///< entries of each lane's own clock; equal where clocks can meet
  std::vector<bool> awaited;             ///< is some lane ever waiting for this one?
  bool over_messages = false;            ///< do messages and slots carry clocks, or only waits? Then: one width

  std::uint32_t message_width() const { return over_messages && !width.empty() ? width.front() : 0; }
};

/// The clocks of all lanes during a replay. Requires that `scope` outlives it.
class Clocks {
 public:
  Clocks(const Wiring& wiring, const ClockScope& scope, std::uint32_t slots);

  /// Joins what the primitive waits for, receives and finds free. To be called first.
  void start(const Execution& execution);
  /// Passes the clock on. To be called last.
  void end(const Execution& execution);

  /// At the start of the lane's present primitive.
  std::span<const std::uint32_t> clock(std::uint32_t lane) const {
    return std::span(clocks_).subspan(offset_[lane], scope_.width[lane]);
  }

 private:
  using Ring = std::vector<std::uint32_t>;

  std::uint32_t* slot(Ring& ring, std::uint32_t connection, std::uint64_t message) const;
  static void join(std::span<std::uint32_t> into, const std::uint32_t* from);
  std::span<std::uint32_t> own(std::uint32_t lane) {
    return std::span(clocks_).subspan(offset_[lane], scope_.width[lane]);
  }

  const Wiring& wiring_;
  const ClockScope& scope_;
  std::uint32_t slots_;
  std::vector<std::size_t> offset_;  ///< of each lane in clocks_
  std::vector<std::uint32_t> clocks_;
  std::vector<Ring> history_;        ///< of each awaited lane, its clock at the end of each primitive
  std::vector<std::uint64_t> sent_;  ///< on each connection
  std::vector<std::uint64_t> received_;
  Ring messages_;  ///< clocks of the messages in the slots of each connection
  Ring releases_;  ///< and of the receives that freed these slots
};

}  // namespace athanor
