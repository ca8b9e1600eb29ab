#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topologies/generators/clos_shape.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

/// The keys that all kinds of fat trees have; what is absent follows from the rest (clos_shape.hpp).
struct ClosSettings {
  Switching switching;
  std::optional<NetworkLink> uplink;
  std::optional<NetworkLink> core_link;
  std::optional<std::uint32_t> tiers, leaves, spines, pods, leaves_per_pod, cores;
  std::vector<Ratio> oversubscription;  ///< of leaves, then of spines

  /// `hosts_per_leaf`: nodes per group where NICs are on leaves by rail.
  ClosSpec spec(const FabricSite& site, std::optional<std::uint32_t> hosts_per_leaf) const;
};
void visit(Fields& fields, ClosSettings& clos);

/// "hosts_per_leaf" and "nodes_per_group"; `more` ends what the first means.
void read_hosts_per_leaf(Fields& fields, std::optional<std::uint32_t>& hosts, std::string_view more = "");
void read_nodes_per_group(Fields& fields, std::optional<std::uint32_t>& nodes, std::string_view more = "");

/// What every kind of fat tree is.
struct ClosFabric : FabricKind {
  ClosSettings clos;

  void visit(Fields& fields) override { athanor::visit(fields, clos); }
  const Switching& switches() const override { return clos.switching; }
};

/// One in which nodes come in groups, and the NICs of a group are on leaves by rail.
struct RailFabric : ClosFabric {
  std::optional<std::uint32_t> nodes_per_group;

  void visit(Fields& fields) override {
    ClosFabric::visit(fields);
    read_nodes_per_group(fields, nodes_per_group);
  }
};

/// Throws ScenarioError("does-not-fit") unless all nodes have as many NICs as there are rails.
void check_rails(const Population& population);

/// One switch where it takes all and nothing else is said; else as clos_shape.
ClosShape plane_shape(std::uint32_t attachments, std::uint32_t rails, const ClosSpec& spec);

/// The routings of every fat tree.
std::vector<Routing> upward_routings();

}  // namespace athanor
