#include <fmt/core.h>

#include "sim/config/object_reader.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

namespace {

using Form = ValueReader::Form;

/// Fields that keep what a preset says when absent.
template <class T, class Read>
void optional_part(ObjectReader& reader, std::string_view key, std::string_view meaning, std::optional<T>& target,
                   const Read& read) {
  reader.optional_value(key, meaning, [&](ValueReader& value) {
    T part{};
    read(value, part);
    if (!value.describing()) { target = std::move(part); }
  });
}

/// A part that has a reader of its own.
template <class T>
void optional_part(ObjectReader& reader, std::string_view key, std::string_view meaning, std::optional<T>& target) {
  optional_part(reader, key, meaning, target, [](ValueReader& value, T& part) { read(value, part); });
}

void read_counts(ValueReader& reader, std::vector<std::vector<std::uint32_t>>& counts) {
  reader.list(
      [&](ValueReader& row) {
        std::vector<std::uint32_t> numbers;
        row.read(numbers, {0, 64});
        counts.push_back(std::move(numbers));
      },
      {1, kMaxDevicesPerNode});
}

void read_nvlinks(ObjectReader& reader, ScaleUpText& scale_up) {
  optional_part(reader, "link", "One NVLink; default: that of the GPU", scale_up.link);
}

void read_scale_up(ObjectReader& reader, ScaleUpText& scale_up) {
  using Kind = ScaleUpText::Kind;
  const auto none = [&](ObjectReader&) { scale_up.kind = Kind::none; };
  const auto nvswitch = [&](ObjectReader& fields) {
    scale_up.kind = Kind::nvswitch;
    read_nvlinks(fields, scale_up);
    fields.optional("links_per_gpu", scale_up.links_per_gpu, "NVLinks of one GPU; default: all that it has", {1, 1024});
    fields.optional("reduces", scale_up.reduces,
                    "Do the NVSwitches add up and multicast (NVLink SHARP)? Default: those of NVLink 2 and 3 do not");
  };
  const auto mesh = [&](ObjectReader& fields) {
    scale_up.kind = Kind::nvlink_mesh;
    read_nvlinks(fields, scale_up);
    fields.required_value("counts", "NVLinks between every two GPUs: a row for each GPU",
                          [&](ValueReader& value) { read_counts(value, scale_up.counts); });
    fields.optional("unjoined", scale_up.unjoined, "How GPUs without an NVLink in common reach each other",
                    {{"neighbour", Unjoined::neighbour}, {"pcie", Unjoined::pcie}});
  };
  reader.choice("kind", "How the GPUs of the node are joined beside PCIe",
                {{"none", "PCIe only", none},
                 {"nvswitch", "All on one NVSwitch complex", nvswitch},
                 {"nvlink_mesh", "NVLink cables between GPUs", mesh}});
}

/// Groups within groups within groups: no machine has more. A schema has to end somewhere.
constexpr int kMostLevels = 4;

/// `level`: of switches, the outermost is 1.
void read_group(ObjectReader& reader, int level, PcieGroupSpec& group) {
  if (level == 1) {
    reader.required("socket", group.socket, "The CPU socket that the group is on, from 0", {0, kMaxDevicesPerNode});
  }
  reader.optional("switch", group.has_switch, "Whether a PCIe switch stands between");
  reader.optional("gpus", group.gpus, "GPUs of the group, from 0", {0, kMaxDevicesPerNode});
  reader.optional("nics", group.nics, "NICs of the group, from 0", {0, kMaxDevicesPerNode});
  if (level == kMostLevels) { return; }
  reader.optional_objects("groups", "Groups below the switch of this one", [&](ObjectReader& fields) {
    PcieGroupSpec inner;
    read_group(fields, level + 1, inner);
    group.groups.push_back(std::move(inner));
  });
}

/// Numbers of NICs count on from model to model.
void read_nics(ValueReader& reader, NodeText& node) {
  const Range<std::uint32_t> range{0, kMaxDevicesPerNode};
  const auto number = [&](ValueReader& value) { value.read(node.nics, range); };
  const auto models = [&](ValueReader& value) {
    value.list([&](ValueReader& element) {
      NicCountText model;
      element.object([&](ObjectReader& fields) {
        fields.required("nic", model.nic, "A NIC preset");
        fields.optional("count", model.count, "How many of them", {1, kMaxDevicesPerNode});
        if (!fields.describing()) { model.place = fields.place("nic"); }
      });
      if (!element.describing()) { node.nic_models.push_back(std::move(model)); }
    });
  };
  reader.one_of({{Form::Type::number, number}, {Form::Type::list, models}});
}

void read_cpu(ObjectReader& reader, CpuIdentity& cpu) {
  reader.required("arch", cpu.arch, "Its instruction set", {{"x86_64", "arm64", "ppc64"}});
  reader.optional("vendor", cpu.vendor, "As cpuid names it: GenuineIntel, AuthenticAMD");
  reader.optional("family", cpu.family, "Base family + 16 x extended family, as cpuid has them", {0, 4095});
  reader.optional("model", cpu.model, "Base model + 16 x extended model", {0, 4095});
}

void read_identity(ObjectReader& reader, NodeText& node) {
  optional_part(
      reader, "cpu", "What the CPUs call themselves; communication libraries decide by it", node.cpu,
      [](ValueReader& value, CpuIdentity& cpu) { value.object([&](ObjectReader& fields) { read_cpu(fields, cpu); }); });
  read_compute_capability(reader, node.compute_capability);
  reader.optional("gpu_direct", node.gpu_direct,
                  "May NICs read and write the memory of its GPUs (GPUDirect RDMA)? Default: as the GPU's preset says");
  reader.optional("peer_access", node.peer_access, "May its GPUs each other's over PCIe? Default: likewise");
}

/// "name", "graph" and "port": the inside of a node written out.
void read_node_graph(ObjectReader& reader, NodeText& node) {
  reader.optional("name", node.name, "As reports call the node; default: its preset");
  reader.optional_object("graph", "All devices inside and their links, in place of all keys that describe them",
                         [&](ObjectReader& fields) {
                           GraphText graph;
                           read(fields, graph);
                           if (!fields.describing()) { node.graph = std::move(graph); }
                         });
  reader.optional_object("port", "Of every NIC of a \"graph\", to the network; or name a preset by \"nic\"",
                         [&](ObjectReader& fields) {
                           NetworkLink port;
                           read(fields, port);
                           if (!fields.describing()) { node.port = port; }
                         });
  if (reader.describing()) { return; }
  for (const char* key : {"preset", "gpu", "gpus", "scale_up", "sockets", "socket_link", "pcie_link", "c2c_link",
                          "memory_link", "pcie", "nics"}) {
    if (!node.graph || !reader.has(key)) { continue; }
    reader.problem(key, "conflict", "a node that is written out as a \"graph\" has all devices and links in it",
                   fmt::format("leave out \"{}\"", key));
  }
  if (node.port && !node.graph) {
    reader.problem("port", "conflict", "\"port\" belongs to a \"graph\"", "name a NIC preset by \"nic\"");
  }
  if (node.port && reader.has("nic")) {
    reader.problem("port", "conflict", "\"port\" and \"nic\" say the same", "leave out one of them");
  }
}

}  // namespace

void read_compute_capability(ObjectReader& reader, std::optional<Ratio>& capability) {
  reader.optional("compute_capability", capability, "Of its GPUs, from NVIDIA: 9.0 of an H100", {{1, 1}, {999, 10}});
  if (capability && (capability->numerator * 10) % capability->denominator != 0) {
    reader.problem("compute_capability", "out-of-range", "a compute capability is a whole number of tenths");
  }
}

void read(ObjectReader& reader, LinkText& link) {
  reader.required("rate", link.rate, "Line rate, one direction");
  reader.optional("usable", link.usable, "Payload rate after framing and protocol; default: the line rate");
  reader.optional("latency", link.latency, "Propagation, and forwarding of the sending device");
  const Bandwidth usable = link.usable.value_or(link.rate);
  if (usable > link.rate) { reader.problem("usable", "out-of-range", "the usable rate is above the line rate"); }
}

void read(ValueReader& reader, LinkText& link) {
  if (!reader.describing()) { link.place = reader.place(); }
  reader.one_of({{Form::Type::string, [&](ValueReader& value) { value.read(link.preset); }},
                 {Form::Type::object,
                  [&](ValueReader& value) { value.object([&](ObjectReader& fields) { read(fields, link); }); }}});
}

void read(ObjectReader& reader, NodeText& node) {
  read_node_graph(reader, node);
  reader.optional("gpu", node.gpu, "A GPU preset");
  reader.optional("gpus", node.gpus, "GPUs in the node", {1, kMaxDevicesPerNode});
  optional_part(reader, "scale_up", "The GPUs' own network", node.scale_up, [](ValueReader& value, ScaleUpText& part) {
    value.object([&](ObjectReader& fields) { read_scale_up(fields, part); });
  });
  reader.optional("sockets", node.sockets, "CPU sockets", {1, kMaxDevicesPerNode});
  optional_part(reader, "socket_link", "Between every two sockets", node.socket_link);
  optional_part(reader, "pcie_link", "Device to switch or socket, and switch to socket", node.pcie_link);
  optional_part(reader, "c2c_link", "GPU to its socket in place of PCIe", node.c2c_link);
  optional_part(reader, "memory_link", "Between a CPU socket and its memory; default: no limit", node.memory_link);
  optional_part(reader, "pcie", "What hangs together on a socket; every GPU and NIC is in one group", node.pcie,
                [](ValueReader& value, std::vector<PcieGroupSpec>& groups) {
                  value.list([&](ValueReader& element) {
                    PcieGroupSpec group;
                    element.object([&](ObjectReader& fields) { read_group(fields, 1, group); });
                    groups.push_back(std::move(group));
                  });
                });
  reader.optional("nic", node.nic, "A NIC preset");
  reader.optional_value("nics", "How many are in the node; or a list of models, each with its count",
                        [&](ValueReader& value) { read_nics(value, node); });
  read_identity(reader, node);
  if (reader.describing()) { return; }
  if (!node.nic_models.empty() && reader.has("nic")) {
    reader.problem("nic", "conflict", "the list \"nics\" names the model of every NIC", "leave out \"nic\"");
  }
  node.place = reader.place();
  node.gpu_place = reader.place("gpu");
  node.nic_place = reader.place("nic");
}

}  // namespace athanor
