#pragma once

#include <cstdint>
#include <optional>

#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/generators/direct/global_cables.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

/// The keys that dragonflies have, whatever their groups are made of.
struct GroupSettings {
  Switching switching;
  std::optional<NetworkLink> global_link;  ///< absent: as other links
  std::optional<std::uint32_t> groups;     ///< absent: as few as take all, or as many as can be joined
  Arrangement arrangement = Arrangement::palm_tree;

  /// Groups that take the population, `each` attachments in one.
  std::uint32_t count(const FabricSite& site, Wide each) const;
  /// Attachments of all groups: so many switches with hosts in each, and cables of one group to others.
  Wide capacity(std::uint32_t switches, std::uint32_t hosts_per_switch, Wide global_cables) const;
  DirectSpec spec(const FabricSite& site, std::uint32_t hosts_per_switch) const;
};
void visit(Fields& fields, GroupSettings& groups);

}  // namespace athanor
