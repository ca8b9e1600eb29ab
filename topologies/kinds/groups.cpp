#include "topologies/kinds/groups.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/error.hpp"

namespace athanor {

void check_groups(std::uint32_t groups, std::uint32_t switches, std::string_view name, std::uint32_t each) {
  constexpr std::uint64_t kMostSlots = 1U << 30U;
  const std::uint64_t slots = std::uint64_t{switches} * each;
  const auto refuse = [](std::string reason, std::string hint) {
    throw ScenarioError(Problem{"does-not-fit", std::move(reason), {}, std::move(hint)});
  };
  if (slots > kMostSlots) {
    refuse(fmt::format("{} {}s with {} global cables each in a group", switches, name, each), "use fewer");
  }
  if (groups > slots + 1) {
    refuse(fmt::format("{} groups of {} {}s with {} global cables each: a group reaches only {} others", groups,
                       switches, name, each, slots),
           fmt::format("use at most {} groups, or at least {} global cables per {}", slots + 1,
                       (groups - 1 + switches - 1) / switches, name));
  }
}

void visit(Fields& fields, GroupSettings& groups) {
  visit(fields, groups.switching);
  read_radix(fields, groups.switching);
  fields.optional_object("global_link", groups.global_link, "Between groups; default: as the others");
  fields.optional("groups", groups.groups,
                  "Groups of switches; default: as few as take all nodes, or as many as can be joined", kPositionRange);
  fields.optional("arrangement", groups.arrangement, "To which groups the global cables of a group lead",
                  {{"palm_tree", Arrangement::palm_tree}, {"consecutive", Arrangement::consecutive}});
}

std::uint32_t GroupSettings::count(const FabricSite& site, Wide each) const {
  return groups ? *groups : divided_up(site.population.attachments(), each);
}

Wide GroupSettings::capacity(std::uint32_t switches, std::uint32_t hosts_per_switch, Wide global_cables) const {
  const Wide all = groups ? Wide{*groups} : global_cables + 1;
  return std::min(all * switches, kMostMembers) * hosts_per_switch;
}

DirectSpec GroupSettings::spec(const FabricSite& site, std::uint32_t hosts_per_switch) const {
  return {hosts_per_switch, site.radix, site.host_cable, site.cable, cable_or(global_link, site.cable)};
}

}  // namespace athanor
