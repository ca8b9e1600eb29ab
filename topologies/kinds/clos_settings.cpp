#include "topologies/kinds/clos_settings.hpp"

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

void read_oversubscription(FieldValue& fields, std::vector<Ratio>& ratios) {
  using Type = FieldValue::Form::Type;
  const Range<Ratio> range{{1, 1000}, {1000, 1}};
  const auto one = [&](FieldValue& value) {
    Ratio ratio{1, 1};
    value.visit(ratio, range);
    ratios = {ratio};
  };
  const auto several = [&](FieldValue& value) { value.visit(ratios, range); };
  fields.one_of({{Type::number, one}, {Type::list, several}});
  if (ratios.size() > 2) { fields.problem("out-of-range", "only leaves and spines can be oversubscribed", "give two"); }
}

}  // namespace

void visit(Fields& fields, ClosSettings& clos) {
  visit(fields, clos.switching);
  fields.optional_object("uplink", clos.uplink, "Leaf to spine; default: as the others");
  fields.optional_object("core_link", clos.core_link, "Spine to core; default: as the others");
  fields.optional("tiers", clos.tiers, "2 or 3; default: as few as fit", {2, 3});
  read_radix(fields, clos.switching);
  fields.optional("leaves", clos.leaves, "Leaf switches", kPositionRange);
  fields.optional("spines", clos.spines, "Spine switches; of one pod with three tiers", kPortRange);
  fields.optional("pods", clos.pods, "With three tiers", kPositionRange);
  fields.optional("leaves_per_pod", clos.leaves_per_pod, "With three tiers", kPortRange);
  fields.optional("cores", clos.cores, "Core switches, with three tiers", kPositionRange);
  fields.optional_value("oversubscription", "Bandwidth down / up of leaves, or of [leaves, spines]",
                        [&](FieldValue& value) { read_oversubscription(value, clos.oversubscription); });
}

void read_hosts_per_leaf(Fields& fields, std::optional<std::uint32_t>& hosts, std::string_view more) {
  fields.optional("hosts_per_leaf", hosts, fmt::format("Hosts or NICs on one leaf{}", more), kPortRange);
}

void read_nodes_per_group(Fields& fields, std::optional<std::uint32_t>& nodes, std::string_view more) {
  fields.optional("nodes_per_group", nodes, fmt::format("Nodes whose NICs r share a leaf{}", more), kPortRange);
}

ClosSpec ClosSettings::spec(const FabricSite& site, std::optional<std::uint32_t> hosts_per_leaf) const {
  ClosSpec spec;
  spec.tiers = tiers;
  spec.radix = site.radix;
  spec.hosts_per_leaf = hosts_per_leaf;
  spec.leaves = leaves;
  spec.spines = spines;
  spec.pods = pods;
  spec.leaves_per_pod = leaves_per_pod;
  spec.cores = cores;
  if (!oversubscription.empty()) { spec.leaf_oversubscription = oversubscription[0]; }
  if (oversubscription.size() > 1) { spec.spine_oversubscription = oversubscription[1]; }
  spec.host_cable = site.host_cable;
  spec.up_cable = cable_or(uplink, site.cable);
  spec.core_cable = cable_or(core_link, spec.up_cable);
  return spec;
}

void check_rails(const Population& population) {
  for (const NodeKind& kind : population.kinds) {
    if (kind.node->nics() == population.attachments_each()) { continue; }
    throw ScenarioError(Problem{"does-not-fit",
                                fmt::format("a fabric by rail needs nodes with equally many NICs, and {} has {}, {} {}",
                                            population.node->spec().name, population.attachments_each(),
                                            kind.node->spec().name, kind.node->nics()),
                                {},
                                "use a fat_tree, or nodes with equally many"});
  }
}

ClosShape plane_shape(std::uint32_t attachments, std::uint32_t rails, const ClosSpec& spec) {
  const bool unsaid = !spec.tiers && !spec.hosts_per_leaf && !spec.leaves && !spec.spines;
  if (unsaid && rails == 0 && attachments <= spec.radix.value_or(attachments)) {
    return star_shape(attachments, spec.radix);
  }
  return clos_shape(attachments, rails, spec);
}

std::vector<Routing> upward_routings() { return {Routing::d_mod_k, Routing::ecmp}; }

}  // namespace athanor
