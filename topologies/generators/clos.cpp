#include "topologies/generators/clos.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

Clos::Clos(std::string name, const Population& population, const ClosShape& shape, const ClosSpec& cables,
           ClosPlane plane)
    : name_(std::move(name)),
      population_(population),
      shape_(shape),
      host_cable_(cables.host_cable),
      up_cable_(cables.up_cable),
      core_cable_(cables.core_cable),
      plane_(plane) {
  const std::uint32_t attachments = one_rail() ? population.members : population.attachments();
  require(shape.attachments == attachments, "a network for {} attachments under {}", shape.attachments, attachments);
  require(shape.rails == 0 || shape.rails == attachments_each(), "{} rails for nodes with {} NICs", shape.rails,
          attachments_each());
}

std::string Clos::title() const {
  std::string title = name_;
  if (shape_.tiers > 1) { title += fmt::format(" of {} tiers", shape_.tiers); }
  if (shape_.pods > 1) { title += fmt::format(" and {} pods", shape_.pods); }
  return title;
}

std::uint64_t Clos::vertices() const {
  return std::uint64_t{shape_.leaves} + std::uint64_t{shape_.pods} * shape_.spines + shape_.all_cores();
}

std::uint64_t Clos::links() const {
  return 2 * (std::uint64_t{shape_.attachments} + std::uint64_t{shape_.leaves} * shape_.leaf_uplinks +
              std::uint64_t{shape_.pods} * shape_.spines * shape_.spine_uplinks);
}

void Clos::add_vertices(FabricBuilder& builder) {
  const auto add = [&](VertexKind kind, std::uint32_t count) {
    VertexId first;
    for (std::uint32_t i = 0; i < count; ++i) {
      const VertexId added = builder.add({kind, kNoNode, plane_.number * count + i});
      if (i == 0) { first = added; }
    }
    return first.value;
  };
  first_leaf_ = add(VertexKind::leaf, shape_.leaves);
  first_spine_ = add(VertexKind::spine, shape_.all_spines());
  first_core_ = add(VertexKind::core, shape_.all_cores());
}

void Clos::add_links(FabricBuilder& builder) const {
  for (std::uint32_t pod = 0; pod < shape_.pods; ++pod) {
    for (std::uint32_t s = 0; s < shape_.spines; ++s) {
      for (std::uint32_t q = 0; q < shape_.spine_uplinks; ++q) {
        builder.connect(spine(pod, s), core(s, q % shape_.cores_per_group), from_switch(core_cable_));
      }
    }
  }
  for (std::uint32_t l = 0; l < shape_.leaves; ++l) {
    for (std::uint32_t p = 0; p < shape_.leaf_uplinks; ++p) {
      builder.connect(leaf(l), spine(l / shape_.leaves_per_pod, p % shape_.spines), from_switch(up_cable_));
    }
  }
  // Attachments of one leaf come in ascending order, with rails too: nodes of a group are in ascending order.
  for (std::uint32_t a = 0; a < shape_.attachments; ++a) {
    const CableSpec cable = host_cable(host_cable_, population_, attachment(a));
    builder.connect(population_.attachment(attachment(a)), leaf(shape_.slot(a) / shape_.hosts_per_leaf),
                    from_device(cable, population_.forwarding(attachment(a))), from_switch(cable));
  }
}

Clos::Ports Clos::table_ports(std::uint32_t number, std::uint32_t detour) const {
  const std::uint32_t leaf_detour = detour % shape_.leaf_uplinks;
  const std::uint32_t spine_detour = detour / shape_.leaf_uplinks;
  // The destinations of a port that is lost are dealt out to all others.
  const auto up = [](std::uint32_t destination, std::uint32_t ports, std::uint32_t other) {
    const std::uint32_t usual = destination % ports;
    return other == 0 ? usual : (usual + 1 + (destination / ports + other - 1) % (ports - 1)) % ports;
  };
  const std::uint32_t leaf_up = up(number, shape_.leaf_uplinks, leaf_detour);
  const std::uint32_t spine_up =
      shape_.spine_uplinks == 0 ? 0 : up(number / shape_.leaf_uplinks, shape_.spine_uplinks, spine_detour);
  return {leaf_up, spine_up, shape_.cores_per_group == 0 ? 0 : spine_up / shape_.cores_per_group,
          leaf_up / shape_.spines};
}

Clos::Ports Clos::ports(const RoutingChoice& choice, std::uint32_t from, std::uint32_t to, std::uint64_t flow) const {
  require(choice.routing == Routing::d_mod_k || choice.routing == Routing::ecmp, "a fat tree routed by {}",
          name(choice.routing));
  if (choice.routing == Routing::d_mod_k) { return table_ports(shape_.slot(to), choice.path); }
  std::uint64_t hash = join_hash(join_hash(join_hash(choice.seed, from), to), flow);
  const auto next = [&hash](std::uint32_t count) {
    hash = join_hash(hash, 1);
    return static_cast<std::uint32_t>(scale_hash(hash, std::max(count, 1U)));
  };
  Ports ports;
  ports.leaf_up = next(shape_.leaf_uplinks);
  ports.spine_up = next(shape_.spine_uplinks);
  ports.core_down = next(shape_.cables_to_core());
  ports.spine_down = next(shape_.cables_to_spine());
  return ports;
}

void Clos::route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
                 std::uint64_t flow, std::vector<LinkId>& path) const {
  const auto take = [&](VertexId v, std::uint32_t port) { path.push_back(LinkId{fabric.out(v).first + port}); };
  const std::uint32_t source = shape_.slot(from) / shape_.hosts_per_leaf;
  const std::uint32_t target = shape_.slot(to) / shape_.hosts_per_leaf;
  const std::uint32_t port = plane_.serves == ClosPlane::Serves::one_port ? plane_.number : 0;
  take(population_.attachment(attachment(from)), population_.network_port(attachment(from)) + port);
  if (source != target) {
    const Ports chosen = ports(choice, from, to, flow);
    const std::uint32_t source_pod = source / shape_.leaves_per_pod;
    const std::uint32_t target_pod = target / shape_.leaves_per_pod;
    const std::uint32_t s = chosen.leaf_up % shape_.spines;
    take(leaf(source), chosen.leaf_up);
    if (source_pod != target_pod) {
      take(spine(source_pod, s), chosen.spine_up);
      take(core(s, chosen.spine_up % shape_.cores_per_group), target_pod * shape_.cables_to_core() + chosen.core_down);
    }
    take(spine(target_pod, s),
         shape_.spine_uplinks + target % shape_.leaves_per_pod * shape_.cables_to_spine() + chosen.spine_down);
  }
  take(leaf(target), shape_.leaf_uplinks + shape_.slot(to) % shape_.hosts_per_leaf);
}

VertexRange Clos::members_below(std::uint32_t first, std::uint32_t count) const {
  // By rail, leaves of one group hold the same members; else attachments fill leaf after leaf.
  const std::uint32_t begin_slot = (shape_.rails == 0 ? first : first / shape_.rails) * shape_.hosts_per_leaf;
  const std::uint64_t leaves = std::uint64_t{first} + count;
  const std::uint64_t slots = (shape_.rails == 0 ? leaves : leaves / shape_.rails) * shape_.hosts_per_leaf;
  const auto end_slot = static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, shape_.attachments));
  const bool all = first + count == shape_.leaves;
  if (shape_.rails > 0 || one_rail()) {
    return population_.range(std::min(begin_slot, population_.members),
                             all ? population_.members : std::min(end_slot, population_.members));
  }
  return population_.range(population_.members_begun(begin_slot),
                           all ? population_.members : population_.members_within(end_slot));
}

CutSet Clos::below(std::string name, std::uint32_t first_leaf, std::uint32_t leaves, VertexRange spines) const {
  return {std::move(name), {members_below(first_leaf, leaves), {leaf(first_leaf).value, leaves}, spines}, false};
}

void Clos::add_pods(std::vector<CutSet>& found) const {
  const std::uint32_t last = shape_.pods - 1;
  found.push_back(below("pod 0", 0, shape_.leaves_in(0), {spine(0, 0).value, shape_.spines}));
  if (shape_.leaves_in(last) == shape_.leaves_in(0)) { return; }
  found.push_back(below(fmt::format("pod {}", last), last * shape_.leaves_per_pod, shape_.leaves_in(last),
                        {spine(last, 0).value, shape_.spines}));
}

void Clos::add_halves(std::vector<CutSet>& found) const {
  CutSet half;
  const std::uint32_t step = std::max(shape_.rails, 1U);
  const std::uint32_t groups = shape_.leaves / step;
  if (shape_.pods > 1) {
    const std::uint32_t pods = shape_.pods / 2;
    half = below("half of the pods", 0, pods * shape_.leaves_per_pod, {spine(0, 0).value, pods * shape_.spines});
  } else if (groups > 1) {
    half = below(shape_.rails > 0 ? "half of the groups" : "half of the leaves", 0, groups / 2 * step, {});
  } else if (population_.members > 1) {
    half.name = population_.node ? "half of the nodes" : "half of the hosts";
    half.inside = {population_.range(0, population_.members / 2)};
  } else {
    return;
  }
  half.half = true;
  found.push_back(std::move(half));
}

std::vector<CutSet> Clos::cut_sets() const {
  std::vector<CutSet> found;
  const std::uint32_t step = std::max(shape_.rails, 1U);
  if (shape_.leaves > step) {
    const std::string_view what = shape_.rails > 0 ? "group" : "leaf";
    const std::uint32_t last = shape_.leaves / step - 1;
    found.push_back(below(fmt::format("{} 0", what), 0, step, {}));
    if (shape_.hosts_on(last * step) != shape_.hosts_on(0)) {
      found.push_back(below(fmt::format("{} {}", what, last), last * step, step, {}));
    }
  }
  if (shape_.pods > 1) { add_pods(found); }
  add_halves(found);
  return found;
}

std::vector<TierSummary> Clos::tiers() const {
  const auto ratio = [](std::uint32_t down, const CableSpec& below, std::uint32_t up, const CableSpec& above) {
    return up == 0 ? Ratio{0, 1} : Ratio{down * below.rate.count(), up * above.rate.count()};
  };
  std::vector<TierSummary> found = {
      {"leaf", shape_.leaves, ratio(shape_.hosts_per_leaf, host_cable_, shape_.leaf_uplinks, up_cable_)}};
  if (shape_.spines > 0) {
    const std::uint32_t down = shape_.leaves_per_pod * shape_.cables_to_spine();
    found.push_back({"spine", shape_.all_spines(), ratio(down, up_cable_, shape_.spine_uplinks, core_cable_)});
  }
  if (shape_.cores_per_group > 0) { found.push_back({"core", shape_.all_cores(), Ratio{0, 1}}); }
  return found;
}

std::string Clos::partly_filled_leaves() const {
  const std::uint32_t last = shape_.hosts_on(shape_.leaves - 1);
  std::uint32_t partly = 0;
  for (std::uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
    partly += shape_.hosts_on(leaf) < shape_.hosts_per_leaf ? 1 : 0;
  }
  if (partly == 0) { return ""; }
  const std::string use = fmt::format("{} of {} links down in use", last, shape_.hosts_per_leaf);
  if (partly == 1) { return "the last leaf has " + use; }
  if (partly < shape_.leaves) { return fmt::format("{} of {} leaves have {}", partly, shape_.leaves, use); }
  const char* key = shape_.rails > 0 ? "nodes_per_group" : "hosts_per_leaf";
  return fmt::format("each of {} leaves has {}; \"{}\": {} may need fewer switches and cables", partly, use, key, last);
}

std::vector<std::string> Clos::warnings() const {
  std::vector<std::string> found;
  if (const std::string leaves = partly_filled_leaves(); !leaves.empty()) { found.push_back(leaves); }
  if (shape_.leaves_in(shape_.pods - 1) < shape_.leaves_per_pod) {
    found.push_back(
        fmt::format("the last pod has {} of {} leaves", shape_.leaves_in(shape_.pods - 1), shape_.leaves_per_pod));
  }
  const std::uint32_t each = attachments_each();
  const bool fits = population_.mixed() || shape_.hosts_per_leaf % each == 0 || each % shape_.hosts_per_leaf == 0;
  if (shape_.rails == 0 && shape_.leaves > 1 && !fits) {
    found.push_back(
        fmt::format("{} links down of a leaf do not divide into nodes of {} NICs: some nodes straddle leaves",
                    shape_.hosts_per_leaf, each));
  }
  return found;
}

}  // namespace athanor
