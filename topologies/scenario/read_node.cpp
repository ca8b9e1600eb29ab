#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

namespace {

using Form = FieldValue::Form;

void read_counts(FieldValue& value, std::vector<std::vector<std::uint32_t>>& counts) {
  value.list(counts,
             [](FieldValue& row, std::vector<std::uint32_t>& numbers) {
               row.visit(numbers, {0, 64});
             },
             {1, kMaxDevicesPerNode});
}

void read_nvlinks(Fields& fields, ScaleUpConfig& scale_up) {
  optional_link(fields, "link", "One NVLink; default: that of the GPU", scale_up.link);
}

void visit_scale_up(Fields& fields, ScaleUpConfig& scale_up) {
  using Kind = ScaleUpConfig::Kind;
  const auto none = [&](Fields&) { scale_up.kind = Kind::none; };
  const auto nvswitch = [&](Fields& nested) {
    scale_up.kind = Kind::nvswitch;
    read_nvlinks(nested, scale_up);
    nested.optional("links_per_gpu", scale_up.links_per_gpu, "NVLinks of one GPU; default: all that it has", {1, 1024});
    nested.optional("reduces", scale_up.reduces,
                    "Do the NVSwitches add up and multicast (NVLink SHARP)? Default: those of NVLink 2 and 3 do not");
  };
  const auto mesh = [&](Fields& nested) {
    scale_up.kind = Kind::nvlink_mesh;
    read_nvlinks(nested, scale_up);
    nested.required_value("counts", "NVLinks between every two GPUs: a row for each GPU",
                          [&](FieldValue& value) { read_counts(value, scale_up.counts); });
    nested.optional("unjoined", scale_up.unjoined, "How GPUs without an NVLink in common reach each other",
                    {{"neighbour", Unjoined::neighbour}, {"pcie", Unjoined::pcie}});
  };
  fields.choice("kind", "How the GPUs of the node are joined beside PCIe",
                {{"none", "PCIe only", none},
                 {"nvswitch", "All on one NVSwitch complex", nvswitch},
                 {"nvlink_mesh", "NVLink cables between GPUs", mesh}});
}

/// Groups within groups within groups: no machine has more. A schema has to end somewhere.
constexpr int kMostLevels = 4;

/// `level`: of switches, the outermost is 1.
void visit_group(Fields& fields, int level, PcieGroupSpec& group) {
  if (level == 1) {
    fields.required("socket", group.socket, "The CPU socket that the group is on, from 0", {0, kMaxDevicesPerNode});
  }
  fields.optional("switch", group.has_switch, "Whether a PCIe switch stands between");
  fields.optional("gpus", group.gpus, "GPUs of the group, from 0", {0, kMaxDevicesPerNode});
  fields.optional("nics", group.nics, "NICs of the group, from 0", {0, kMaxDevicesPerNode});
  if (level == kMostLevels) { return; }
  fields.optional_list("groups", group.groups, "Groups below the switch of this one",
                       [&](Fields& nested, PcieGroupSpec& inner) { visit_group(nested, level + 1, inner); });
}

void visit_nic(Fields& fields, NicCountConfig& model) {
  fields.required_value("nic", "A NIC preset, one with changes, or a NIC in full",
                        [&](FieldValue& value) { read_device(value, model.nic); });
  fields.optional("count", model.count, "How many of them", {1, kMaxDevicesPerNode});
}

/// Numbers of NICs count on from model to model.
void read_nics(FieldValue& fields, NodeConfig& node) {
  const Range<std::uint32_t> range{0, kMaxDevicesPerNode};
  const auto number = [&](FieldValue& value) { value.visit(node.nics, range); };
  const auto models = [&](FieldValue& value) {
    value.list(node.nic_models, [](FieldValue& each, NicCountConfig& model) { each.object(model, visit_nic); }, {1});
  };
  fields.one_of({{Form::Type::number, number}, {Form::Type::list, models}});
}

void visit_cpu(Fields& fields, CpuIdentity& cpu) {
  fields.required("arch", cpu.arch, "Its instruction set", {{"x86_64", "arm64", "ppc64"}});
  fields.optional("vendor", cpu.vendor, "As cpuid names it: GenuineIntel, AuthenticAMD");
  fields.optional("family", cpu.family, "Base family + 16 x extended family, as cpuid has them", {0, 4095});
  fields.optional("model", cpu.model, "Base model + 16 x extended model", {0, 4095});
}

void read_identity(Fields& fields, NodeConfig& node) {
  fields.optional_object("cpu", node.cpu, "What the CPUs call themselves; communication libraries decide by it",
                         visit_cpu);
  read_compute_capability(fields, node.compute_capability);
  fields.optional("gpu_direct", node.gpu_direct,
                  "May NICs read and write the memory of its GPUs (GPUDirect RDMA)? Default: as the GPU's preset says");
  fields.optional("peer_access", node.peer_access, "May its GPUs each other's over PCIe? Default: likewise");
  fields.optional(
      "transport", node.transport,
      "What carries NCCL's messages between such nodes, as \"software\" names it; absent: as their NICs are");
}

/// "name", "graph" and "port": the inside of a node written out.
void read_node_graph(Fields& fields, NodeConfig& node) {
  fields.optional("name", node.name, "As reports call the node; default: its preset");
  fields.optional_object("graph", node.graph,
                         "All devices inside and their links, in place of all keys that describe them");
  fields.optional_object("port", node.port, "Of every NIC of a \"graph\", to the network; or name a preset by \"nic\"");
  for (const char* key : {"preset", "gpu", "gpus", "scale_up", "sockets", "socket_link", "pcie_link", "c2c_link",
                          "nic_link", "memory_link", "core_link", "processes", "pcie", "nics"}) {
    if (!node.graph || !fields.has(key)) { continue; }
    fields.problem(key, "conflict", "a node that is written out as a \"graph\" has all devices and links in it",
                   fmt::format("leave out \"{}\"", key));
  }
  if (node.port && !node.graph) {
    fields.problem("port", "conflict", "\"port\" belongs to a \"graph\"", "name a NIC preset by \"nic\"");
  }
  if (node.port && fields.has("nic")) {
    fields.problem("port", "conflict", "\"port\" and \"nic\" say the same", "leave out one of them");
  }
}

/// What says something of GPUs beside processes.
void check_processes(Fields& fields, const NodeConfig& node) {
  if (!node.processes) { return; }
  for (const char* key :
       {"gpu", "gpus", "scale_up", "c2c_link", "nic_link", "gpu_direct", "peer_access", "compute_capability"}) {
    if (!fields.has(key)) { continue; }
    fields.problem(key, "conflict",
                   fmt::format("the ranks of a node are its \"processes\", and \"{}\" is of GPUs", key),
                   fmt::format("leave out \"{}\" or \"processes\"", key));
  }
}

}  // namespace

void visit(Fields& fields, NodeConfig& node) {
  read_node_graph(fields, node);
  optional_device(fields, "gpu", "A GPU preset, one with changes, or a GPU in full", node.gpu);
  fields.optional("gpus", node.gpus, "GPUs in the node", {1, kMaxDevicesPerNode});
  fields.optional(
      "processes", node.processes,
      "Processes on the cores of its CPUs, which then are its ranks in place of GPUs; as many on each socket",
      {1, kMaxDevicesPerNode});
  fields.optional_object("scale_up", node.scale_up, "The GPUs' own network", visit_scale_up);
  fields.optional("sockets", node.sockets, "CPU sockets", {1, kMaxDevicesPerNode});
  optional_link(fields, "socket_link", "Between every two sockets", node.socket_link);
  optional_link(fields, "pcie_link", "Device to switch or socket, and switch to socket", node.pcie_link);
  optional_link(fields, "c2c_link", "GPU to its socket in place of PCIe", node.c2c_link);
  optional_link(fields, "nic_link", "GPU straight to each NIC of its group, beside PCIe", node.nic_link);
  optional_link(fields, "memory_link", "Between a CPU socket and its memory; default: no limit", node.memory_link);
  optional_link(fields, "core_link", "Between a core and its socket; of nodes with \"processes\"", node.core_link);
  fields.optional_value(
      "pcie", "What hangs together on a socket; every GPU and NIC is in one group", [&](FieldValue& value) {
        const auto visit_outermost = [](Fields& group, PcieGroupSpec& spec) { visit_group(group, 1, spec); };
        if (!value.writing() || !node.pcie) { node.pcie.emplace(); }
        value.list(*node.pcie, [&](FieldValue& each, PcieGroupSpec& group) { each.object(group, visit_outermost); },
                   {1});
      });
  optional_device(fields, "nic", "A NIC preset, one with changes, or a NIC in full", node.nic);
  fields.optional_value("nics", "How many are in the node; or a list of models, each with its count",
                        [&](FieldValue& value) { read_nics(value, node); });
  read_identity(fields, node);
  check_processes(fields, node);
  if (!node.nic_models.empty() && fields.has("nic")) {
    fields.problem("nic", "conflict", "the list \"nics\" names the model of every NIC", "leave out \"nic\"");
  }
  node.place = fields.place();
}

}  // namespace athanor
