#include "tests/topologies/clusters.hpp"

#include <fmt/format.h>

#include "sim/config/fields.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators/assemble.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

namespace {

void add(std::string& keys, const char* key, const std::optional<std::uint32_t>& value) {
  if (value) { keys += fmt::format(R"(, "{}": {})", key, *value); }
}

double decimal(Ratio ratio) { return static_cast<double>(ratio.numerator) / static_cast<double>(ratio.denominator); }

/// A cable between switches as a link that its kind has a key for.
std::string link(const CableSpec& cable) {
  const Time latency = cable.propagation + cable.forwarding;
  return fmt::format(R"({{"rate": "{}B/s", "latency": "{}ps"}})", cable.rate.count(), latency.count());
}

std::string keys_of(const std::string& kind, const ClosSpec& spec, const char* on_a_leaf) {
  std::string keys = fmt::format(R"("kind": "{}")", kind);
  add(keys, "tiers", spec.tiers);
  add(keys, "radix", spec.radix);
  add(keys, on_a_leaf, spec.hosts_per_leaf);
  add(keys, "leaves", spec.leaves);
  add(keys, "spines", spec.spines);
  add(keys, "pods", spec.pods);
  add(keys, "leaves_per_pod", spec.leaves_per_pod);
  add(keys, "cores", spec.cores);
  const Ratio leaf = spec.leaf_oversubscription.value_or(Ratio{1, 1});
  if (spec.spine_oversubscription) {
    keys += fmt::format(R"(, "oversubscription": [{}, {}])", decimal(leaf), decimal(*spec.spine_oversubscription));
  } else if (spec.leaf_oversubscription) {
    keys += fmt::format(R"(, "oversubscription": {})", decimal(leaf));
  }
  const bool has_cores = spec.core_cable.rate > Bandwidth::zero();
  if (has_cores && link(spec.core_cable) != link(spec.up_cable)) {
    keys += R"(, "core_link": )" + link(spec.core_cable);
  }
  return keys;
}

Cluster clos(const std::string& kind, const Population& population, const ClosSpec& spec, const char* on_a_leaf,
             const RoutingRequest& routing, const std::string& more = "") {
  return cluster_on(keys_of(kind, spec, on_a_leaf) + more, population, routing, spec.up_cable, spec.host_cable);
}

}  // namespace

Cluster cluster_on(const std::string& keys, const Population& population, const RoutingRequest& routing,
                   const CableSpec& between, const CableSpec& host) {
  const std::string given = R"({"link": {"rate": "1GB/s", "latency": "0ns"}, )" + keys + "}";
  const Document document = Document::parse(given, "keys of a fabric");
  FabricSettings fabric;
  Problems problems;
  read_document(document, problems, [&](Fields& fields) { visit(fields, fabric); });
  problems.throw_if_any();
  check_population(population);
  const FabricSite site{population, fabric.kind->switches().radix, between, host, host};
  return assemble(population, fabric.kind->build(site), routing);
}

Cluster star(const Population& population, const CableSpec& cable, std::optional<std::uint32_t> radix,
             const RoutingRequest& routing) {
  std::string keys = R"("kind": "star")";
  add(keys, "radix", radix);
  return cluster_on(keys, population, routing, cable, cable);
}

Cluster fat_tree(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  return clos("fat_tree", population, spec, "hosts_per_leaf", routing);
}

Cluster rail_optimized(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  return clos("rail_optimized", population, spec, "nodes_per_group", routing);
}

Cluster rail_only(const Population& population, const ClosSpec& spec, const RoutingRequest& routing) {
  return clos("rail_only", population, spec, "nodes_per_group", routing);
}

Cluster dual_plane(const Population& population, const ClosSpec& spec, std::uint32_t planes, bool by_rail,
                   const RoutingRequest& routing) {
  const std::string more = fmt::format(R"(, "planes": {}, "by_rail": {})", planes, by_rail);
  return clos("dual_plane", population, spec, by_rail ? "nodes_per_group" : "hosts_per_leaf", routing, more);
}

}  // namespace athanor
