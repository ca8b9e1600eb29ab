#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// What a worker of ATP has sent and not got back: packets from `first` on, fewer than the window has. The window
/// shrinks to half where a result is marked, once for all packets that were under way then, and grows by one packet
/// for each window of results that are not.
class SendWindow {
 public:
  static constexpr std::uint32_t kMost = 1U << 20U;

  /// Requires 0 < most <= kMost.
  SendWindow(std::uint32_t packets, std::uint32_t most);

  bool has_next() const { return next_ < packets_ && next_ - first_ < size_ / kFine; }
  std::uint32_t take_next() { return next_++; }

  bool waits_for(std::uint32_t sequence) const { return sequence < next_ && sequence >= first_ && !has(sequence); }
  bool done() const { return first_ == packets_; }

  /// How often a packet was sent that it waits for.
  std::uint32_t& tries(std::uint32_t sequence) { return tries_[sequence % most_]; }
  std::uint32_t tries(std::uint32_t sequence) const { return tries_[sequence % most_]; }

  /// A result that it waits for is there. Returns whether the oldest packet without one now counts as lost: its results
  /// were overtaken by `later` others; at most once for each packet.
  bool take(std::uint32_t sequence, std::uint32_t later);
  std::uint32_t first() const { return first_; }

  /// What a result tells of queues.
  void adapt(std::uint32_t sequence, bool marked);

 private:
  static constexpr std::uint64_t kFine = 65'536;  ///< parts of a packet that the window is counted in

  bool has(std::uint32_t sequence) const { return there_[sequence % most_] != 0; }
  void advance();

  std::uint32_t packets_;
  std::uint32_t most_;       ///< packets
  std::uint64_t size_;       ///< of the window, in parts of a packet
  std::uint32_t first_ = 0;  ///< the oldest without a result
  std::uint32_t next_ = 0;   ///< to be sent
  std::uint32_t ahead_ = 0;  ///< results that are there of later ones
  bool counted_lost_ = false;
  std::uint32_t halved_until_ = 0;  ///< results of packets before this one halve no more
  std::vector<std::uint8_t> there_;
  std::vector<std::uint32_t> tries_;
};

}  // namespace athanor
