#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/time.hpp"

namespace athanor {

/// What is seen of a flow at one moment.
struct FlowSample {
  std::uint32_t delivered = 0;    ///< packets, in order, since the beginning
  Time when;                      ///< of the last of them
  std::uint32_t outstanding = 0;  ///< packets under way
  double level = 0;               ///< CongestionControl::level
  bool held = false;              ///< it is what its congestion control allows that keeps it from sending
  bool timed = false;             ///< CongestionControl::has_timers
};

/// Packets in a span of time; exact, so that skips add up.
struct PacketRate {
  std::int64_t packets = 0;
  Time span{1};

  /// Whole packets within that time.
  std::uint32_t within(Time time) const;
  /// The least time within which so many packets are whole. Requires packets > 0.
  Time time_of(std::uint64_t count) const;
  double per_picosecond() const { return static_cast<double>(packets) / static_cast<double>(span.count()); }
};

/// What flows that share ports have done since the last of them began: rows of samples at equal distances. When there
/// are too many, every other is dropped, so that the distance grows with the age.
class SettlingHistory {
 public:
  struct Settled {
    std::vector<PacketRate> rates;  ///< by flow
    Time skip;                      ///< that may still be skipped on this evidence
  };
  static constexpr std::size_t kMostRows = 32;
  static constexpr std::size_t kLeastRows = 16;
  static constexpr std::size_t kRowsToConfirm = 7;

  /// `kinds`: by flow; flows of one kind have equal rates by symmetry, and are looked at together where what they did
  /// does not speak against it.
  SettlingHistory(std::vector<std::uint32_t> kinds, Time distance);

  /// When the next row is due, given that the last was added at `last`.
  Time distance() const { return distance_; }
  std::size_t rows() const { return samples_.size() / kinds_.size(); }
  void add(const std::vector<FlowSample>& row);

  /// Rates and windows have settled: over the last three quarters of the rows each kind delivers what it did, within
  /// the bound, in both halves; the standard error of the mean is within half of it; what is under way grows by no
  /// more; and what congestion controls allow goes up and down, where it counts, instead of one way. A drift that is
  /// too slow to tell from noise may move what is skipped in all by no more than the bound either: that limits `skip`.
  std::optional<Settled> settled(double bound) const;

  /// Flows of the same pattern have settled before at these rates, and the latest rows are within the bound of them.
  std::optional<Settled> confirmed(const std::vector<PacketRate>& rates, double bound) const;

  /// Time and packets, by flow, were skipped: what follows joins on.
  void skip(Time by, const std::vector<std::uint32_t>& packets);

  /// How far rates since a row that was added earlier, and since which nothing was skipped, are from others, as shares
  /// of those: by kind.
  std::vector<double> deviations(const std::vector<FlowSample>& since, const std::vector<PacketRate>& rates) const;
  /// The evidence is void.
  void clear();

 private:
  struct Kind;
  const FlowSample& at(std::size_t row, std::size_t flow) const { return samples_[row * kinds_.size() + flow]; }
  bool judge(Kind& kind, std::size_t first, double bound) const;
  double error_of(const std::vector<std::uint32_t>& flows, double mean, std::size_t first) const;
  bool alike(const std::vector<std::uint32_t>& flows, std::size_t first, double bound) const;
  double mean_rate(const std::vector<std::uint32_t>& flows, std::size_t from, std::size_t to) const;
  bool drifts(std::size_t flow, std::size_t first) const;
  Settled limited(std::vector<PacketRate> rates, std::size_t first, double share) const;

  std::vector<std::uint32_t> kinds_;
  std::vector<std::vector<std::uint32_t>> members_;  ///< by kind
  Time first_distance_;
  Time distance_;
  Time skipped_;
  std::vector<FlowSample> samples_;  ///< by row, then by flow
};

}  // namespace athanor
