#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/limits.hpp"
#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/hardware/network_switch.hpp"
#include "topologies/kinds/catalog.hpp"
#include "topologies/network_topology.hpp"
#include "topologies/population.hpp"

namespace athanor {

class Fields;
class FieldValue;
class Problems;

/// {"rate": "400Gb/s", "latency": "500ns", "efficiency": 0.97}: a cable of the network.
struct NetworkLink {
  Bandwidth rate;
  Time latency;  ///< the forwarding of the switch that it leaves included
  Ratio efficiency{1, 1};
};
void visit(Fields& fields, NetworkLink& link);

CableSpec cable_of(const NetworkLink& link);
/// The cable of a link of its own, where it has one.
CableSpec cable_or(const std::optional<NetworkLink>& link, const CableSpec& otherwise);

/// The figures of switches and cables, which nearly all kinds of fabric have.
struct Switching {
  std::optional<SwitchConfig> device;  ///< "switch"
  std::optional<NetworkLink> link;     ///< every link of the network, where no switch is named
  Time cable_latency = Time{50'000};   ///< with a preset: 10 m of fibre at 5 ns/m
  std::optional<std::uint32_t> radix;  ///< ports of a switch; absent: as the preset says
};
/// "switch", "link" and "cable_latency".
void visit(Fields& fields, Switching& switching);
/// "radix" of the switches of a fabric that has more than one.
void read_radix(Fields& fields, Switching& switching);

/// Bounds of keys: ports, or switches, hosts and cables on one switch; switches or positions in all.
constexpr std::uint32_t kMostPorts = 65'536;
constexpr std::uint32_t kMostCables = 4096;
constexpr std::uint32_t kMostPositions = 1U << 24U;
constexpr Range<std::uint32_t> kPortRange{1, kMostPorts};
constexpr Range<std::uint32_t> kCableRange{1, kMostCables};
constexpr Range<std::uint32_t> kPositionRange{1, kMostPositions};

/// A number of parallel cables, or a list of one for each dimension.
void read_cables(FieldValue& fields, std::vector<std::uint32_t>& cables);

/// What a cluster gives a fabric: who is on it, and what its cables carry unless the kind's own keys say otherwise.
struct FabricSite {
  Population population;
  std::optional<std::uint32_t> radix;  ///< ports of every switch; absent: as many as needed
  CableSpec cable;                     ///< between switches
  CableSpec host_cable;                ///< host or NIC to switch: no faster than a port of the NIC
  CableSpec nic_cable;                 ///< NIC to the router of its own position, where nodes are positions
};

/// What members are counted by before there are any: the NICs of a node (of a mixture those of its fastest kind).
/// None: members are hosts, or other devices without an inside.
using NicsPerNode = std::optional<std::uint32_t>;

/// A kind of fabric with its keys, as a scenario writes them. Each is a file of its own in this folder, which holds its
/// keys, its generator and its words (Topology), and a line in catalog.cpp.
class FabricKind {
 public:
  virtual ~FabricKind() = default;

  /// Declares the keys beside "kind".
  virtual void visit(Fields& fields) = 0;
  virtual const Switching& switches() const = 0;
  /// The network of these keys at a site; what they leave open follows from the population. Throws ScenarioError:
  /// "does-not-fit" where sizes do not go together, "too-large" for more than can be counted.
  virtual std::shared_ptr<NetworkTopology> build(const FabricSite& site) const = 0;

  /// Nodes or hosts that the keys alone make room for; 0: they do not say. Throws ScenarioError.
  virtual Wide capacity(NicsPerNode /*nics*/) const { return 0; }
  /// Adds what the keys say that does not go with such nodes, at the place of the fabric.
  virtual void check(NicsPerNode /*nics*/, const SourceLocation& /*fabric*/, Problems& /*problems*/) const {}
  /// Whether every node or host is a router of its own, as on a torus.
  virtual bool members_are_routers() const { return false; }
  /// What stands at a position where there are no nodes.
  virtual VertexKind positions() const { return VertexKind::host; }
  /// Ports of one NIC to the network, which share its rate.
  virtual std::uint32_t ports_per_nic() const { return 1; }
};

/// Makes what the catalog has of a kind: `Kind::words()`, and how one is made. Each kind's file ends with an explicit
/// instantiation of it, by which the catalog finds the kind without a header.
template <class Kind>
Topology topology_of() {
  Topology topology = Kind::words();
  topology.make = []() -> std::unique_ptr<FabricKind> { return std::make_unique<Kind>(); };
  return topology;
}

/// More members than any fabric takes: capacities are not counted further.
constexpr Wide kMostMembers = Wide{1} << 40U;

/// The product of all, at most kMostMembers.
Wide product(const std::vector<std::uint32_t>& sizes);
/// dividend / divisor, rounded up, at most 2^30. Requires a divisor above 0.
std::uint32_t divided_up(Wide dividend, Wide divisor);
/// Members that so many links to hosts or NICs take.
Wide members_on(Wide attachments, NicsPerNode nics);

/// A "fabric" as a scenario writes it.
struct FabricSettings {
  std::string name;                                ///< of one of several; else ""
  std::shared_ptr<const FabricKind> kind;          ///< with its keys
  std::optional<std::vector<std::uint32_t>> nics;  ///< of every node, those that are on it; absent: all
  SourceLocation place;
  SourceLocation nics_place;
};
void visit(Fields& fields, FabricSettings& fabric);

/// The keys that a fabric of this kind may have beside "kind", in alphabetical order.
std::vector<std::string> keys_of(const Topology& topology);

}  // namespace athanor
