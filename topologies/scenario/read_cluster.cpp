#include <algorithm>

#include <fmt/core.h>

#include "topologies/scenario/read_text.hpp"

namespace athanor {

namespace {

using Form = ValueReader::Form;
constexpr std::uint32_t kMostPorts = 65'536;

void read_oversubscription(ValueReader& reader, std::vector<Ratio>& ratios) {
  const Range<Ratio> range{{1, 1000}, {1000, 1}};
  const auto one = [&](ValueReader& value) {
    Ratio ratio{1, 1};
    value.read(ratio, range);
    ratios = {ratio};
  };
  const auto several = [&](ValueReader& value) { value.read(ratios, range); };
  reader.one_of({{Form::Type::number, one}, {Form::Type::list, several}});
  if (ratios.size() > 2) { reader.problem("out-of-range", "only leaves and spines can be oversubscribed", "give two"); }
}

void read_clos(ObjectReader& reader, FabricText& fabric) {
  read_ports(reader, fabric);
  read_network_link(reader, "uplink", "Leaf to spine; default: as the others", fabric.uplink);
  read_network_link(reader, "core_link", "Spine to core; default: as the others", fabric.core_link);
  reader.optional("tiers", fabric.tiers, "2 or 3; default: as few as fit", {2, 3});
  reader.optional("radix", fabric.radix, "Ports of a switch; default: of the preset, else any", {1, kMostPorts});
  reader.optional("leaves", fabric.leaves, "Leaf switches", {1, 1U << 24U});
  reader.optional("spines", fabric.spines, "Spine switches; of one pod with three tiers", {1, kMostPorts});
  reader.optional("pods", fabric.pods, "With three tiers", {1, 1U << 24U});
  reader.optional("leaves_per_pod", fabric.leaves_per_pod, "With three tiers", {1, kMostPorts});
  reader.optional("cores", fabric.cores, "Core switches, with three tiers", {1, 1U << 24U});
  reader.optional_value("oversubscription", "Bandwidth down / up of leaves, or of [leaves, spines]",
                        [&](ValueReader& value) { read_oversubscription(value, fabric.oversubscription); });
}

void read_fat_tree(ObjectReader& reader, FabricText& fabric) {
  fabric.kind = FabricText::Kind::fat_tree;
  read_clos(reader, fabric);
  reader.optional("hosts_per_leaf", fabric.hosts_per_leaf, "Hosts or NICs on one leaf", {1, kMostPorts});
}

void read_rail_optimized(ObjectReader& reader, FabricText& fabric) {
  fabric.kind = FabricText::Kind::rail_optimized;
  read_clos(reader, fabric);
  reader.optional("nodes_per_group", fabric.nodes_per_group, "Nodes whose NICs r share a leaf", {1, kMostPorts});
}

void read_rail_only(ObjectReader& reader, FabricText& fabric) {
  read_rail_optimized(reader, fabric);
  fabric.kind = FabricText::Kind::rail_only;
}

void read_dual_plane(ObjectReader& reader, FabricText& fabric) {
  read_clos(reader, fabric);
  fabric.kind = FabricText::Kind::dual_plane;
  reader.optional("planes", fabric.planes, "Networks side by side, and ports of a NIC", {1, 64});
  reader.optional("by_rail", fabric.by_rail, "Whether planes are rail-optimized; default: where there are nodes");
  reader.optional("hosts_per_leaf", fabric.hosts_per_leaf, "Hosts or NICs on one leaf, not by rail", {1, kMostPorts});
  reader.optional("nodes_per_group", fabric.nodes_per_group, "Nodes whose NICs r share a leaf, by rail",
                  {1, kMostPorts});
}

void read_k_ary_n_tree(ObjectReader& reader, FabricText& fabric) {
  fabric.kind = FabricText::Kind::k_ary_n_tree;
  read_ports(reader, fabric);
  reader.required("arity", fabric.arity, "k: links down of every switch, and up", {2, kMostPorts});
  reader.required("levels", fabric.levels, "n: of switches; k^n hosts or NICs find place", {1, 31});
}

void read_star(ObjectReader& reader, FabricText& fabric) {
  fabric.kind = FabricText::Kind::star;
  read_ports(reader, fabric);
  reader.optional("radix", fabric.radix, "Ports of the switch; default: of the preset, else any", {1, 1U << 24U});
}

void read_fabric(ObjectReader& reader, FabricText& fabric) {
  const auto with = [&](void (*read)(ObjectReader&, FabricText&)) {
    return [&fabric, read](ObjectReader& fields) { read(fields, fabric); };
  };
  reader.choice(
      "kind", "How nodes are joined",
      {{"star", "One switch", with(read_star)},
       {"fat_tree", "Leaves, spines and, with three tiers, cores", with(read_fat_tree)},
       {"rail_optimized", "A fat tree with a leaf for each rail of a group of nodes", with(read_rail_optimized)},
       {"rail_only", "A network for each rail, joined only inside nodes", with(read_rail_only)},
       {"dual_plane", "Fat trees side by side; every NIC has a port to each", with(read_dual_plane)},
       {"k_ary_n_tree", "n levels of k^(n-1) switches under k^n hosts", with(read_k_ary_n_tree)},
       {"torus", "A grid that closes on itself in every dimension, twisted or not", with(read_torus)},
       {"mesh", "A grid with ends", with(read_mesh)},
       {"full_mesh", "Nodes or switches that are joined every two", with(read_full_mesh)},
       {"hyperx", "Switches in a box, each joined to all along every dimension", with(read_hyperx)},
       {"dragonfly", "Groups of routers, joined every two within a group and group by group", with(read_dragonfly)},
       {"dragonfly_plus", "Groups of leaves and spines, joined by cables between spines", with(read_dragonfly_plus)},
       {"slim_fly", "Routers at most two hops apart, joined by algebra", with(read_slim_fly)}});
  std::vector<std::uint32_t> nics;
  reader.optional("nics", nics, "The NICs of every node that are on it, counted from 0; absent: all",
                  {0, kMaxDevicesPerNode});
  if (reader.describing()) { return; }
  if (reader.has("nics")) { fabric.nics = nics; }
  fabric.place = reader.place();
  fabric.nics_place = reader.place("nics");
}

bool is_fabric_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void read_fabrics(ObjectReader& reader, ClusterText& cluster) {
  reader.entries("One fabric", [&](const std::string& name, ValueReader& value) {
    if (!value.describing() && !is_fabric_name(name)) {
      value.problem("bad-name", fmt::format("\"{}\" is no name of a fabric", name),
                    "use letters, digits, _ and -: devices are called \"name/leaf0\"");
      return;
    }
    value.object([&](ObjectReader& fields) {
      FabricText fabric;
      read_fabric(fields, fabric);
      fabric.name = name;
      if (!fields.describing()) { cluster.fabrics.push_back(std::move(fabric)); }
    });
  });
  if (!reader.describing() && reader.ok() && (cluster.fabrics.empty() || cluster.fabrics.size() > kMostNetworks)) {
    reader.problem("", "out-of-range", fmt::format("one to {} fabrics are possible", kMostNetworks),
                   R"(write "fabrics": {"back_end": {...}, "storage": {...}})");
  }
}

void read_node_forms(ValueReader& reader, NodeText& node) {
  const auto by_name = [&](ValueReader& value) {
    std::string preset;
    value.read(preset);
    if (value.describing()) { return; }
    node.preset = preset;
    node.place = value.place();
  };
  const auto in_full = [&](ValueReader& value) {
    value.object([&](ObjectReader& fields) {
      fields.optional("preset", node.preset, "The node that this one differs from");
      read_node(fields, node);
      if (fields.has("preset")) { node.place = fields.place("preset"); }
    });
  };
  reader.one_of({{Form::Type::string, by_name}, {Form::Type::object, in_full}});
}

void read_nodes(ValueReader& reader, ClusterText& cluster) {
  const Range<std::uint32_t> range{1, 4'000'000'000};
  const auto uniform = [&](ValueReader& value) { value.read(cluster.nodes, range); };
  const auto mixed = [&](ValueReader& value) {
    value.list([&](ValueReader& element) {
      NodeCountText kind;
      element.object([&](ObjectReader& fields) {
        fields.required_value("node", "A node preset, one with changes, or a node in full",
                              [&](ValueReader& node) { read_node_forms(node, kind.node); });
        fields.optional("count", kind.count, "How many of them", range);
        if (!fields.describing()) { kind.place = fields.place(); }
      });
      if (!element.describing()) { cluster.mixture.push_back(std::move(kind)); }
    });
  };
  reader.one_of({{Form::Type::number, uniform}, {Form::Type::list, mixed}});
}

void read_shared_memory(ObjectReader& reader, SharedMemoryText& shared) {
  reader.required("ranks", shared.ranks, "Threads that take part", {1, 4096});
  reader.required("processors", shared.processors, "That they share", {1, 4096});
  shared.place = reader.describing() ? Place{} : reader.place();
}

void check_together(ObjectReader& reader, const ClusterText& cluster) {
  const bool networks = cluster.fabric || reader.has("fabrics");
  const bool regular = cluster.node || cluster.nodes || !cluster.mixture.empty() || networks;
  if (cluster.fabric && reader.has("fabrics")) {
    reader.problem("fabric", "conflict", "\"fabrics\" name all of them", "put this one among them, with a name");
  }
  if (cluster.shared_memory) {
    if (regular || cluster.graph || cluster.shared_gpus || !cluster.overrides.empty()) {
      reader.problem("shared_memory", "conflict", "\"shared_memory\" stands alone: its ranks share one machine");
    }
    return;
  }
  if (cluster.shared_gpus) {
    if (regular || cluster.graph || !cluster.overrides.empty()) {
      reader.problem("shared_gpus", "conflict", "\"shared_gpus\" stands alone: its ranks share one machine");
    }
    return;
  }
  if (cluster.graph && regular) {
    reader.problem("graph", "conflict", "\"graph\" stands alone: it replaces \"node\", \"nodes\" and \"fabric\"");
  }
  if (cluster.node && !cluster.mixture.empty()) {
    reader.problem("node", "conflict", "\"nodes\" is a list of kinds of nodes: each says its own \"node\"");
  }
  if (!cluster.mixture.empty() && !networks) {
    reader.problem("nodes", "missing-key", "nodes of several kinds need a \"fabric\" that joins them",
                   R"(write "fabric": {"kind": "star", "switch": "QM9700"})");
  }
  if (!cluster.graph && !cluster.node && !networks && reader.ok()) {
    reader.problem("", "missing-key", "a cluster needs a \"node\", a \"fabric\" or a \"graph\"",
                   R"(write "node": "DGX-H100")");
  }
}

}  // namespace

void read_network_link(ObjectReader& reader, NetworkLinkText& link) {
  reader.required("rate", link.rate, "Line rate, one direction");
  reader.required("latency", link.latency, "Of one link, the forwarding of the switch included");
  reader.optional("efficiency", link.efficiency, "Payload rate / line rate");
  if (link.efficiency.numerator == 0) {
    reader.problem("efficiency", "out-of-range", "an efficiency of 0 leaves no bandwidth");
  }
}

void read_network_link(ObjectReader& reader, std::string_view key, std::string_view meaning,
                       std::optional<NetworkLinkText>& link) {
  reader.optional_object(key, meaning, [&](ObjectReader& fields) {
    NetworkLinkText read;
    read_network_link(fields, read);
    if (!fields.describing()) { link = read; }
  });
}

void read_ports(ObjectReader& reader, FabricText& fabric) {
  reader.optional("switch", fabric.switch_name, "A switch preset: port rate, latency and radix");
  read_network_link(reader, "link", "Every link of the network, where no switch is named", fabric.link);
  reader.optional("cable_latency", fabric.cable_latency, "Propagation of a cable, beside a switch's own latency");
  if (reader.describing()) { return; }
  fabric.switch_place = reader.place("switch");
  fabric.link_place = reader.place("link");
  if (fabric.link && reader.has("cable_latency")) {
    reader.problem("cable_latency", "no-effect",
                   "'cable_latency' has no effect here: \"link\" says the latency of a link",
                   "add it to the latency of the link, or name a \"switch\" in place of \"link\"");
  }
  if (fabric.switch_name.has_value() == fabric.link.has_value() && reader.ok()) {
    reader.problem("", "missing-key", "a network needs either \"switch\" or \"link\"",
                   R"(write "switch": "QM9700", or "link": {"rate": "400Gb/s", "latency": "500ns"})");
  }
}

void read_cluster(ObjectReader& reader, ClusterText& cluster) {
  reader.optional_value("node", "A node preset, one with changes, or a node in full; absent: hosts on the fabric",
                        [&](ValueReader& value) {
                          NodeText node;
                          read_node_forms(value, node);
                          if (!value.describing()) { cluster.node = std::move(node); }
                        });
  reader.optional_value(
      "nodes", "How many nodes, or hosts where there is no node; or a list of kinds of nodes, each with its count",
      [&](ValueReader& value) { read_nodes(value, cluster); });
  reader.optional_object("fabric", "What joins the nodes; absent: one node alone", [&](ObjectReader& fields) {
    FabricText fabric;
    read_fabric(fields, fabric);
    if (!fields.describing()) { cluster.fabric = std::move(fabric); }
  });
  reader.optional_object("fabrics", "In place of fabric: several by name, such as front_end, back_end and storage",
                         [&](ObjectReader& fields) { read_fabrics(fields, cluster); });
  reader.optional_object("graph", "All devices and links, in place of node, nodes and fabric",
                         [&](ObjectReader& fields) {
                           GraphText graph;
                           read_graph(fields, graph);
                           if (!fields.describing()) { cluster.graph = std::move(graph); }
                         });
  reader.optional_object("shared_memory", "One machine whose ranks are threads, in place of all others",
                         [&](ObjectReader& fields) {
                           SharedMemoryText shared;
                           read_shared_memory(fields, shared);
                           if (!fields.describing()) { cluster.shared_memory = shared; }
                         });
  reader.optional_object("shared_gpus", "One machine whose ranks share the memory of its GPUs, in place of all others",
                         [&](ObjectReader& fields) {
                           SharedGpusText shared;
                           fields.required("ranks", shared.ranks, "That take part", {1, 4096});
                           fields.optional("gpus", shared.gpus, "That they are spread over, in order", {1, 64});
                           if (!fields.describing()) { cluster.shared_gpus = shared; }
                         });
  reader.optional_objects("overrides", "Links that are slower, farther or down", [&](ObjectReader& fields) {
    LinkOverride read;
    read_override(fields, read);
    cluster.overrides.push_back(std::move(read));
  });
  if (reader.describing()) { return; }
  cluster.place = reader.place();
  cluster.nodes_place = reader.place("nodes");
  cluster.fabrics_place = reader.place("fabrics");
  check_together(reader, cluster);
}

Names<Routing> routing_names() {
  return {{"ecmp", Routing::ecmp},       {"d_mod_k", Routing::d_mod_k}, {"dimension_order", Routing::dimension_order},
          {"minimal", Routing::minimal}, {"valiant", Routing::valiant}, {"ugal", Routing::ugal}};
}

}  // namespace athanor
