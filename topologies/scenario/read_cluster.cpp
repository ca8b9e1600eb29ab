#include <algorithm>

#include <fmt/core.h>

#include "sim/config/object_reader.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

namespace {

using Form = ValueReader::Form;

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
      FabricSettings fabric;
      read(fields, fabric);
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
      read(fields, node);
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

void read(ObjectReader& reader, ClusterText& cluster) {
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
    FabricSettings fabric;
    read(fields, fabric);
    if (!fields.describing()) { cluster.fabric = std::move(fabric); }
  });
  reader.optional_object("fabrics", "In place of fabric: several by name, such as front_end, back_end and storage",
                         [&](ObjectReader& fields) { read_fabrics(fields, cluster); });
  reader.optional_object("graph", "All devices and links, in place of node, nodes and fabric",
                         [&](ObjectReader& fields) {
                           GraphText graph;
                           read(fields, graph);
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
    LinkOverride given;
    read(fields, given);
    cluster.overrides.push_back(std::move(given));
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
