#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/jobs/inventory.hpp"

namespace athanor {

/// GPUs of a job on each of its nodes, in the order in which it has them; of a ring of nodes, so that where it begins
/// is of no account: turned to the smallest.
using GpuCounts = std::vector<std::uint32_t>;
GpuCounts counts_of(const Allocation& where);
/// The smallest, number by number, of all turns.
GpuCounts turned(GpuCounts counts);
/// The fewest nodes of `per_node` GPUs that have so many.
GpuCounts packed(std::uint32_t gpus, std::uint32_t per_node);

/// What one pass over a local batch takes, in seconds: all of it, and the part in which GPUs exchange gradients.
struct StepTime {
  double step = 0;
  double sync = 0;
};

/// Measured step times of one arrangement by local batch; linear between them, and beyond as at the last.
class StepCurve {
 public:
  void add(double batch, StepTime time);
  bool empty() const { return times_.empty(); }
  /// Requires !empty().
  StepTime at(double batch) const;
  /// All that was added, by batch; of several for one batch their mean.
  const std::map<double, std::pair<StepTime, int>>& times() const { return times_; }

 private:
  std::map<double, std::pair<StepTime, int>> times_;  ///< sums, and of how many
};

/// Measured step times of an application: of each placement on few nodes, and of others by how many nodes and GPUs.
class StepProfile {
 public:
  void add_placement(const GpuCounts& counts, double batch, StepTime time);
  void add_size(std::uint32_t nodes, std::uint32_t gpus, double batch, StepTime time);

  /// Of a placement that was measured; else linear between sizes that were, where the placements of a size count by
  /// their mean. On more nodes than any measured as on the most, and with GPUs beyond the measured as with the nearest.
  /// Requires turned counts, and that something was measured.
  StepTime at(const GpuCounts& counts, double batch) const;
  /// The same of any placement on so many nodes with so many GPUs altogether.
  StepTime of_size(double nodes, double gpus, double batch) const;

  /// Of a node, in any placement.
  std::uint32_t most_gpus_of_a_node() const { return most_gpus_of_a_node_; }
  /// Of a job.
  std::uint32_t most_gpus() const;

 private:
  /// Curves of one number of nodes by GPUs.
  using OfNodes = std::map<std::uint32_t, StepCurve>;

  std::map<GpuCounts, StepCurve> placements_;
  std::map<std::uint32_t, OfNodes> sizes_;
  std::uint32_t most_gpus_of_a_node_ = 0;
};

}  // namespace athanor
