#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/experiments/placed_workload.hpp"
#include "models/experiments/training.hpp"

namespace athanor {

/// A training on some endpoints of a cluster.
class PlacedTraining {
 public:
  /// Borrows training and workload, which is of it. Else as PlacedWorkload().
  PlacedTraining(const Training& training, const Workload& workload, const std::vector<std::uint32_t>& endpoints,
                 CollectiveTimer& timer, std::stop_token stop);

  /// Of a step while nothing else uses the links, stragglers included.
  Time alone() const { return with_stragglers(placed_.alone()); }
  /// The same without stragglers.
  Time undelayed() const { return placed_.alone(); }
  Time with_stragglers(Time period) const;
  const std::vector<LinkDemand>& demand() const { return placed_.demand(); }
  RepeatedStep beside_others(std::span<const std::uint32_t> links) { return placed_.beside_others(links); }
  void forget_records() { placed_.forget_records(); }
  std::map<std::uint32_t, double> busy_seconds() const { return placed_.busy_seconds(); }
  /// FLOPs of a step by the time that its busiest link is busy (Crux's intensity, FLOP/s).
  double intensity() const { return intensity_; }
  std::size_t remembered() const { return placed_.remembered(); }

 private:
  const Training& training_;
  PlacedWorkload placed_;
  double intensity_ = 0;
};

}  // namespace athanor
