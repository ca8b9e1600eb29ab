#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/cluster_state.hpp"

namespace athanor {

/// How many GPUs of each type are free from now on if running jobs end when they are expected to, and what is reserved
/// is used. Counted alone: where they are is up to placement when their time has come.
class GpusAhead {
 public:
  explicit GpusAhead(const ClusterState& state);

  /// The earliest time, not before `from`, from which on as much as the shape asks for is free for so long; max: never.
  WallTime earliest(const Shape& shape, WallTime span, WallTime from) const;
  /// When something changes after that time; max: nothing does.
  WallTime next_step(WallTime time) const;
  /// Takes it for that time, of the shape's earliest types first. Requires that it is free.
  void reserve(const Shape& shape, WallTime from, WallTime span);

 private:
  using Milli = std::vector<std::uint64_t>;  ///< thousandths of GPUs, by type
  struct Step {
    WallTime from;
    Milli free;
  };

  /// The index of the step that begins then, which is made if need be.
  std::size_t step_at(WallTime time);
  /// What is free of each type all the time from a step's beginning until `end`.
  Milli least(std::size_t step, WallTime end) const;
  /// Of `free`; empty: it does not suffice.
  Milli share(const Shape& shape, Milli free) const;

  const Inventory& inventory_;
  std::vector<Step> steps_;  ///< the last one lasts for ever
};

}  // namespace athanor
