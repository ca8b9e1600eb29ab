#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/workload/accounts.hpp"
#include "models/workload/collective_timer.hpp"
#include "models/workload/side_by_side.hpp"
#include "models/workload/time_shifts.hpp"

namespace athanor {

/// A workload of ranks on the endpoints that have these ranks.
Workload on_endpoints(Workload workload, const std::vector<std::uint32_t>& endpoints);

/// A workload on some endpoints of a cluster: what its calls take there, and of which links.
class PlacedWorkload {
 public:
  /// `workload`: by its ranks; borrowed. `endpoints`: of the timer's cluster, by rank. `interference`: as of
  /// WorkloadOptions. Throws as run_workload().
  PlacedWorkload(const Workload& workload, const std::vector<std::uint32_t>& endpoints, double interference,
                 CollectiveTimer& timer, std::stop_token stop);
  PlacedWorkload(const PlacedWorkload&) = delete;
  PlacedWorkload& operator=(const PlacedWorkload&) = delete;

  /// What it takes while nothing else uses the links.
  Time alone() const { return alone_; }
  const std::vector<LinkDemand>& demand() const { return demand_; }
  const WorkloadEstimates& estimates() const { return estimates_; }
  /// It again and again beside others, whose calls may meet its own on these links, in ascending order. Borrows from
  /// this.
  RepeatedStep beside_others(std::span<const std::uint32_t> links);
  /// What it takes of each of these links, in ascending order, while it runs alone; none of those that it does not use.
  std::map<std::uint32_t, std::vector<LinkArc>> arcs(std::span<const std::uint32_t> links);
  /// Who is met for the first time after this costs another run of it.
  void forget_records() { records_ = {}; }
  /// For how many seconds it uses each link, in ascending order of links: how long the link's part of what is sent
  /// takes at full rate.
  std::map<std::uint32_t, double> busy_seconds() const;
  /// The most of all links.
  double busiest_link_seconds() const;
  /// Seconds in which its ranks compute, all together.
  double computing_seconds();
  /// Numbers that it holds, some 16 bytes each.
  std::size_t remembered() const;

 private:
  void run();
  void need_records();

  const Workload& workload_;
  double interference_;
  std::stop_token stop_;
  std::vector<CallEstimate> own_;
  WorkloadEstimates estimates_;
  std::vector<std::uint32_t> most_;  ///< calls of each estimate at once
  std::vector<LinkDemand> demand_;
  Time alone_;
  std::vector<CallTime> calls_;
  Records records_;                                       ///< empty: forgotten
  std::map<std::vector<bool>, ContestedStep> contested_;  ///< by estimate, whether others may meet its calls
};

}  // namespace athanor
