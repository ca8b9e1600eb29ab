#include <algorithm>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

namespace {

void check_ends(Fields& fields, const std::vector<std::string>& between, LinkOverride& given) {
  const bool one_way = fields.has("from") || fields.has("to");
  if (fields.has("between") == one_way || fields.has("from") != fields.has("to")) {
    fields.problem("", "missing-key", "an override names either both ends of a cable, or from where to where",
                   R"(write "between": ["leaf0", "spine1"], or "from": "leaf0", "to": "spine1")");
    return;
  }
  given.both_ways = !one_way;
  if (one_way) { return; }
  if (between.size() != 2) {
    fields.problem("between", "link-ends", "a link is between two devices", R"("between": ["leaf0", "spine1"])");
    return;
  }
  given.from = between[0];
  given.to = between[1];
}

void check_change(Fields& fields, const LinkOverride& given) {
  const bool figures = given.rate || given.usable || given.latency;
  if (given.down && figures) {
    fields.problem("down", "conflict", "a link that is down has neither rate nor latency", "leave out one of them");
  } else if (!given.down && !figures) {
    fields.problem("", "missing-key", "an override changes nothing",
                   R"(give a "rate", a "usable" rate, a "latency" or "down": true)");
  }
  if (given.rate && given.usable && *given.usable > *given.rate) {
    fields.problem("usable", "out-of-range", "the usable rate is above the line rate");
  }
}

using Form = FieldValue::Form;

bool is_fabric_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void read_fabrics(Fields& fields, ClusterConfig& cluster) {
  fields.entries("One fabric", [&](const std::string& name, FieldValue& value) {
    if (value.reading() && !is_fabric_name(name)) {  // a description has no name
      value.problem("bad-name", fmt::format("\"{}\" is no name of a fabric", name),
                    "use letters, digits, _ and -: devices are called \"name/leaf0\"");
      return;
    }
    value.object([&](Fields& inner) {
      FabricSettings fabric;
      visit(inner, fabric);
      fabric.name = name;
      cluster.fabrics.push_back(std::move(fabric));
    });
  });
  if (fields.ok() && (cluster.fabrics.empty() || cluster.fabrics.size() > kMostNetworks)) {
    fields.problem("", "out-of-range", fmt::format("one to {} fabrics are possible", kMostNetworks),
                   R"(write "fabrics": {"back_end": {...}, "storage": {...}})");
  }
}

void read_node_forms(FieldValue& fields, NodeConfig& node) {
  const auto by_name = [&](FieldValue& value) {
    value.visit(node.preset.emplace());
    node.place = value.place();
  };
  const auto in_full = [&](FieldValue& value) {
    value.object([&](Fields& inner) {
      inner.optional("preset", node.preset, "The node that this one differs from");
      visit(inner, node);
      if (inner.has("preset")) { node.place = inner.place("preset"); }
    });
  };
  fields.one_of({{Form::Type::string, by_name}, {Form::Type::object, in_full}});
}

void read_nodes(FieldValue& fields, ClusterConfig& cluster) {
  const Range<std::uint32_t> range{1, 4'000'000'000};
  const auto uniform = [&](FieldValue& value) { value.visit(cluster.nodes, range); };
  const auto mixed = [&](FieldValue& value) {
    value.list([&](FieldValue& element) {
      NodeCountConfig kind;
      element.object([&](Fields& inner) {
        inner.required_value("node", "A node preset, one with changes, or a node in full",
                             [&](FieldValue& node) { read_node_forms(node, kind.node); });
        inner.optional("count", kind.count, "How many of them", range);
        kind.place = inner.place();
      });
      cluster.mixture.push_back(std::move(kind));
    });
  };
  fields.one_of({{Form::Type::number, uniform}, {Form::Type::list, mixed}});
}

void visit_shared_memory(Fields& fields, SharedMemoryConfig& shared) {
  fields.required("ranks", shared.ranks, "Threads that take part", {1, 4096});
  fields.required("processors", shared.processors, "That they share", {1, 4096});
  shared.place = fields.place();
}

void visit_shared_gpus(Fields& fields, SharedGpusConfig& shared) {
  fields.required("ranks", shared.ranks, "That take part", {1, 4096});
  fields.optional("gpus", shared.gpus, "That they are spread over, in order", {1, 64});
}

void check_together(Fields& fields, const ClusterConfig& cluster) {
  const bool networks = cluster.fabric || fields.has("fabrics");
  const bool regular = cluster.node || cluster.nodes || !cluster.mixture.empty() || networks;
  if (cluster.fabric && fields.has("fabrics")) {
    fields.problem("fabric", "conflict", "\"fabrics\" name all of them", "put this one among them, with a name");
  }
  if (cluster.shared_memory) {
    if (regular || cluster.graph || cluster.shared_gpus || !cluster.overrides.empty()) {
      fields.problem("shared_memory", "conflict", "\"shared_memory\" stands alone: its ranks share one machine");
    }
    return;
  }
  if (cluster.shared_gpus) {
    if (regular || cluster.graph || !cluster.overrides.empty()) {
      fields.problem("shared_gpus", "conflict", "\"shared_gpus\" stands alone: its ranks share one machine");
    }
    return;
  }
  if (cluster.graph && regular) {
    fields.problem("graph", "conflict", "\"graph\" stands alone: it replaces \"node\", \"nodes\" and \"fabric\"");
  }
  if (cluster.node && !cluster.mixture.empty()) {
    fields.problem("node", "conflict", "\"nodes\" is a list of kinds of nodes: each says its own \"node\"");
  }
  if (!cluster.mixture.empty() && !networks) {
    fields.problem("nodes", "missing-key", "nodes of several kinds need a \"fabric\" that joins them",
                   R"(write "fabric": {"kind": "star", "switch": "QM9700"})");
  }
  if (!cluster.graph && !cluster.node && !networks && fields.ok()) {
    fields.problem("", "missing-key", "a cluster needs a \"node\", a \"fabric\" or a \"graph\"",
                   R"(write "node": "DGX-H100")");
  }
}

}  // namespace

void visit(Fields& fields, LinkOverride& given) {
  std::vector<std::string> between;
  fields.optional("between", between,
                  "The devices at both ends, as reports name them; * stands for any characters, ? for one");
  fields.optional("from", given.from, "Instead: the device that sends, of one direction only");
  fields.optional("to", given.to, "And the one that receives");
  fields.optional("cables", given.cables, "Of parallel cables only so many; absent: all", {1});
  fields.optional("rate", given.rate, "Line rate, each direction; the usable rate keeps its share");
  fields.optional("usable", given.usable, "Payload rate");
  fields.optional("latency", given.latency, "From end to end, the forwarding of the sending device included");
  fields.optional("down", given.down, "Whether it carries nothing; routes go round it");
  given.place = fields.place();
  if (!fields.ok()) { return; }
  check_ends(fields, between, given);
  check_change(fields, given);
}

void visit(Fields& fields, ClusterConfig& cluster) {
  fields.optional_value("node", "A node preset, one with changes, or a node in full; absent: hosts on the fabric",
                        [&](FieldValue& value) { read_node_forms(value, cluster.node.emplace()); });
  fields.optional_value(
      "nodes", "How many nodes, or hosts where there is no node; or a list of kinds of nodes, each with its count",
      [&](FieldValue& value) { read_nodes(value, cluster); });
  fields.optional_object("fabric", cluster.fabric, "What joins the nodes; absent: one node alone");
  fields.optional_object("fabrics", "In place of fabric: several by name, such as front_end, back_end and storage",
                         [&](Fields& inner) { read_fabrics(inner, cluster); });
  fields.optional_object("graph", cluster.graph, "All devices and links, in place of node, nodes and fabric");
  fields.optional_object("shared_memory", cluster.shared_memory,
                         "One machine whose ranks are threads, in place of all others", visit_shared_memory);
  fields.optional_object("shared_gpus", cluster.shared_gpus,
                         "One machine whose ranks share the memory of its GPUs, in place of all others",
                         visit_shared_gpus);
  fields.optional_list("overrides", cluster.overrides, "Links that are slower, farther or down");
  cluster.place = fields.place();
  cluster.nodes_place = fields.place("nodes");
  cluster.fabrics_place = fields.place("fabrics");
  check_together(fields, cluster);
}

Names<Routing> routing_names() {
  return {{"ecmp", Routing::ecmp},       {"d_mod_k", Routing::d_mod_k}, {"dimension_order", Routing::dimension_order},
          {"minimal", Routing::minimal}, {"valiant", Routing::valiant}, {"ugal", Routing::ugal}};
}

}  // namespace athanor
