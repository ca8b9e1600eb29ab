#include "topologies/generators/clos_shape.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

std::uint32_t divided_up(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint32_t>((a + b - 1) / b); }

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw ScenarioError(Problem{"does-not-fit", message, {}, hint});
}

/// Up-links whose bandwidth is that of `down` links divided by the oversubscription, rounded up.
std::uint32_t uplinks(std::uint32_t down, const CableSpec& below, const CableSpec& above, Ratio oversubscription) {
  const Wide bandwidth = Wide{down} * below.rate.count() * oversubscription.denominator;
  const Wide each = Wide{above.rate.count()} * oversubscription.numerator;
  return static_cast<std::uint32_t>(std::max<Wide>(1, (bandwidth + each - 1) / each));
}

/// Finds the counts of one network, one method per tier.
class Fitting {
 public:
  Fitting(std::uint32_t attachments, std::uint32_t rails, const ClosSpec& spec) : spec_(spec) {
    shape_.attachments = attachments;
    shape_.rails = rails;
  }

  ClosShape find() {
    fit_leaves();
    const bool pods = spec_.pods || spec_.leaves_per_pod || spec_.cores;
    if (pods && spec_.tiers == 2U) {
      refuse("a fat tree of two tiers has neither pods nor cores", "leave them out, or use three tiers");
    }
    const bool one_leaf = shape_.leaves == 1 && !spec_.tiers && !spec_.spines && !pods;
    if (one_leaf) { return single_leaf(); }
    shape_.spines = spec_.spines ? checked_spines() : 0;
    if (spec_.tiers != 3U && !pods && fit_two_tiers()) { return shape_; }
    if (spec_.tiers == 2U) { refuse_two_tiers(); }
    fit_three_tiers();
    return shape_;
  }

 private:
  std::uint32_t leaf_uplinks(std::uint32_t hosts) const {
    if (spec_.spines && !spec_.leaf_oversubscription) { return *spec_.spines; }
    return uplinks(hosts, spec_.host_cable, spec_.up_cable, spec_.leaf_oversubscription.value_or(Ratio{1, 1}));
  }

  std::uint32_t hosts_by_radix() const {
    if (!spec_.radix) {
      refuse("this fabric needs to know how large its switches are",
             fmt::format("give \"radix\", a \"switch\" preset, \"{}\" or \"leaves\"",
                         shape_.rails > 0 ? "nodes_per_group" : "hosts_per_leaf"));
    }
    std::uint32_t hosts = *spec_.radix;
    while (hosts > 0 && std::uint64_t{hosts} + leaf_uplinks(hosts) > *spec_.radix) { --hosts; }
    if (hosts == 0) {
      refuse(fmt::format("a leaf of radix {} has no port for a host beside its up-links", *spec_.radix),
             "use a larger radix or fewer spines");
    }
    return hosts;
  }

  void fit_leaves() {
    const std::uint32_t rails = std::max(shape_.rails, 1U);
    const std::uint32_t members = divided_up(shape_.attachments, rails);
    const std::optional<std::uint32_t> groups =
        spec_.leaves ? std::optional(divided_up(*spec_.leaves, rails)) : std::nullopt;
    const bool divided = !spec_.hosts_per_leaf && groups.has_value();
    shape_.hosts_per_leaf = spec_.hosts_per_leaf ? *spec_.hosts_per_leaf
                            : divided            ? divided_up(members, *groups)
                                                 : hosts_by_radix();
    const std::uint32_t needed = divided_up(members, shape_.hosts_per_leaf) * rails;
    shape_.leaves = spec_.leaves.value_or(needed);
    if (needed > shape_.leaves || (divided && needed < shape_.leaves)) { refuse_leaves(needed); }
    shape_.leaf_uplinks = leaf_uplinks(shape_.hosts_per_leaf);
  }

  ClosShape single_leaf() {
    if (spec_.radix && shape_.attachments > *spec_.radix) { refuse_ports("a leaf", shape_.attachments); }
    shape_.leaf_uplinks = 0;
    shape_.leaves_per_pod = 1;
    return shape_;
  }

  std::uint32_t checked_spines() {
    const std::uint32_t spines = *spec_.spines;
    if (spines == 0 || shape_.leaf_uplinks % spines != 0) {
      refuse(fmt::format("{} up-links of a leaf cannot be spread evenly over {} spines", shape_.leaf_uplinks, spines),
             fmt::format("use {} or {} spines", divisor_below(shape_.leaf_uplinks, spines),
                         divisor_above(shape_.leaf_uplinks, spines)));
    }
    return spines;
  }

  void check_leaf_ports() const {
    const std::uint64_t ports = std::uint64_t{shape_.hosts_per_leaf} + shape_.leaf_uplinks;
    if (spec_.radix && ports > *spec_.radix) { refuse_ports("a leaf", ports); }
  }

  bool fit_two_tiers() {
    check_leaf_ports();
    const std::uint32_t spines = shape_.spines > 0 ? shape_.spines : switches_above(shape_.leaf_uplinks, shape_.leaves);
    if (spines == 0 || !fits(std::uint64_t{shape_.leaves} * (shape_.leaf_uplinks / spines))) { return false; }
    shape_.spines = spines;
    shape_.leaves_per_pod = shape_.leaves;
    shape_.tiers = 2;
    return true;
  }

  void fit_three_tiers() {
    check_leaf_ports();
    if (shape_.spines == 0) { shape_.spines = shape_.leaf_uplinks; }
    fit_pods();
    const std::uint32_t cables = shape_.cables_to_spine();
    shape_.spine_uplinks = spine_uplinks(shape_.leaves_per_pod * cables);
    const std::uint64_t ports = std::uint64_t{shape_.leaves_per_pod} * cables + shape_.spine_uplinks;
    if (!fits(ports)) { refuse_ports("a spine", ports); }
    shape_.pods = divided_up(shape_.leaves, shape_.leaves_per_pod);
    if (spec_.pods && shape_.pods != *spec_.pods) { refuse_pods(); }
    shape_.tiers = 3;
    fit_cores();
  }

  void fit_pods() {
    if (spec_.leaves_per_pod) {
      shape_.leaves_per_pod = *spec_.leaves_per_pod;
      return;
    }
    if (spec_.pods) {
      const std::uint32_t whole = std::max(shape_.rails, 1U);
      shape_.leaves_per_pod = divided_up(divided_up(shape_.leaves, *spec_.pods), whole) * whole;
      return;
    }
    if (!spec_.radix) {
      refuse("a third tier needs to know the size of a pod", "give \"radix\", \"pods\" or \"leaves_per_pod\"");
    }
    const std::uint32_t cables = shape_.cables_to_spine();
    std::uint32_t leaves = *spec_.radix / cables;
    while (leaves > 0 && !fits(std::uint64_t{leaves} * cables + spine_uplinks(leaves * cables))) { --leaves; }
    // Whole groups of rails stay in one pod.
    if (shape_.rails > 0) { leaves -= leaves % shape_.rails; }
    if (leaves == 0) { refuse_ports("a spine", std::uint64_t{cables} * std::max(shape_.rails, 1U) * 2); }
    shape_.leaves_per_pod = std::min(leaves, shape_.leaves);
  }

  void fit_cores() {
    if (spec_.cores) {
      if (*spec_.cores % shape_.spines != 0 || shape_.spine_uplinks % (*spec_.cores / shape_.spines) != 0) {
        refuse(fmt::format("{} up-links of each of {} spines in a pod cannot be spread evenly over {} cores",
                           shape_.spine_uplinks, shape_.spines, *spec_.cores),
               fmt::format("use {} cores", shape_.spines * shape_.spine_uplinks));
      }
      shape_.cores_per_group = *spec_.cores / shape_.spines;
    } else {
      shape_.cores_per_group = switches_above(shape_.spine_uplinks, shape_.pods);
    }
    const bool too_many = shape_.cores_per_group == 0 || !fits(std::uint64_t{shape_.pods} * shape_.cables_to_core());
    if (too_many) { refuse_size(3, std::uint64_t{*spec_.radix} * shape_.leaves_per_pod * shape_.hosts_per_leaf); }
  }

  std::uint32_t spine_uplinks(std::uint32_t down) const {
    return uplinks(down, spec_.up_cable, spec_.core_cable, spec_.spine_oversubscription.value_or(Ratio{1, 1}));
  }

  bool fits(std::uint64_t ports) const { return !spec_.radix || ports <= *spec_.radix; }

  /// The fewest switches that take `uplinks` of each of `below`, equally many of one at each; 0: none do.
  std::uint32_t switches_above(std::uint32_t uplinks, std::uint32_t below) const {
    if (!spec_.radix) { return uplinks; }
    for (std::uint32_t switches = 1; switches <= uplinks; ++switches) {
      if (uplinks % switches == 0 && fits(std::uint64_t{below} * (uplinks / switches))) { return switches; }
    }
    return 0;
  }

  static std::uint32_t divisor_below(std::uint32_t n, std::uint32_t wanted) {
    std::uint32_t divisor = std::clamp(wanted, 1U, n);
    while (n % divisor != 0) { --divisor; }
    return divisor;
  }
  static std::uint32_t divisor_above(std::uint32_t n, std::uint32_t wanted) {
    std::uint32_t divisor = std::clamp(wanted, 1U, n);
    while (n % divisor != 0) { ++divisor; }
    return divisor;
  }

  std::string what() const { return shape_.rails > 0 ? "NICs" : "hosts or NICs"; }

  [[noreturn]] void refuse_leaves(std::uint32_t needed) const {
    const std::uint64_t rails = std::max(shape_.rails, 1U);
    refuse(fmt::format("{} {} at {} per leaf fill {} leaves, not {}", shape_.attachments, what(), shape_.hosts_per_leaf,
                       needed, shape_.leaves),
           fmt::format("use {} leaves, or {} {}", needed,
                       std::uint64_t{shape_.leaves} / rails * rails * shape_.hosts_per_leaf, what()));
  }

  [[noreturn]] void refuse_ports(std::string_view device, std::uint64_t ports) const {
    refuse(fmt::format("{} needs {} ports, but the switches have {}", device, ports, spec_.radix.value_or(0)),
           fmt::format("use a radix of {} or more, fewer ports down, or more oversubscription", ports));
  }

  [[noreturn]] void refuse_pods() const {
    refuse(fmt::format("{} leaves at {} in a pod fill {} pods, not {}", shape_.leaves, shape_.leaves_per_pod,
                       shape_.pods, *spec_.pods),
           fmt::format("use {} pods, or other leaves per pod", shape_.pods));
  }

  [[noreturn]] void refuse_two_tiers() const {
    // With a cable from every leaf to each of its spines, a spine takes as many leaves as it has ports.
    const std::uint64_t cables = spec_.spines ? shape_.cables_to_spine() : 1;
    refuse_size(2, *spec_.radix / cables * shape_.hosts_per_leaf);
  }

  [[noreturn]] void refuse_size(std::uint32_t tiers, std::uint64_t most) const {
    refuse(
        fmt::format("{} {} do not fit: a fat tree of {} tiers of radix-{} switches with {} on a leaf takes at most {}",
                    shape_.attachments, what(), tiers, *spec_.radix, shape_.hosts_per_leaf, most),
        fmt::format("use at most {}{}, or a larger radix", most, tiers == 2 ? ", three tiers" : ""));
  }

  const ClosSpec& spec_;
  ClosShape shape_;
};

}  // namespace

std::uint32_t ClosShape::hosts_on(std::uint32_t leaf) const {
  const std::uint32_t members = rails == 0 ? attachments : attachments / rails;
  const std::uint64_t before = std::uint64_t{rails == 0 ? leaf : leaf / rails} * hosts_per_leaf;
  return before >= members ? 0 : std::min(hosts_per_leaf, static_cast<std::uint32_t>(members - before));
}

std::uint32_t ClosShape::leaves_in(std::uint32_t pod) const {
  return std::min(leaves_per_pod, leaves - pod * leaves_per_pod);
}

ClosShape star_shape(std::uint32_t attachments, std::optional<std::uint32_t> radix) {
  if (radix && attachments > *radix) {
    refuse(fmt::format("{} hosts or NICs do not fit one switch of radix {}", attachments, *radix),
           fmt::format("use at most {}, or a fat_tree", *radix));
  }
  ClosShape shape;
  shape.attachments = attachments;
  shape.hosts_per_leaf = std::max(attachments, 1U);
  shape.leaves = 1;
  shape.leaves_per_pod = 1;
  return shape;
}

ClosShape clos_shape(std::uint32_t attachments, std::uint32_t rails, const ClosSpec& spec) {
  return Fitting(attachments, rails, spec).find();
}

}  // namespace athanor
