#include "models/nccl/machine/nccl_system.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "models/nccl/machine/link_rates.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kUnknownCapability = 80;

std::uint32_t count_of(const NcclSystem& system, NcclDevice kind) {
  const auto is_kind = [&](const NcclSystem::Vertex& vertex) { return vertex.kind == kind; };
  return static_cast<std::uint32_t>(std::count_if(system.vertices.begin(), system.vertices.end(), is_kind));
}

/// Links stand widest first, as NCCL keeps them; equal ones in the order in which they came.
void move_up(std::vector<NcclSystem::Link>& links, std::size_t at) {
  for (; at > 0 && links[at - 1].rate < links[at].rate; --at) { std::swap(links[at - 1], links[at]); }
}

void put_last(std::vector<NcclSystem::Link>& links, std::uint32_t to) {
  const auto up = std::find_if(links.begin(), links.end(), [&](const NcclSystem::Link& link) { return link.to == to; });
  std::rotate(up, up + 1, links.end());
}

/// Breadth first, so that a device that is reached in two ways has the shorter one's link last.
void sort_below(NcclSystem& system, std::uint32_t cpu, std::set<std::uint32_t>& seen) {
  std::vector<std::uint32_t> reached{cpu};
  seen.insert(cpu);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const NcclSystem::Link& link : system.vertices[reached[i]].links) {
      if (link.kind != NcclLinkKind::pci || !seen.insert(link.to).second) { continue; }
      put_last(system.vertices[link.to].links, reached[i]);
      reached.push_back(link.to);
    }
  }
}

/// Without those vertices; the others keep their order.
void remove_vertices(NcclSystem& system, const std::set<std::uint32_t>& gone) {
  std::vector<std::uint32_t> renamed(system.vertices.size());
  std::vector<NcclSystem::Vertex> kept;
  for (std::uint32_t v = 0; v < renamed.size(); ++v) {
    renamed[v] = static_cast<std::uint32_t>(kept.size());
    if (!gone.contains(v)) { kept.push_back(std::move(system.vertices[v])); }
  }
  for (NcclSystem::Vertex& vertex : kept) {
    std::erase_if(vertex.links, [&](const NcclSystem::Link& link) { return gone.contains(link.to); });
    for (NcclSystem::Link& link : vertex.links) { link.to = renamed[link.to]; }
  }
  system.vertices = std::move(kept);
  for (NcclSystem::Net& net : system.nets) { net.vertex = renamed[net.vertex]; }
  for (NcclSystem::Cpu& cpu : system.cpus) { cpu.vertex = renamed[cpu.vertex]; }
  for (NcclSystem::Gpu& gpu : system.gpus) { gpu.vertex = renamed[gpu.vertex]; }
  if (system.nvs) { system.nvs = renamed[*system.nvs]; }
}

}  // namespace

std::uint32_t compute_capability(const NcclSystem::Gpu& gpu) {
  return gpu.compute_capability.value_or(kUnknownCapability);
}

std::uint32_t least_compute_capability(const NcclSystem& system) {
  require(!system.gpus.empty(), "a node without a GPU has no compute capability");
  std::uint32_t least = compute_capability(system.gpus.front());
  for (const NcclSystem::Gpu& gpu : system.gpus) { least = std::min(least, compute_capability(gpu)); }
  return least;
}

std::uint32_t add_vertex(NcclSystem& system, NcclDevice kind) {
  system.vertices.push_back({kind, count_of(system, kind), {}});
  return static_cast<std::uint32_t>(system.vertices.size() - 1);
}

void connect(NcclSystem& system, std::uint32_t from, const NcclSystem::Link& link) {
  std::vector<NcclSystem::Link>& links = system.vertices[from].links;
  const auto same = [&](const NcclSystem::Link& each) { return each.to == link.to && each.kind == link.kind; };
  auto found = std::find_if(links.begin(), links.end(), same);
  if (found == links.end()) {
    found = links.insert(links.end(), link);
  } else {
    found->rate += link.rate;
    found->nvlinks += link.nvlinks;
  }
  move_up(links, static_cast<std::size_t>(found - links.begin()));
}

void connect_both(NcclSystem& system, std::uint32_t a, std::uint32_t b, NcclLinkKind kind, std::int64_t rate,
                  std::int64_t nvlinks) {
  connect(system, a, {b, kind, rate, nvlinks});
  connect(system, b, {a, kind, rate, nvlinks});
}

std::uint32_t nvs_vertex(NcclSystem& system) {
  if (!system.nvs) { system.nvs = add_vertex(system, NcclDevice::nvs); }
  return *system.nvs;
}

void sort_links(NcclSystem& system) {
  std::set<std::uint32_t> seen;
  for (const NcclSystem::Cpu& cpu : system.cpus) { sort_below(system, cpu.vertex, seen); }
}

NcclSystem as_counted(NcclSystem system, const NcclVersion& version) {
  for (const NcclSystem::Gpu& gpu : system.gpus) {
    const auto one = nccl_nvlink_megabytes(compute_capability(gpu), version);
    if (!one) { continue; }
    for (NcclSystem::Link& link : system.vertices[gpu.vertex].links) {
      if (link.nvlinks == 0) { continue; }
      link.rate = link.nvlinks * *one;
      if (system.vertices[link.to].kind == NcclDevice::gpu) { continue; }
      for (NcclSystem::Link& back : system.vertices[link.to].links) {
        if (back.to == gpu.vertex && back.nvlinks > 0) { back.rate = back.nvlinks * *one; }
      }
    }
  }
  return system;
}

NcclSystem with_gpus(const NcclSystem& system, const std::vector<std::uint32_t>& ranks) {
  require(!ranks.empty(), "a node without a GPU that is used");
  NcclSystem part = system;
  std::set<std::uint32_t> gone;
  part.gpus.clear();
  for (NcclSystem::Gpu gpu : system.gpus) {
    const auto found = std::find(ranks.begin(), ranks.end(), gpu.rank);
    if (found == ranks.end()) {
      gone.insert(gpu.vertex);
      continue;
    }
    gpu.rank = static_cast<std::uint32_t>(found - ranks.begin());
    part.gpus.push_back(gpu);
  }
  require(part.gpus.size() == ranks.size(), "GPUs that are used are not there");
  remove_vertices(part, gone);
  for (std::size_t i = 0; i < part.gpus.size(); ++i) {
    part.vertices[part.gpus[i].vertex].number = static_cast<std::uint32_t>(i);
  }
  return part;
}

std::uint32_t most_merged_ports(const NcclVersion& version) {
  if (version < NcclVersion{2, 20, 0}) { return 1; }
  return version < NcclVersion{2, 24, 0} ? 2 : 4;
}

namespace {

std::uint32_t nic_of(const NcclSystem& system, const NcclSystem::Net& net) {
  return system.vertices[net.vertex].links.front().to;
}

/// What its NIC and its net count for the link between them.
void set_net_rate(NcclSystem& system, const NcclSystem::Net& net) {
  const auto set = [&](std::uint32_t from, std::uint32_t to) {
    for (NcclSystem::Link& link : system.vertices[from].links) {
      if (link.to == to && link.kind == NcclLinkKind::net) { link.rate = net.rate; }
    }
  };
  const std::uint32_t nic = nic_of(system, net);
  set(nic, net.vertex);
  set(net.vertex, nic);
}

}  // namespace

NcclSystem with_merged_ports(const NcclSystem& system, std::uint32_t most) {
  NcclSystem merged = system;
  merged.nets.clear();
  std::set<std::uint32_t> gone;
  for (const NcclSystem::Net& net : system.nets) {
    NcclSystem::Net* last = merged.nets.empty() ? nullptr : &merged.nets.back();
    const bool joins = last != nullptr && last->guid == net.guid && last->port != net.port &&
                       last->dev + last->ports == net.dev && last->ports < most;
    if (!joins) {
      merged.nets.push_back(net);
      continue;
    }
    last->rate += net.rate;
    ++last->ports;
    gone.insert(net.vertex);
    if (nic_of(system, net) != nic_of(system, *last)) { gone.insert(nic_of(system, net)); }
  }
  for (const NcclSystem::Net& net : merged.nets) { set_net_rate(merged, net); }
  if (gone.empty()) { return system; }
  remove_vertices(merged, gone);
  for (std::size_t i = 0; i < merged.nets.size(); ++i) {
    merged.vertices[merged.nets[i].vertex].number = static_cast<std::uint32_t>(i);
  }
  return merged;
}

}  // namespace athanor
