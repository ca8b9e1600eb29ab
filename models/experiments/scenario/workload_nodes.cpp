#include "models/experiments/scenario/workload_nodes.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/jobs/node_file.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const NodeFormat& format : node_formats()) { names.emplace_back(format.name); }
  return names;
}

/// Takes the file's nodes for those of the fabric, in its order. What the file says of GPUs holds: nodes may have fewer
/// than on the fabric.
void replace(NodeList& nodes, NodeList of_file, const WorkloadNodes& details, Problems& problems) {
  if (nodes.count() != of_file.count()) {
    problems.add({"nodes-differ",
                  fmt::format("'{}' has {} nodes, the cluster {}", details.file, of_file.count(), nodes.count()),
                  details.place, "give the cluster as many nodes as the file has"});
    return;
  }
  for (const NodeId id : nodes.nodes.ids()) {
    Node& node = of_file.nodes[id];
    const std::uint16_t had = nodes.nodes[id].gpus;
    if (node.gpus > had) {
      problems.add({"nodes-differ",
                    fmt::format("node '{}' of '{}' has {} GPUs, node {} of the cluster {}", of_file.names[id.value],
                                details.file, node.gpus, id.value, had),
                    details.place, "give the nodes of the cluster as many GPUs as the largest of the file has"});
      return;
    }
    node.nics = nodes.nodes[id].nics;
    node.devices = nodes.nodes[id].devices;
  }
  of_file.devices = std::move(nodes.devices);
  of_file.tiers = std::move(nodes.tiers);
  nodes = std::move(of_file);
}

}  // namespace

void visit(Fields& fields, WorkloadNodes& nodes) {
  fields.optional_or("file", nodes.file, std::string(), "A file that lists them, one for each node of the cluster");
  if (!fields.writing() || nodes.format) {
    fields.optional_value("format", "Who writes such files", [&](FieldValue& value) {
      std::string name = nodes.format.value_or(format_names().front());
      value.visit(name, OneOf{format_names()});
      if (value.ok()) { nodes.format = name; }
    });
  }
  fields.optional("cpu_milli", nodes.cpu_milli, "Thousandths of cores of each node; absent: as many as jobs want",
                  {1, Node::kUnlimited - 1});
  fields.optional("memory", nodes.memory, "Of each node; absent: as much as jobs want",
                  {Bytes(kMebibyte), Bytes(kMebibyte * (std::int64_t{Node::kUnlimited} - 1))});
  nodes.place = fields.place();
  if (!fields.ok()) { return; }
  if (nodes.file.empty() == nodes.format.has_value()) {
    fields.problem("", "conflict", "\"file\" and \"format\" belong together", "write both or none");
  }
  if (!nodes.file.empty() && (nodes.cpu_milli || nodes.memory)) {
    fields.problem("", "conflict", "the file says what nodes have", "leave out \"cpu_milli\" and \"memory\"");
  }
}

NodeList with_details(NodeList of_fabric, const WorkloadNodes& details, const FileReader& files, Problems& problems) {
  NodeList nodes = std::move(of_fabric);
  for (Node& node : nodes.nodes) {
    if (details.cpu_milli) { node.cpu_milli = *details.cpu_milli; }
    if (details.memory) { node.memory_mib = static_cast<std::uint32_t>(details.memory->count() / kMebibyte); }
  }
  if (details.file.empty()) { return nodes; }
  const auto format = std::find_if(node_formats().begin(), node_formats().end(),
                                   [&](const NodeFormat& each) { return each.name == *details.format; });
  try {
    files.note(details.file);
    replace(nodes, format->read(files.path(details.file)), details, problems);
  } catch (const FileError& error) {
    problems.add({"no-nodes", error.what(), details.place, "a path is relative to the scenario's file"});
  } catch (const ScenarioError& error) {
    for (const Problem& problem : error.problems()) { problems.add(problem); }
  }
  return nodes;
}

}  // namespace athanor
