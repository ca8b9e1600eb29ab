#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/software/calibrated_table.hpp"
#include "models/software/gpu_costs.hpp"
#include "models/software/nccl_costs.hpp"
#include "models/software/prediction_error.hpp"
#include "models/software/protocol.hpp"
#include "models/software/thread_costs.hpp"
#include "sim/config/fields.hpp"
#include "sim/units.hpp"

namespace athanor {

struct Cluster;

/// The software of a machine: every cost that the hardware does not explain, each calibrated from measurements.
struct Profile {
  std::string name = "ideal";
  std::string description = "no software cost: latency, bandwidth and contention of the hardware only";
  std::string source;
  Time launch;                               ///< before the first primitive starts
  Bandwidth reduce_rate = Bandwidth::max();  ///< of each input after the first
  Bandwidth copy_rate = Bandwidth::max();
  bool overlapped = true;  ///< reducing beside sending
  std::vector<Protocol> protocols{Protocol{}};
  std::optional<NcclCosts> nccl;       ///< then NCCL chooses, and protocols are what it makes of these costs
  std::optional<ThreadCosts> threads;  ///< of ranks that are threads on shared memory; then nothing above counts
  std::optional<GpuCosts> gpus;        ///< of ranks that share GPUs; the same
  /// The profile that prices what stays within one node, in place of this one, whose figures were found between nodes;
  /// "", null: this one does.
  std::string within_node;
  std::shared_ptr<const Profile> inside = nullptr;
  std::string transport;  ///< of transports(), that figures between nodes are of; "": not known
  std::string machine;    ///< on which it was calibrated, as measurements name machines; "": unknown

  bool pooled = false;  ///< its figures are what other stacks tell of its parts; nothing was measured of it
  /// How far predictions were off that rest on as much as they do here; null: nobody knows.
  std::shared_ptr<const std::vector<PredictionError>> errors = nullptr;

  /// The domain that it was fitted in; a result outside is extrapolated. Empty lists: everything.
  struct Domain {
    std::vector<std::string> measurements;  ///< tables that it was fitted on
    std::vector<std::string> collectives;
    std::vector<std::uint32_t> ranks;
    std::vector<std::string> gpus;     ///< of the nodes: compute capabilities as "9.0", or architectures as "gfx942"
    std::vector<std::uint32_t> nodes;  ///< how many were measured together
    Bytes from;
    Bytes to = Bytes::max();
    std::uint32_t rows = 0;      ///< measured times that tell it, where they are a few; 0: whole tables
    std::vector<Bytes> sizes{};  ///< of those few
  } fitted;
  std::vector<CalibratedTable> calibrated;  ///< how far it is off on the tables that it was fitted on

  /// What prices a communicator on so many nodes.
  const Profile& on_nodes(std::uint32_t nodes) const { return nodes == 1 && inside ? *inside : *this; }
  /// Are ranks parts of one machine that share it, so that every one is simulated?
  bool shares_machine() const { return threads.has_value() || gpus.has_value(); }
  /// The first `ranks` endpoints of a cluster carry it out.
  bool covers(CollectiveKind kind, std::uint32_t ranks, Bytes size, const Cluster& cluster) const;
  /// How far its prediction of such a collective may be off; none: nobody knows.
  std::optional<PredictionError> error_of(CollectiveKind kind, std::uint32_t ranks, Bytes size,
                                          const Cluster& cluster) const;
};

/// What GPUs call themselves in Profile::Domain; "": not known.
std::string gpu_name(const Cluster& cluster);
/// Nodes on which the first `ranks` endpoints are; an endpoint on the fabric itself is one. Requires that there are.
std::uint32_t nodes_of(const Cluster& cluster, std::uint32_t ranks);

void visit(Fields& fields, Profile& profile);

}  // namespace athanor
