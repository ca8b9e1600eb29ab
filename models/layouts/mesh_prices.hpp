#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "models/layouts/layout_step.hpp"
#include "models/workload/collective_timer.hpp"

namespace athanor {

/// What steps take on a fabric, whose endpoint d is the mesh's device d: all groups of a step at the same time, on an
/// otherwise idle cluster. Equal questions are simulated once.
class MeshPrices {
 public:
  /// Borrows the timer.
  MeshPrices(CollectiveTimer& timer, DeviceMesh mesh, DataType type)
      : timer_(timer), mesh_(std::move(mesh)), type_(type) {}

  /// Throws as CollectiveTimer. Requires no slice.
  Time operator()(const LayoutStep& step, Bytes size);

 private:
  std::uint32_t communicator(const MeshAxes& axes);
  Time permutation(const LayoutStep& step, Bytes size);

  CollectiveTimer& timer_;
  DeviceMesh mesh_;
  DataType type_;
  Workload calls_;
  std::map<MeshAxes, std::uint32_t> communicators_;
  std::map<std::tuple<LayoutStepKind, MeshAxes, Bytes>, Time> known_;
  std::map<std::pair<std::vector<std::uint32_t>, Bytes>, Time> permutations_;
};

/// The collective that a step is. Requires neither a slice nor a permutation.
CollectiveKind collective_of(LayoutStepKind kind);

}  // namespace athanor
