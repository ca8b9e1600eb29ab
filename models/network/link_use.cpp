#include "models/network/link_use.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/core.h>

namespace athanor {

namespace {

/// What tells classes apart, cheaper than their names.
using ClassKey = std::tuple<LinkKind, VertexKind, VertexKind, std::uint8_t>;

ClassKey key_of(const Fabric& fabric, LinkId link) {
  return {fabric.link(link).kind, fabric.vertex(fabric.source(link)).kind, fabric.vertex(fabric.target(link)).kind,
          fabric.link(link).network};
}

/// ", storage" of one of several networks, whose name stands before those of its devices; else nothing.
std::string network_suffix(const Fabric& fabric, LinkId link) {
  if (fabric.link(link).network == 0) { return ""; }
  for (const VertexId end : {fabric.source(link), fabric.target(link)}) {
    if (fabric.vertex(end).network == 0 || fabric.vertex(end).node != kNoNode) { continue; }
    const std::string name = fabric.name(end);
    return fmt::format(", {}", std::string_view(name).substr(0, name.find('/')));
  }
  return fmt::format(", network {}", fabric.link(link).network);
}

}  // namespace

double utilisation(Bytes carried, Bandwidth usable, Time time) {
  if (time == Time::zero()) { return 0; }
  return std::min(1.0, static_cast<double>(carried.count()) / (static_cast<double>(usable.count()) * seconds(time)));
}

Time busy_time(const Fabric& fabric, const LinkLoad& load) {
  return transfer_time(load.carried, fabric.link(load.link).usable);
}

std::string link_class(const Fabric& fabric, LinkId link) {
  return fmt::format("{} {}->{}", name(fabric.link(link).kind), name(fabric.vertex(fabric.source(link)).kind),
                     name(fabric.vertex(fabric.target(link)).kind));
}

std::vector<LinkClassUse> link_use(const Fabric& fabric, const std::vector<LinkLoad>& loads, Time time) {
  std::map<ClassKey, LinkClassUse> classes;
  for (LinkId link{0}; link.value < fabric.links(); ++link.value) {
    if (fabric.link(link).down) { continue; }
    LinkClassUse& use = classes[key_of(fabric, link)];
    if (use.links++ == 0) { use.name = link_class(fabric, link) + network_suffix(fabric, link); }
  }
  for (const LinkLoad& load : loads) {
    if (load.carried == Bytes::zero()) { continue; }
    LinkClassUse& use = classes[key_of(fabric, load.link)];
    const double busy = utilisation(load.carried, fabric.link(load.link).usable, time);
    use.used += load.members;
    use.mean += busy * load.members / use.links;
    use.most = std::max(use.most, busy);
    use.carried += load.carried * load.members;
  }
  std::vector<LinkClassUse> found;
  for (const auto& [key, use] : classes) { found.push_back(use); }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.most > b.most; });
  return found;
}

}  // namespace athanor
