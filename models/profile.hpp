#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/channel_nics.hpp"
#include "models/costs.hpp"
#include "models/gpu/gpu_costs.hpp"
#include "models/hop_cost.hpp"
#include "models/nccl/costs.hpp"
#include "models/shared_memory/thread_costs.hpp"
#include "sim/json/object_reader.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What engines in switches of the network cost, and what they hold.
struct AggregationCost {
  Time latency;                              ///< of every message to or from an engine, pipelined
  Time host_latency;                         ///< more of it between a rank and an engine: software and NIC
  Bandwidth rate = Bandwidth::max();         ///< payload rate of one channel on one hop; max: only links limit
  Time overhead;                             ///< of an engine, per message that it adds up or multicasts
  Bandwidth reduce_rate = Bandwidth::max();  ///< of an engine: bytes of each input after the first; max: line rate
  Bytes grain;                               ///< an engine passes on what it has of a message; 0: whole messages
  Ratio payload{1, 1};  ///< payload bytes per byte on the wire between an engine and its neighbours in the tree
  std::uint32_t outstanding = 0;  ///< chunks of a channel under way at once (Layout::outstanding)
  bool streaming = false;         ///< takes a streaming tree, not one of low latency
};

/// What a library that was asked decides on a layout beside channels, chunks and slices; see Layout.
struct LibraryCut {
  std::shared_ptr<const ChannelOrders> orders = nullptr;  ///< none: ascending
  std::array<std::uint32_t, 2> tree_heads{};
  std::uint32_t parts = 1;
  std::uint32_t peers_at_once = 8;
  Bytes least_slice;
  std::vector<std::uint32_t> heads = {};  ///< none: every rank of a node
  std::uint32_t messages_per_step = 1;
  /// Bytes in place of Layout::parts_by_size's elements.
  struct PartsBySize {
    Bytes small;
    Bytes large;
    std::uint32_t least = 1;
  };
  std::optional<PartsBySize> parts_by_size = {};
  std::shared_ptr<const ChannelNics> nics = nullptr;  ///< by which channels leave and enter nodes; none: routers choose
  std::uint32_t outstanding = 0;  ///< of each channel, beside what engines hold; 0: no limit of its own
};

/// One way in which a communication library moves data (NCCL: LL, LL128, Simple, and NVLS's own).
struct Protocol {
  std::string name = "none";
  std::vector<std::string> algorithms;  ///< that use it; empty: every one without an engine
  Bytes from;                           ///< payload sizes at which it is a candidate
  Bytes to = Bytes::max();
  Time start;                              ///< once per collective, beside the launch
  Time overhead;                           ///< per primitive that sends or receives
  Bandwidth keep_rate = Bandwidth::max();  ///< of what a primitive receives and does not pass on: copied out of buffers
  HopCost node;                            ///< within a node
  HopCost network;                         ///< between nodes
  HopCost engine;                          ///< to and from the engine of NVSwitches
  AggregationCost aggregation;
  Ratio payload{1, 1};  ///< payload bytes per byte on the wire
  Bytes grain;          ///< receivers start on the first grain; 0: on the whole message
  Bytes engine_grain;   ///< the same for NVSwitches, which stream
  SendEnd send_end = SendEnd::delivered;
  Bytes eager = Bytes::max();              ///< larger messages ask their receiver first ...
  Time handshake;                          ///< ... and begin to move so much later
  std::uint32_t slots = 8;                 ///< at least what the schedule needs
  std::uint32_t channels = 1;              ///< most
  Bytes least_per_channel{1};              ///< payload that makes one more channel worth while
  Bytes chunk = Bytes::max();              ///< most payload of one chunk; max: one loop
  std::vector<std::uint32_t> halve_below;  ///< the chunk is halved, in turn, while there are fewer loops than this
  std::uint32_t slices = 1;
  bool rotate = true;  ///< channel c's ring leaves each node from GPU c
  LibraryCut cut;      ///< not in files
};

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
  std::string machine;  ///< on which it was calibrated, as measurements name machines; "": unknown

  /// The domain that it was fitted in; a result outside is extrapolated. Empty lists: everything.
  struct Domain {
    std::vector<std::string> measurements;  ///< tables that it was fitted on
    std::vector<std::string> collectives;
    std::vector<std::uint32_t> ranks;
    std::vector<std::string> gpus;     ///< of the nodes: compute capabilities as "9.0", or architectures as "gfx942"
    std::vector<std::uint32_t> nodes;  ///< how many were measured together
    Bytes from;
    Bytes to = Bytes::max();
  } fitted;

  /// What prices a communicator on so many nodes.
  const Profile& on_nodes(std::uint32_t nodes) const { return nodes == 1 && inside ? *inside : *this; }
  /// Are ranks parts of one machine that share it, so that every one is simulated?
  bool shares_machine() const { return threads.has_value() || gpus.has_value(); }
  /// The first `ranks` endpoints of a cluster carry it out.
  bool covers(CollectiveKind kind, std::uint32_t ranks, Bytes size, const Cluster& cluster) const;
};

/// What GPUs call themselves in Profile::Domain; "": not known.
std::string gpu_name(const Cluster& cluster);
/// Nodes on which the first `ranks` endpoints are; an endpoint on the fabric itself is one. Requires that there are.
std::uint32_t nodes_of(const Cluster& cluster, std::uint32_t ranks);

void read(ObjectReader& reader, Profile& profile);

}  // namespace athanor
