#pragma once

#include <cstdint>
#include <optional>

#include "topologies/generators/direct/direct_generators.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

/// The cables that the rest of a scenario gives a direct network.
struct DirectCables {
  std::optional<std::uint32_t> radix;  ///< of its switches
  CableSpec local;
  CableSpec global;
  CableSpec host;  ///< host or NIC to switch
  CableSpec nic;   ///< NIC to the router of its own position
};

/// Whether every node or host is a router of its own, as on a torus.
bool members_are_routers(const DirectText& text);

/// Nodes of so many NICs (hosts: 1) that the text's figures alone make room for; 0: they do not say.
Wide implied_members(const DirectText& text, std::uint32_t nics);

/// What a text leaves open follows from the population: as few groups or hosts per switch as take it.
GeneratedNetwork make_direct(const DirectText& text, const Population& population, const DirectCables& cables);

}  // namespace athanor
