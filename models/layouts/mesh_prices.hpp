#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/layouts/layout_step.hpp"
#include "models/workload/collective_timer.hpp"

namespace athanor {

struct Cluster;

/// What steps take on a fabric, whose endpoint d is the mesh's device d: all groups of a step at the same time, on an
/// otherwise idle cluster. Equal questions are simulated once.
class MeshPrices {
 public:
  /// Borrows the timer and the cluster.
  MeshPrices(CollectiveTimer& timer, const Cluster& cluster, DeviceMesh mesh, DataType type);

  /// None: permutations that who carries messages out cannot, and all-to-alls that would be too large to simulate
  /// (kMostPairs). Throws as CollectiveTimer. Requires no slice.
  std::optional<Time> time(const LayoutStep& step, Bytes size);
  /// No step takes less: by what the first device and the first node must send, over what their links inject.
  Time bound(const LayoutStep& step, Bytes size);
  /// Whether something was left out because it is too large.
  bool left_out() const { return left_out_; }

  /// On larger meshes collectives are simulated at sizes of 1, 4, 16, ... KiB, and interpolated linearly between them.
  static constexpr std::uint32_t kExactDevices = 1024;
  static constexpr std::uint64_t kMostPairs = 4'000'000;  ///< of devices that send to each other in one step

 private:
  /// Of the groups that the first node takes part in.
  struct OfNode {
    std::uint64_t groups = 0;
    std::uint64_t members = 0;  ///< of one of them
  };
  const OfNode& of_node(const MeshAxes& axes);
  std::uint32_t communicator(const MeshAxes& axes);
  Time simulated(const LayoutStep& step, Bytes size);
  std::optional<Time> permutation(const LayoutStep& step, Bytes size);

  CollectiveTimer& timer_;
  DeviceMesh mesh_;
  DataType type_;
  Bandwidth of_device_;
  std::optional<Bandwidth> out_of_node_;  ///< none: devices stand on the fabric themselves, or in one node
  std::uint32_t in_node_ = 1;             ///< devices of the first node
  bool left_out_ = false;
  std::map<MeshAxes, OfNode> of_node_;
  Workload calls_;
  std::map<MeshAxes, std::uint32_t> communicators_;
  std::map<std::tuple<LayoutStepKind, MeshAxes, Bytes>, Time> known_;
  std::map<std::pair<std::vector<std::uint32_t>, Bytes>, std::optional<Time>> permutations_;
};

/// The collective that a step is. Requires neither a slice nor a permutation.
CollectiveKind collective_of(LayoutStepKind kind);

}  // namespace athanor
