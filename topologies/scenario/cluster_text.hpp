#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/fabric.hpp"
#include "topologies/generators/direct/global_cables.hpp"
#include "topologies/node/node_spec.hpp"
#include "topologies/overrides.hpp"
#include "topologies/router.hpp"
#include "topologies/scenario/graph_text.hpp"

/// The "cluster" part of a scenario as it is written: names not yet looked up, absent things absent. Places say where
/// to report what turns out wrong later.
namespace athanor {

/// "nvlink4", or {"rate": ..., "usable": ..., "latency": ...}.
struct LinkText {
  std::string preset;  ///< "": the figures below
  Bandwidth rate;
  std::optional<Bandwidth> usable;  ///< absent: as `rate`
  Time latency;
  Place place;
};

struct ScaleUpText {
  enum class Kind : std::uint8_t { none, nvswitch, nvlink_mesh };
  Kind kind = Kind::none;
  std::optional<LinkText> link;                ///< absent: that of the GPU
  std::optional<std::uint32_t> links_per_gpu;  ///< absent: as many as the GPU has
  std::optional<bool> reduces;                 ///< of NVSwitches; absent: from NVLink 4 on
  std::vector<std::vector<std::uint32_t>> counts;
  Unjoined unjoined = Unjoined::neighbour;
};

/// So many NICs of one model among others.
struct NicCountText {
  std::string nic;
  std::uint32_t count = 1;
  Place place;
};

/// A node, or changes to one: what is absent comes from `preset`.
struct NodeText {
  std::optional<std::string> preset;
  std::optional<std::string> name;
  std::optional<GraphText> graph;       ///< stands for all that is inside
  std::optional<NetworkLinkText> port;  ///< of every NIC of the graph, where no preset is named
  std::optional<std::string> gpu;
  std::optional<std::uint32_t> gpus;
  std::optional<ScaleUpText> scale_up;
  std::optional<std::uint32_t> sockets;
  std::optional<LinkText> socket_link;
  std::optional<LinkText> pcie_link;
  std::optional<LinkText> c2c_link;
  std::optional<LinkText> memory_link;
  std::optional<std::vector<PcieGroupSpec>> pcie;
  std::optional<std::string> nic;
  std::optional<std::uint32_t> nics;
  std::vector<NicCountText> nic_models;  ///< in place of `nic` and `nics`
  std::optional<CpuIdentity> cpu;
  std::optional<Ratio> compute_capability;  ///< absent: that of `gpu`
  std::optional<bool> gpu_direct;           ///< absent: that of `gpu`
  std::optional<bool> peer_access;          ///< absent: that of `gpu`
  bool nvlink_access = true;                ///< not in files: what software lets the GPUs do
  Place place;
  Place gpu_place;
  Place nic_place;
};

/// What only direct networks have.
struct DirectText {
  enum class Kind : std::uint8_t { mesh, torus, full_mesh, hyperx, dragonfly, dragonfly_plus, slim_fly };
  Kind kind = Kind::torus;
  VertexKind positions = VertexKind::host;  ///< where there are no nodes
  std::vector<std::uint32_t> dimensions;
  std::vector<bool> wrap;
  bool tpu_v4_twists = false;
  std::vector<std::vector<std::uint32_t>> twists;
  std::vector<std::uint32_t> cables;  ///< in parallel, of each dimension or of all
  std::optional<std::uint32_t> hosts_per_switch, switches, groups, switches_per_group, spines_per_group;
  std::optional<std::uint32_t> global_cables;  ///< of one switch
  Arrangement arrangement = Arrangement::palm_tree;
  std::uint32_t q = 0;
  std::optional<NetworkLinkText> global_link;
};

struct FabricText {
  enum class Kind : std::uint8_t { star, fat_tree, rail_optimized, rail_only, dual_plane, k_ary_n_tree, direct };
  Kind kind = Kind::star;
  std::string name;                                ///< of one of several; else ""
  std::optional<std::vector<std::uint32_t>> nics;  ///< of every node, those that are on it; absent: all
  std::optional<std::string> switch_name;
  std::optional<NetworkLinkText> link;
  std::optional<NetworkLinkText> uplink;
  std::optional<NetworkLinkText> core_link;
  Time cable_latency = Time{50'000};  ///< with a switch preset: 10 m of fibre at 5 ns/m
  std::optional<std::uint32_t> tiers, radix, hosts_per_leaf, nodes_per_group, leaves, spines, pods, leaves_per_pod,
      cores;
  std::vector<Ratio> oversubscription;  ///< of leaves, then of spines
  std::uint32_t planes = 2;
  std::optional<bool> by_rail;  ///< of planes; absent: where there are nodes
  std::uint32_t arity = 0;
  std::uint32_t levels = 0;
  DirectText direct;
  Place place;
  Place nics_place;
  Place switch_place;
  Place link_place;
};

/// One machine whose ranks are threads.
struct SharedMemoryText {
  std::uint32_t ranks = 0;
  std::uint32_t processors = 0;
  Place place;
};

/// One machine whose ranks are thread blocks of GPUs.
struct SharedGpusText {
  std::uint32_t ranks = 0;
  std::uint32_t gpus = 1;
};

/// So many nodes of one kind among others.
struct NodeCountText {
  NodeText node;
  std::uint32_t count = 1;
  Place place;
};

struct ClusterText {
  std::optional<NodeText> node;
  std::vector<NodeCountText> mixture;  ///< in place of `node` and `nodes`
  std::optional<std::uint32_t> nodes;
  std::optional<FabricText> fabric;
  std::vector<FabricText> fabrics;  ///< in place of `fabric`, by name
  std::optional<GraphText> graph;
  std::optional<SharedMemoryText> shared_memory;
  std::optional<SharedGpusText> shared_gpus;
  std::vector<LinkOverride> overrides;
  Place place;
  Place nodes_place;
  Place fabrics_place;
};

}  // namespace athanor
