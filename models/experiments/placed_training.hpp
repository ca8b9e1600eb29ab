#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/experiments/training.hpp"
#include "models/workload/collective_timer.hpp"
#include "models/workload/side_by_side.hpp"

namespace athanor {

/// A training on some endpoints of a cluster: what its calls take there, and of which links.
class PlacedTraining {
 public:
  /// `workload`: of the training, by its ranks; both are borrowed. `endpoints`: of the timer's cluster, by rank.
  /// Throws as run_workload().
  PlacedTraining(const Training& training, const Workload& workload, const std::vector<std::uint32_t>& endpoints,
                 CollectiveTimer& timer, std::stop_token stop);
  PlacedTraining(const PlacedTraining&) = delete;
  PlacedTraining& operator=(const PlacedTraining&) = delete;

  /// Of a step while nothing else uses the links, stragglers included.
  Time alone() const { return with_stragglers(alone_); }
  /// The same without stragglers.
  Time undelayed() const { return alone_; }
  Time with_stragglers(Time period) const;
  const std::vector<LinkDemand>& demand() const { return demand_; }
  /// Its steps beside others', whose calls may meet its own on these links, in ascending order. Borrows from this.
  RepeatedStep beside_others(std::span<const std::uint32_t> links);
  /// Who is met for the first time after this costs another run of the step.
  void forget_records() { records_ = {}; }
  /// For how many seconds of a step it uses each link, in ascending order of links: how long the link's part of what is
  /// sent takes at full rate.
  std::map<std::uint32_t, double> busy_seconds() const;
  /// FLOPs of a step by the time that its busiest link is busy (Crux's intensity, FLOP/s).
  double intensity() const { return intensity_; }
  /// Numbers that it holds, some 16 bytes each.
  std::size_t remembered() const;

 private:
  const Training& training_;
  WorkloadOptions options() const;
  void run();

  const Workload& workload_;
  std::stop_token stop_;
  std::vector<CallEstimate> own_;
  WorkloadEstimates estimates_;
  std::vector<std::uint32_t> most_;  ///< calls of each estimate at once
  std::vector<LinkDemand> demand_;
  Time alone_;
  double intensity_ = 0;
  std::vector<CallTime> calls_;                           ///< of a step
  Records records_;                                       ///< of a step; empty: forgotten
  std::map<std::vector<bool>, ContestedStep> contested_;  ///< by estimate, whether others may meet its calls
};

}  // namespace athanor
