#include "topologies/node/node_spec.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

/// GPUs, what joins them, NICs.
int place_in_order(VertexKind kind) {
  if (kind == VertexKind::gpu) { return 0; }
  return kind == VertexKind::nic ? 2 : 1;
}

bool inside_a_node(VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
    case VertexKind::cpu:
    case VertexKind::memory:
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::nic:
    case VertexKind::custom: return true;
    case VertexKind::process:
    case VertexKind::host:
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router: return false;
  }
  return false;
}

/// For each device the CPU that it hangs on, by breadth-first search from all CPUs at once.
std::vector<std::uint32_t> nearest_cpus(const NodeGraph& graph) {
  std::vector<std::vector<std::uint32_t>> neighbours(graph.devices.size());
  for (const NodeGraph::Cable& cable : graph.cables) {
    if (cable.link.kind == LinkKind::nvlink) { continue; }
    neighbours[cable.a].push_back(cable.b);
    neighbours[cable.b].push_back(cable.a);
  }
  std::vector<std::uint32_t> owner(graph.devices.size(), kNobody);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t v = 0; v < graph.devices.size(); ++v) {
    if (graph.devices[v] == VertexKind::cpu) {
      owner[v] = static_cast<std::uint32_t>(reached.size());
      reached.push_back(v);
    }
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::uint32_t next : neighbours[reached[i]]) {
      if (owner[next] != kNobody) { continue; }
      owner[next] = owner[reached[i]];
      reached.push_back(next);
    }
  }
  return owner;
}

using Faults = std::vector<std::string>;

void check_link(const LinkSpec& link, std::string_view what, Faults& found) {
  if (link.rate <= Bandwidth::zero() || link.usable <= Bandwidth::zero()) {
    found.push_back(fmt::format("{} has no bandwidth", what));
  } else if (link.usable > link.rate) {
    found.push_back(fmt::format("{} has a usable rate above its line rate", what));
  }
  if (link.latency < Time::zero()) { found.push_back(fmt::format("{} has a negative latency", what)); }
}

void check_mesh(const NvlinkMeshSpec& mesh, std::uint32_t gpus, Faults& found) {
  check_link(mesh.link, "an NVLink", found);
  bool square = mesh.counts.size() == gpus;
  for (const auto& row : mesh.counts) { square = square && row.size() == gpus; }
  if (!square) {
    found.push_back(fmt::format("the matrix of NVLink counts must be {0} x {0}, a row for each GPU", gpus));
    return;
  }
  for (std::uint32_t a = 0; a < gpus; ++a) {
    if (mesh.counts[a][a] != 0) { found.push_back(fmt::format("GPU {} has NVLinks to itself", a)); }
    for (std::uint32_t b = 0; b < a; ++b) {
      if (mesh.counts[a][b] == mesh.counts[b][a]) { continue; }
      found.push_back(fmt::format("GPU {} has {} NVLinks to GPU {}, which has {} back", b, mesh.counts[b][a], a,
                                  mesh.counts[a][b]));
    }
  }
}

void check_scale_up(const NodeSpec& spec, Faults& found) {
  if (const auto* nvswitch = std::get_if<NvSwitchSpec>(&spec.scale_up)) {
    check_link(nvswitch->gpu_link, "the NVSwitch link", found);
  }
  if (const auto* mesh = std::get_if<NvlinkMeshSpec>(&spec.scale_up)) { check_mesh(*mesh, spec.gpus, found); }
}

void check_placed_once(const NodeSpec& spec, std::string_view what, std::uint32_t count,
                       std::vector<std::uint32_t> PcieGroupSpec::*members, Faults& found) {
  std::vector<std::uint32_t> places(count, 0);
  for (const PlacedGroup& placed : placed_groups(spec)) {
    for (const std::uint32_t member : placed.group->*members) {
      if (member < count) {
        ++places[member];
      } else {
        found.push_back(fmt::format("PCIe names {} {}, but the node has {}", what, member, count));
      }
    }
  }
  for (std::uint32_t member = 0; member < count; ++member) {
    if (places[member] == 1) { continue; }
    found.push_back(fmt::format("{} {} stands in {} PCIe groups, not in one", what, member, places[member]));
  }
}

void place(const PcieGroupSpec& group, std::uint32_t socket, std::optional<std::uint32_t> within,
           std::vector<PlacedGroup>& placed) {
  const auto self = static_cast<std::uint32_t>(placed.size());
  placed.push_back({&group, socket, within});
  for (const PcieGroupSpec& inner : group.groups) { place(inner, socket, self, placed); }
}

void check_switches(const NodeSpec& spec, Faults& found) {
  std::uint32_t switches = 0;
  for (const PlacedGroup& placed : placed_groups(spec)) { switches += placed.group->has_switch ? 1 : 0; }
  if (switches <= kMaxDevicesPerNode) { return; }
  found.push_back(fmt::format("{} PCIe switches in one node: at most {} are possible", switches, kMaxDevicesPerNode));
}

void check_nic_link(const NodeSpec& spec, Faults& found) {
  if (!spec.nic_link) { return; }
  check_link(*spec.nic_link, "the link from GPU to NIC", found);
  const std::vector<PlacedGroup> groups = placed_groups(spec);
  const bool joins = std::any_of(groups.begin(), groups.end(), [](const PlacedGroup& placed) {
    return !placed.group->gpus.empty() && !placed.group->nics.empty();
  });
  if (!joins) { found.emplace_back("\"nic_link\" joins GPUs to the NICs of their group, and no group has both"); }
}

/// A card is in one slot.
void check_cards(const NodeSpec& spec, Faults& found) {
  std::vector<std::size_t> group(spec.nics, 0);
  const std::vector<PlacedGroup> groups = placed_groups(spec);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::uint32_t nic : groups[g].group->nics) {
      if (nic < spec.nics) { group[nic] = g; }
    }
  }
  for (std::uint32_t nic = 0; nic < spec.identity.cards.size() && nic < spec.nics; ++nic) {
    const std::uint32_t first = spec.identity.cards[nic];
    if (group[nic] == group[first]) { continue; }
    found.push_back(
        fmt::format("NICs {} and {} are ports of one card (\"card_ports\"), but stand in two PCIe groups", first, nic));
    return;
  }
}

/// There has to be a memory to go by.
void check_memory(const NodeSpec& spec, Faults& found) {
  const bool direct = spec.nvlink_access && spec.identity.peer_access && spec.identity.gpu_direct;
  const bool memory = !spec.graph || spec.graph->count(VertexKind::cpu) + spec.graph->count(VertexKind::memory) > 0;
  if (!direct && !memory) { found.emplace_back("devices exchange data by host memory, but the node has no CPU"); }
}

void check_port(const NodeSpec& spec, Faults& found) {
  if (!spec.own_nics.empty() && spec.own_nics.size() != spec.nics) {
    found.push_back(fmt::format("{} NICs are described, but the node has {}", spec.own_nics.size(), spec.nics));
    return;
  }
  for (std::uint32_t nic = 0; nic < spec.nics; ++nic) {
    const NicSpec& port = spec.nic_spec(nic);
    const std::size_t before = found.size();
    check_link({port.rate, scaled_down(port.rate, port.efficiency), port.forwarding}, "a NIC", found);
    if (found.size() > before) { return; }
  }
}

}  // namespace

std::uint32_t NodeGraph::count(VertexKind kind) const {
  return static_cast<std::uint32_t>(std::count(devices.begin(), devices.end(), kind));
}

std::vector<std::string> faults(const NodeGraph& graph) {
  std::vector<std::string> found;
  if (graph.count(VertexKind::gpu) == 0) { found.emplace_back("a node needs at least one GPU"); }
  if (graph.devices.size() > kMaxDevicesPerNode) {
    found.push_back(
        fmt::format("{} devices in one node: at most {} are possible", graph.devices.size(), kMaxDevicesPerNode));
  }
  if (!std::is_sorted(graph.devices.begin(), graph.devices.end(),
                      [](VertexKind a, VertexKind b) { return place_in_order(a) < place_in_order(b); })) {
    found.emplace_back("GPUs come first in the graph of a node, and NICs last");
  }
  for (const VertexKind kind : graph.devices) {
    if (!inside_a_node(kind)) { found.push_back(fmt::format("a {} is no part of a node", name(kind))); }
  }
  for (const NodeGraph::Cable& cable : graph.cables) {
    if (std::max(cable.a, cable.b) >= graph.devices.size() || cable.a == cable.b) {
      found.push_back(fmt::format("a link joins devices {} and {} of {}", cable.a, cable.b, graph.devices.size()));
    }
    const Link& link = cable.link;
    if (link.usable <= Bandwidth::zero() || link.usable > link.rate || link.latency < Time::zero()) {
      found.push_back(fmt::format("the link between devices {} and {} has no bandwidth", cable.a, cable.b));
    }
    if (link.kind == LinkKind::network) {
      found.push_back(
          fmt::format("the link between devices {} and {} is a network's; give each a \"kind\"", cable.a, cable.b));
    }
  }
  return found;
}

std::vector<std::uint32_t> first_half(const NodeGraph& graph) {
  const std::uint32_t cpus = graph.count(VertexKind::cpu);
  std::vector<std::uint32_t> inside;
  if (cpus < 2) {
    for (std::uint32_t gpu = 0; gpu < graph.count(VertexKind::gpu) / 2; ++gpu) { inside.push_back(gpu); }
    return inside;
  }
  const std::vector<std::uint32_t> owner = nearest_cpus(graph);
  for (std::uint32_t v = 0; v < graph.devices.size(); ++v) {
    if (owner[v] < cpus / 2) { inside.push_back(v); }
  }
  return inside;
}

std::vector<PlacedGroup> placed_groups(const NodeSpec& spec) {
  std::vector<PlacedGroup> placed;
  for (const PcieGroupSpec& group : spec.pcie) { place(group, group.socket, std::nullopt, placed); }
  return placed;
}

bool has_nvlink(const NodeSpec& spec) {
  if (!spec.graph) { return !std::holds_alternative<std::monostate>(spec.scale_up); }
  const auto& cables = spec.graph->cables;
  return std::any_of(cables.begin(), cables.end(),
                     [](const NodeGraph::Cable& cable) { return cable.link.kind == LinkKind::nvlink; });
}

std::vector<std::string> faults(const NodeSpec& spec) {
  Faults found;
  if (spec.graph) {
    found = faults(*spec.graph);
    check_memory(spec, found);
    check_port(spec, found);
    return found;
  }
  if (spec.endpoints() == 0) { found.emplace_back("a node needs at least one GPU or process"); }
  if (spec.gpus > 0 && spec.processes > 0) {
    found.emplace_back("the ranks of a node are its GPUs or its processes, not both");
  }
  for (const auto& [count, what] :
       {std::pair(spec.gpus, "GPUs"), {spec.processes, "processes"}, {spec.nics, "NICs"}, {spec.sockets, "sockets"}}) {
    if (count <= kMaxDevicesPerNode) { continue; }
    found.push_back(fmt::format("{} {} in one node: at most {} are possible", count, what, kMaxDevicesPerNode));
  }
  check_switches(spec, found);
  if (!found.empty()) { return found; }
  if (spec.sockets == 0) { found.emplace_back("a node needs at least one CPU socket"); }
  for (const PcieGroupSpec& group : spec.pcie) {
    if (group.socket >= spec.sockets) {
      found.push_back(fmt::format("PCIe names socket {}, but the node has {}", group.socket, spec.sockets));
    }
  }
  check_placed_once(spec, "GPU", spec.gpus, &PcieGroupSpec::gpus, found);
  check_placed_once(spec, "NIC", spec.nics, &PcieGroupSpec::nics, found);
  check_scale_up(spec, found);
  if (spec.gpus + spec.nics > 0 || !spec.pcie.empty()) { check_link(spec.pcie_link, "PCIe", found); }
  if (spec.processes > 0) { check_link(spec.core_link, "the link from core to socket", found); }
  if (spec.socket_link) { check_link(*spec.socket_link, "the link between sockets", found); }
  if (spec.memory_link) { check_link(*spec.memory_link, "the link from CPU to memory", found); }
  if (spec.c2c_link) { check_link(*spec.c2c_link, "the link from GPU to CPU", found); }
  check_nic_link(spec, found);
  check_cards(spec, found);
  check_port(spec, found);
  return found;
}

}  // namespace athanor
