#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/training/parallel_plan.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// Ranks that do the same on every stage: those of copies with the same GPUs and as many micro-batches. Where the
/// tensor and context ranks of a copy have unlike GPUs, those with the same ones are a lane each.
struct StepLane {
  std::vector<std::uint32_t> kinds;  ///< by stage: of its GPUs
  std::uint32_t micro_batches = 1;   ///< of each of its copies
  std::uint32_t ranks = 0;           ///< of each stage
  std::string name;                  ///< "copies 0 to 3"; empty: all of them
};

/// All ranks of a plan, each in one lane.
class StepLanes {
 public:
  /// `kind_of_rank`: by rank, which kind of GPU it is; empty: all are alike. Requires kinds of all ranks, and as many
  /// numbers of micro-batches as copies where the plan says them.
  StepLanes(const ParallelPlan& plan, const std::vector<std::uint32_t>& kind_of_rank);

  const std::vector<StepLane>& all() const { return all_; }
  std::uint32_t of(std::uint32_t rank) const { return of_rank_.empty() ? 0 : of_rank_.at(rank); }

  /// Groups whose ranks wait for each other, and the lanes, ascending, that these ranks are in.
  struct Part {
    std::vector<std::uint32_t> lanes;
    EndpointGroups groups;
  };
  /// Lanes that meet in a group are in one part, so that no two parts have a lane in common.
  std::vector<Part> parts_of(EndpointGroups groups) const;
  /// Of pairs of ranks of one lane each, those of this lane.
  EndpointGroups of_lane(std::uint32_t lane, EndpointGroups pairs) const;

 private:
  struct CopyTraits;
  /// Lanes of copies that have the same traits; by column, which.
  std::vector<std::uint32_t> add_class(const ParallelPlan& plan, const CopyTraits& traits,
                                       const std::vector<std::uint32_t>& copies);

  std::vector<StepLane> all_;
  std::vector<std::uint32_t> of_rank_;  ///< empty: there is one lane
};

}  // namespace athanor
