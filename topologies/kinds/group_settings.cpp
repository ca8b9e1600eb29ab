#include "topologies/kinds/group_settings.hpp"

#include <algorithm>

#include "sim/config/fields.hpp"

namespace athanor {

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
