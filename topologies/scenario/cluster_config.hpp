#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/fabric/fabric.hpp"
#include "topologies/fabric/router.hpp"
#include "topologies/generators/overrides.hpp"
#include "topologies/hardware/gpu.hpp"
#include "topologies/hardware/link_config.hpp"
#include "topologies/hardware/nic.hpp"
#include "topologies/kinds/fabric_kind.hpp"
#include "topologies/node/node_spec.hpp"
#include "topologies/scenario/graph_config.hpp"

/// The "cluster" part of a scenario as it is written: names not yet looked up, absent things absent. Places say where
/// to report what turns out wrong later.
namespace athanor {

class Fields;
class FieldValue;

struct ScaleUpConfig {
  enum class Kind : std::uint8_t { none, nvswitch, nvlink_mesh };
  Kind kind = Kind::none;
  std::optional<LinkConfig> link;              ///< absent: that of the GPU
  std::optional<std::uint32_t> links_per_gpu;  ///< absent: as many as the GPU has
  std::optional<bool> reduces;                 ///< of NVSwitches; absent: from NVLink 4 on
  std::vector<std::vector<std::uint32_t>> counts;
  Unjoined unjoined = Unjoined::neighbour;
};

/// So many NICs of one model among others.
struct NicCountConfig {
  NicConfig nic;
  std::uint32_t count = 1;
};

/// A node, or changes to one: what is absent comes from `preset`.
struct NodeConfig {
  std::optional<std::string> preset;
  std::optional<std::string> name;
  std::optional<GraphConfig> graph;  ///< stands for all that is inside
  std::optional<NetworkLink> port;   ///< of every NIC of the graph, where no preset is named
  std::optional<GpuConfig> gpu;
  std::optional<std::uint32_t> gpus;
  std::optional<std::uint32_t> processes;  ///< on the cores of its CPUs: its ranks, in place of GPUs
  std::optional<ScaleUpConfig> scale_up;
  std::optional<std::uint32_t> sockets;
  std::optional<LinkConfig> socket_link;
  std::optional<LinkConfig> pcie_link;
  std::optional<LinkConfig> c2c_link;
  std::optional<LinkConfig> nic_link;
  std::optional<LinkConfig> memory_link;
  std::optional<LinkConfig> core_link;
  std::optional<std::vector<PcieGroupSpec>> pcie;
  std::optional<NicConfig> nic;
  std::optional<std::uint32_t> nics;
  std::vector<NicCountConfig> nic_models;  ///< in place of `nic` and `nics`
  std::optional<CpuIdentity> cpu;
  std::optional<Ratio> compute_capability;  ///< absent: that of `gpu`
  std::optional<bool> gpu_direct;           ///< absent: that of `gpu`
  std::optional<bool> peer_access;          ///< absent: that of `gpu`
  std::optional<std::string> transport;     ///< of messages between such nodes; absent: what is usual of their NICs
  bool nvlink_access = true;                ///< not in files: what software lets the GPUs do
  SourceLocation place;
};
/// Every key of a node, preset or written out.
void visit(Fields& fields, NodeConfig& node);

/// One machine whose ranks are threads.
struct SharedMemoryConfig {
  std::uint32_t ranks = 0;
  std::uint32_t processors = 0;
  SourceLocation place;
};

/// One machine whose ranks are thread blocks of GPUs.
struct SharedGpusConfig {
  std::uint32_t ranks = 0;
  std::uint32_t gpus = 1;
};

/// So many nodes of one kind among others.
struct NodeCountConfig {
  NodeConfig node;
  std::uint32_t count = 1;
  SourceLocation place;
};

struct ClusterConfig {
  std::optional<NodeConfig> node;
  std::vector<NodeCountConfig> mixture;  ///< in place of `node` and `nodes`
  std::optional<std::uint32_t> nodes;
  std::optional<FabricSettings> fabric;
  std::vector<FabricSettings> fabrics;  ///< in place of `fabric`, by name
  std::optional<GraphConfig> graph;
  std::optional<SharedMemoryConfig> shared_memory;
  std::optional<SharedGpusConfig> shared_gpus;
  std::vector<LinkOverride> overrides;
  SourceLocation place;
  SourceLocation nodes_place;
  SourceLocation fabrics_place;
};
/// The "cluster" part of a scenario.
void visit(Fields& fields, ClusterConfig& cluster);
/// One entry of "overrides".
void visit(Fields& fields, LinkOverride& given);

/// The names of "network": {"routing": ...}.
Names<Routing> routing_names();

}  // namespace athanor
