#include "topologies/node/node_template.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

}  // namespace

NodeTemplate::NodeTemplate(const NodeSpec& spec) : spec_(spec) {
  const std::vector<std::string> wrong = faults(spec);
  require(wrong.empty(), "node {}: {}", spec.name, joined(wrong, "; "));
  if (spec_.graph) {
    add_graph(*spec_.graph);
  } else {
    add_devices();
    add_nvlinks();
    add_pcie();
    add_sockets();
    add_processes();
  }
  sort_links();
  find_paths();
  choose_memories();
  std::vector<std::uint32_t> all(spec_.nics);
  std::iota(all.begin(), all.end(), 0);
  take_nics(std::move(all));
}

NodeTemplate NodeTemplate::with_nics(std::vector<std::uint32_t> nics) const {
  require(!nics.empty(), "a node without a NIC on the network");
  NodeTemplate view = *this;
  view.take_nics(std::move(nics));
  return view;
}

void NodeTemplate::take_nics(std::vector<std::uint32_t> nics) {
  nics_ = std::move(nics);
  numbers_.assign(spec_.nics, std::nullopt);
  for (std::uint32_t number = 0; number < nics_.size(); ++number) {
    require(nics_[number] < spec_.nics && !numbers_[nics_[number]], "NIC {} of {}, or twice", nics_[number],
            spec_.nics);
    numbers_[nics_[number]] = number;
  }
  choose_nics();
}

void NodeTemplate::add_devices() {
  const auto add = [this](VertexKind kind, std::uint32_t count) {
    const auto first = static_cast<std::uint32_t>(vertices_.size());
    for (std::uint32_t i = 0; i < count; ++i) { vertices_.push_back({kind, kNoNode, i}); }
    return first;
  };
  add(VertexKind::gpu, spec_.gpus);
  add(VertexKind::process, spec_.processes);
  add(VertexKind::nvswitch, std::holds_alternative<NvSwitchSpec>(spec_.scale_up) ? 1 : 0);
  first_socket_ = add(VertexKind::cpu, spec_.sockets);
  const std::vector<PlacedGroup> groups = placed_groups(spec_);
  const auto switches =
      std::count_if(groups.begin(), groups.end(), [](const PlacedGroup& placed) { return placed.group->has_switch; });
  first_switch_ = add(VertexKind::pcie_switch, static_cast<std::uint32_t>(switches));
  first_memory_ = add(VertexKind::memory, spec_.memory_link ? spec_.sockets : 0);
  first_nic_ = add(VertexKind::nic, spec_.nics);
}

void NodeTemplate::add_graph(const NodeGraph& graph) {
  std::array<std::uint32_t, kVertexKinds> seen{};
  for (const VertexKind kind : graph.devices) {
    vertices_.push_back({kind, kNoNode, seen[static_cast<std::size_t>(kind)]++});
  }
  first_nic_ = vertices() - spec_.nics;
  for (const NodeGraph::Cable& cable : graph.cables) {
    const Link& link = cable.link;
    connect(cable.a, cable.b, {link.rate, link.usable, link.latency}, link.kind);
  }
}

Time NodeTemplate::forwarding(std::uint32_t local) const {
  return vertices_[local].kind == VertexKind::nic ? spec_.nic_spec(local - first_nic_).forwarding : Time::zero();
}

void NodeTemplate::connect(std::uint32_t a, std::uint32_t b, const LinkSpec& spec, LinkKind kind) {
  links_.push_back({a, b, {spec.rate, spec.usable, spec.latency + forwarding(a), kind}});
  links_.push_back({b, a, {spec.rate, spec.usable, spec.latency + forwarding(b), kind}});
}

void NodeTemplate::add_nvlinks() {
  if (const auto* nvswitch = std::get_if<NvSwitchSpec>(&spec_.scale_up)) {
    for (std::uint32_t gpu = 0; gpu < spec_.gpus; ++gpu) {
      connect(gpu, spec_.gpus, nvswitch->gpu_link, LinkKind::nvlink);
    }
  }
  const auto* mesh = std::get_if<NvlinkMeshSpec>(&spec_.scale_up);
  if (mesh == nullptr) { return; }
  for (std::uint32_t a = 0; a < spec_.gpus; ++a) {
    for (std::uint32_t b = a + 1; b < spec_.gpus; ++b) {
      const std::uint32_t count = mesh->counts[a][b];
      if (count == 0) { continue; }
      connect(a, b, {mesh->link.rate * count, mesh->link.usable * count, mesh->link.latency}, LinkKind::nvlink);
    }
  }
}

void NodeTemplate::add_pcie() {
  std::uint32_t next_switch = first_switch_;
  std::vector<std::uint32_t> roots;
  for (const PlacedGroup& placed : placed_groups(spec_)) {
    const PcieGroupSpec& group = *placed.group;
    const std::uint32_t socket = first_socket_ + placed.socket;
    const std::uint32_t above = placed.within ? roots[*placed.within] : socket;
    const std::uint32_t root = group.has_switch ? next_switch++ : above;
    const bool on_c2c = root == socket && spec_.c2c_link.has_value();
    roots.push_back(root);
    for (const std::uint32_t gpu : group.gpus) {
      connect(gpu, root, on_c2c ? *spec_.c2c_link : spec_.pcie_link, on_c2c ? LinkKind::c2c : LinkKind::pcie);
    }
    for (const std::uint32_t nic : group.nics) {
      connect(first_nic_ + nic, root, spec_.nic_spec(nic).pcie.value_or(spec_.pcie_link), LinkKind::pcie);
      if (!spec_.nic_link) { continue; }
      for (const std::uint32_t gpu : group.gpus) { connect(gpu, first_nic_ + nic, *spec_.nic_link, LinkKind::pcie); }
    }
    if (root != above) { connect(root, above, spec_.pcie_link, LinkKind::pcie); }
  }
}

void NodeTemplate::add_sockets() {
  for (std::uint32_t s = 0; s < spec_.sockets && spec_.memory_link; ++s) {
    connect(first_socket_ + s, first_memory_ + s, *spec_.memory_link, LinkKind::socket);
  }
  if (!spec_.socket_link) { return; }
  for (std::uint32_t a = 0; a < spec_.sockets; ++a) {
    for (std::uint32_t b = a + 1; b < spec_.sockets; ++b) {
      connect(first_socket_ + a, first_socket_ + b, *spec_.socket_link, LinkKind::socket);
    }
  }
}

void NodeTemplate::add_processes() {
  for (std::uint32_t process = 0; process < spec_.processes; ++process) {
    connect(process, first_socket_ + spec_.socket_of(process), spec_.core_link, LinkKind::socket);
  }
}

void NodeTemplate::sort_links() {
  std::stable_sort(links_.begin(), links_.end(),
                   [](const LocalLink& a, const LocalLink& b) { return a.from < b.from; });
  first_link_.assign(vertices_.size() + 1, 0);
  for (const LocalLink& link : links_) { ++first_link_[link.from + 1]; }
  for (std::size_t v = 1; v < first_link_.size(); ++v) { first_link_[v] += first_link_[v - 1]; }
}

void NodeTemplate::find_paths() {
  next_.assign(std::size_t{vertices()} * vertices(), kNoPort);
  for (std::uint32_t to = 0; to < vertices(); ++to) { find_paths_to(to); }
  forward_through_neighbours();
}

void NodeTemplate::find_paths_to(std::uint32_t to) {
  // Breadth first, backwards: every link has a twin, so the links out of a vertex show who can send to it.
  std::vector<std::uint32_t> hops(vertices(), kFar);
  std::vector<Bandwidth> width(vertices(), Bandwidth::zero());
  std::vector<std::uint32_t> reached = {to};
  hops[to] = 0;
  width[to] = Bandwidth::max();
  const auto passed_through = [&](std::uint32_t v) {
    return v == to || (vertices_[v].kind != VertexKind::gpu && vertices_[v].kind != VertexKind::nic);
  };
  const auto choose_port = [&](std::uint32_t from) {
    auto best = std::tuple(false, Bandwidth::zero());
    for (std::uint32_t l = first_link_[from]; l < first_link_[from + 1]; ++l) {
      const std::uint32_t via = links_[l].to;
      if (hops[via] + 1 != hops[from] || hops[via] == kFar || !passed_through(via)) { continue; }
      const auto choice =
          std::tuple(links_[l].link.kind == LinkKind::nvlink, std::min(width[via], links_[l].link.usable));
      if (choice <= best) { continue; }
      best = choice;
      next_[from * vertices() + to] = static_cast<std::uint16_t>(l - first_link_[from]);
    }
    width[from] = std::get<Bandwidth>(best);
  };
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::uint32_t v = reached[i];
    if (v != to) { choose_port(v); }
    if (!passed_through(v)) { continue; }
    for (std::uint32_t l = first_link_[v]; l < first_link_[v + 1]; ++l) {
      if (hops[links_[l].to] != kFar) { continue; }
      hops[links_[l].to] = hops[v] + 1;
      reached.push_back(links_[l].to);
    }
  }
}

Bandwidth NodeTemplate::nvlink_rate(std::uint32_t from, std::uint32_t to) const {
  Bandwidth rate = Bandwidth::zero();
  for (std::uint32_t l = first_link_[from]; l < first_link_[from + 1]; ++l) {
    const bool joins = links_[l].to == to && links_[l].link.kind == LinkKind::nvlink;
    if (joins) { rate = std::max(rate, links_[l].link.usable); }
  }
  return rate;
}

bool NodeTemplate::begins_with_nvlink(std::uint32_t from, std::uint32_t to) const {
  const std::uint16_t port = next_port(from, to);
  return port != kNoPort && links_[first_link_[from] + port].link.kind == LinkKind::nvlink;
}

void NodeTemplate::forward_through_neighbours() {
  const auto* mesh = std::get_if<NvlinkMeshSpec>(&spec_.scale_up);
  const bool forwards = spec_.graph || (mesh != nullptr && mesh->unjoined == Unjoined::neighbour);
  if (!forwards) { return; }
  for (std::uint32_t from = 0; from < spec_.gpus; ++from) {
    for (std::uint32_t to = 0; to < spec_.gpus; ++to) {
      if (from != to && !begins_with_nvlink(from, to)) { forward_through_neighbour(from, to); }
    }
  }
}

void NodeTemplate::forward_through_neighbour(std::uint32_t from, std::uint32_t to) {
  Bandwidth widest = Bandwidth::zero();
  for (std::uint32_t l = first_link_[from]; l < first_link_[from + 1]; ++l) {
    const std::uint32_t via = links_[l].to;
    if (via >= spec_.gpus || links_[l].link.kind != LinkKind::nvlink) { continue; }
    const Bandwidth width = std::min(links_[l].link.usable, nvlink_rate(via, to));
    if (width <= widest) { continue; }
    widest = width;
    next_[from * vertices() + to] = static_cast<std::uint16_t>(l - first_link_[from]);
  }
}

std::uint32_t NodeTemplate::distance(std::uint32_t from, std::uint32_t to) const {
  std::uint32_t hops = 0;
  for (std::uint32_t at = from; at != to; ++hops) {
    const std::uint16_t port = next_port(at, to);
    if (port == kNoPort) { return kFar; }
    at = neighbour(at, port);
  }
  return hops;
}

std::uint32_t NodeTemplate::sockets_between(std::uint32_t from, std::uint32_t to) const {
  std::uint32_t sockets = 0;
  for (std::uint32_t at = from; at != to;) {
    const std::uint16_t port = next_port(at, to);
    if (port == kNoPort) { return kFar; }
    at = neighbour(at, port);
    sockets += at != to && vertices_[at].kind == VertexKind::cpu ? 1 : 0;
  }
  return sockets;
}

std::vector<std::uint32_t> NodeTemplate::nearest_nics(std::uint32_t local) const {
  std::uint32_t least = kFar;
  std::vector<std::uint32_t> nearest;
  for (std::uint32_t nic = 0; nic < nics(); ++nic) {
    const std::uint32_t hops = distance(local, nic_vertex(nic));
    if (hops < least) { nearest.clear(); }
    if (hops <= least) { nearest.push_back(nic); }
    least = std::min(least, hops);
  }
  return nearest;
}

void NodeTemplate::choose_nics() {
  if (nics_.empty()) { return; }
  own_nics_.assign(vertices(), {});
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> sharers;
  for (std::uint32_t local = 0; local < vertices(); ++local) {
    std::vector<std::uint32_t> nearest = nearest_nics(local);
    if (local < spec_.endpoints()) {
      sharers[std::move(nearest)].push_back(local);
    } else {
      own_nics_[local] = std::move(nearest);
    }
  }
  for (const auto& [nearest, endpoints] : sharers) {
    const std::size_t share = (nearest.size() + endpoints.size() - 1) / endpoints.size();
    for (std::size_t turn = 0; turn < endpoints.size(); ++turn) {
      for (std::size_t i = 0; i < share; ++i) {
        own_nics_[endpoints[turn]].push_back(nearest[(turn * share + i) % nearest.size()]);
      }
    }
  }
}

void NodeTemplate::choose_memories() {
  if (spec_.nvlink_access && spec_.identity.peer_access && spec_.identity.gpu_direct) { return; }
  const auto has = [this](VertexKind kind) {
    return std::any_of(vertices_.begin(), vertices_.end(), [&](const Vertex& v) { return v.kind == kind; });
  };
  const VertexKind kind = has(VertexKind::memory) ? VertexKind::memory : VertexKind::cpu;
  std::vector<std::uint32_t> memories;
  for (std::uint32_t v = 0; v < vertices(); ++v) {
    if (vertices_[v].kind == kind) { memories.push_back(v); }
  }
  for (std::uint32_t gpu = 0; gpu < spec_.gpus; ++gpu) {
    nearest_memory_.push_back(
        *std::min_element(memories.begin(), memories.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return distance(gpu, a) < distance(gpu, b); }));
  }
}

std::optional<std::uint32_t> NodeTemplate::staging(std::uint32_t from, std::uint32_t to) const {
  if (from < spec_.processes && to < spec_.processes) {
    const bool memories = spec_.memory_link && from != to && next_port(from, to) != kNoPort;
    return memories ? std::optional(first_memory_ + spec_.socket_of(to)) : std::nullopt;
  }
  if (nearest_memory_.empty() || from == to || next_port(from, to) == kNoPort) { return {}; }
  const auto is = [this](std::uint32_t local, VertexKind kind) { return vertices_[local].kind == kind; };
  const bool to_gpu = is(to, VertexKind::gpu);
  const std::uint32_t gpu = to_gpu ? to : from;
  const std::uint32_t other = to_gpu ? from : to;
  const bool by_peers = is(other, VertexKind::gpu);
  if (!is(gpu, VertexKind::gpu) || !(by_peers || is(other, VertexKind::nic))) { return {}; }
  const bool direct = by_peers ? spec_.identity.peer_access : spec_.identity.gpu_direct;
  const bool nvlink = begins_with_nvlink(from, to) && (!by_peers || spec_.nvlink_access);
  if (direct || nvlink) { return {}; }
  return nearest_memory_[gpu];
}

VertexId NodeTemplate::add_vertices(FabricBuilder& builder, std::uint32_t node) const {
  VertexId first;
  for (std::size_t v = 0; v < vertices_.size(); ++v) {
    const VertexId added = builder.add({vertices_[v].kind, node, vertices_[v].index});
    if (v == 0) { first = added; }
  }
  return first;
}

void NodeTemplate::add_links(FabricBuilder& builder, VertexId first) const {
  for (const LocalLink& link : links_) {
    builder.add_link(VertexId{first.value + link.from}, VertexId{first.value + link.to}, link.link);
  }
}

}  // namespace athanor
