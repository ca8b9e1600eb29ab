#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "topologies/generators/direct/direct_network.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

/// To which group the global cables of a group lead, one after the other (Hastings et al., "Comparing global link
/// arrangements for dragonfly networks", CLUSTER 2015).
enum class Arrangement : std::uint8_t {
  consecutive,  ///< slot t to the t-th of the other groups
  palm_tree     ///< slot t of group i to group i - t - 1: every group sees the others alike
};

/// The cables that join every two of several groups. A group has slots for cables; slot n (groups - 1) + t holds the
/// n-th cable to the t-th other group of the arrangement. Every two groups are joined by equally many cables, as many
/// as fit; slots that are left over stay empty.
class GlobalCables {
 public:
  /// Requires what check_groups accepts.
  GlobalCables(std::uint32_t groups, std::uint32_t slots, Arrangement arrangement)
      : groups_(groups), per_pair_(groups == 1 ? 0 : slots / (groups - 1)), arrangement_(arrangement) {}

  std::uint32_t groups() const { return groups_; }
  std::uint32_t per_pair() const { return per_pair_; }
  /// The slots in use are [0, used()).
  std::uint32_t used() const { return per_pair_ * (groups_ - 1); }

  std::uint32_t slot(std::uint32_t group, std::uint32_t other, std::uint32_t cable) const {
    return cable * (groups_ - 1) + place(group, other);
  }
  /// Requires slot < used().
  std::uint32_t target(std::uint32_t group, std::uint32_t slot) const {
    const std::uint32_t t = slot % (groups_ - 1);
    if (arrangement_ == Arrangement::consecutive) { return t + (t >= group ? 1 : 0); }
    return (group + groups_ - t - 1) % groups_;
  }
  /// Of `count` slots from `first` on, how many are in use.
  std::uint32_t used_of(std::uint32_t first, std::uint32_t count) const {
    return std::min(used() - std::min(used(), first), count);
  }
  /// Drawn of the groups that are neither of two. Requires that there is one.
  std::uint32_t third(FlowDraws& draws, std::uint32_t a, std::uint32_t b) const {
    const auto [low, high] = std::minmax(a, b);
    std::uint32_t drawn = draws.below(groups_ - 2);
    drawn += drawn >= low ? 1 : 0;
    return drawn + (drawn >= high ? 1 : 0);
  }
  /// The slot of the other group at which the cable ends.
  std::uint32_t far_slot(std::uint32_t group, std::uint32_t slot) const {
    return this->slot(target(group, slot), group, slot / (groups_ - 1));
  }

 private:
  std::uint32_t place(std::uint32_t group, std::uint32_t other) const {
    if (arrangement_ == Arrangement::consecutive) { return other - (other > group ? 1 : 0); }
    return (group + groups_ - other - 1) % groups_;
  }

  std::uint32_t groups_;
  std::uint32_t per_pair_;
  Arrangement arrangement_;
};

/// Throws ScenarioError("does-not-fit") where a group of so many switches with `each` ports for global cables does not
/// reach all others, or has more of these ports than can be counted. `name`: of such a switch.
void check_groups(std::uint32_t groups, std::uint32_t switches, std::string_view name, std::uint32_t each);

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
