#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/ratio.hpp"
#include "topologies/network_topology.hpp"

namespace athanor {

/// What the user says about a fat tree; what is absent follows from the rest (see shape_of).
struct ClosSpec {
  std::optional<std::uint32_t> tiers;           ///< 2 or 3; absent: 3 where pods or cores are said, else as few as fit
  std::optional<std::uint32_t> radix;           ///< ports of every switch; absent: as many as needed
  std::optional<std::uint32_t> hosts_per_leaf;  ///< rail-optimized: nodes per group
  std::optional<std::uint32_t> leaves;          ///< all of them
  std::optional<std::uint32_t> spines;          ///< two tiers: all of them; three: of one pod
  std::optional<std::uint32_t> pods;            ///< three tiers
  std::optional<std::uint32_t> leaves_per_pod;  ///< three tiers
  std::optional<std::uint32_t> cores;           ///< three tiers: all of them
  std::optional<Ratio> leaf_oversubscription;   ///< bandwidth down / up of a leaf; default 1
  std::optional<Ratio> spine_oversubscription;  ///< of a spine; default 1
  CableSpec host_cable;
  CableSpec up_cable;    ///< leaf to spine
  CableSpec core_cable;  ///< spine to core
};

/// The counts of a Clos network of one, two or three tiers of switches. All leaves have the same ports, as have all
/// spines and all cores; the last leaf and the last pod may be partly empty.
struct ClosShape {
  std::uint32_t attachments = 0;
  std::uint32_t rails = 0;           ///< 0: attachments fill leaf after leaf; else NIC r of a group is on its leaf r
  std::uint32_t hosts_per_leaf = 0;  ///< attachments that a leaf takes
  std::uint32_t leaves = 0;
  std::uint32_t leaf_uplinks = 0;  ///< 0 with one tier
  std::uint32_t pods = 1;          ///< two tiers: one
  std::uint32_t leaves_per_pod = 0;
  std::uint32_t spines = 0;           ///< of one pod; divides leaf_uplinks
  std::uint32_t spine_uplinks = 0;    ///< 0 with two tiers
  std::uint32_t cores_per_group = 0;  ///< spine s of every pod is on the cores of group s; divides spine_uplinks
  std::uint32_t tiers = 1;

  std::uint32_t cables_to_spine() const { return spines == 0 ? 0 : leaf_uplinks / spines; }
  std::uint32_t cables_to_core() const { return cores_per_group == 0 ? 0 : spine_uplinks / cores_per_group; }
  std::uint32_t all_spines() const { return pods * spines; }
  std::uint32_t all_cores() const { return spines * cores_per_group; }

  /// Where an attachment is: slot = leaf * hosts_per_leaf + port among the leaf's hosts.
  std::uint32_t slot(std::uint32_t attachment) const {
    if (rails == 0) { return attachment; }
    const std::uint32_t member = attachment / rails;
    return (member / hosts_per_leaf * rails + attachment % rails) * hosts_per_leaf + member % hosts_per_leaf;
  }
  /// Attachments on one leaf.
  std::uint32_t hosts_on(std::uint32_t leaf) const;
  std::uint32_t leaves_in(std::uint32_t pod) const;
};

/// One switch that takes all. Throws ScenarioError when the radix is smaller.
ClosShape star_shape(std::uint32_t attachments, std::optional<std::uint32_t> radix);

/// The least network that takes all attachments within the specification:
///  - hosts per leaf: as said, else attachments / leaves, else as many as the radix allows beside the up-links;
///  - up-links: as the oversubscription asks for; with only `spines` said, one to each;
///  - spines and cores: as few as the radix allows, each with equally many cables to every switch below.
/// `rails` as in ClosShape. Throws ScenarioError("does-not-fit") with the reason and the nearest that fits.
ClosShape clos_shape(std::uint32_t attachments, std::uint32_t rails, const ClosSpec& spec);

}  // namespace athanor
