#include "models/nccl/machine/paths.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// What a link alone makes of a path.
NcclPath type_of(NcclLinkKind kind) {
  switch (kind) {
    case NcclLinkKind::loc:
    case NcclLinkKind::net: return NcclPath::loc;
    case NcclLinkKind::nvl: return NcclPath::nvl;
    case NcclLinkKind::c2c: return NcclPath::c2c;
    case NcclLinkKind::pci: return NcclPath::pix;
    case NcclLinkKind::sys: return NcclPath::sys;
  }
  return NcclPath::dis;
}

NcclPath joined(NcclPath a, NcclPath b) {
  const bool by_c2c = std::max(a, b) == NcclPath::phb && std::min(a, b) == NcclPath::c2c;
  return by_c2c ? NcclPath::p2c : std::max(a, b);
}

/// The bits below a power of two, in reverse.
std::uint32_t mirrored(std::uint32_t value, std::uint32_t power) {
  std::uint32_t mirror = 0;
  for (std::uint32_t bit = 1, other = power / 2; bit < power; bit *= 2, other /= 2) {
    if ((value & bit) != 0) { mirror |= other; }
  }
  return mirror;
}

/// The places of the best routes: the widest, and of those the ones of the best type.
template <class WayTo>
std::vector<std::uint32_t> best(std::size_t count, const WayTo& route_to) {
  std::vector<std::uint32_t> found;
  std::int64_t rate = 0;
  NcclPath type = NcclPath::dis;
  for (std::uint32_t i = 0; i < count; ++i) {
    const NcclRoute& route = route_to(i);
    if (route.type >= NcclPath::dis || route.rate < rate || (route.rate == rate && route.type > type)) { continue; }
    if (route.rate > rate || route.type < type) { found.clear(); }
    rate = route.rate;
    type = route.type;
    found.push_back(i);
  }
  return found;
}

constexpr std::uint32_t kMostChannels = 64;

}  // namespace

NcclPaths::NcclPaths(const NcclSystem& system, const SearchSettings& settings)
    : system_(as_counted(system, settings.version)), settings_(settings) {
  number_arcs();
  find_hosts();
  routes_.resize(system_.vertices.size() * system_.vertices.size());
  for (std::uint32_t v = 0; v < system_.vertices.size(); ++v) {
    const NcclDevice kind = system_.vertices[v].kind;
    if (kind != NcclDevice::pci && kind != NcclDevice::nic) { find_ways_to(v); }
  }
  divert_peers();
  mark_c2c();
  divert_nets();
}

void NcclPaths::number_arcs() {
  out_.resize(system_.vertices.size());
  for (std::uint32_t v = 0; v < system_.vertices.size(); ++v) {
    for (const NcclSystem::Link& link : system_.vertices[v].links) {
      out_[v].push_back(static_cast<std::uint32_t>(arcs_.size()));
      arcs_.push_back({v, link.to, link.kind, link.rate});
    }
  }
  for (const NcclArc& arc : arcs_) {
    const auto back = std::find_if(out_[arc.to].begin(), out_[arc.to].end(), [&](std::uint32_t other) {
      return arcs_[other].to == arc.from && arcs_[other].kind == arc.kind;
    });
    reverse_.push_back(back == out_[arc.to].end() ? std::nullopt : std::optional(*back));
  }
}

/// What hangs together by other links than NVLink is one.
void NcclPaths::find_hosts() {
  host_.assign(system_.vertices.size(), 0);
  std::vector<std::uint32_t> waiting;
  hosts_ = 0;
  for (const NcclSystem::Cpu& cpu : system_.cpus) {
    if (host_[cpu.vertex] != 0) { continue; }
    host_[cpu.vertex] = ++hosts_;
    waiting.push_back(cpu.vertex);
    while (!waiting.empty()) {
      const std::uint32_t at = waiting.back();
      waiting.pop_back();
      for (const std::uint32_t arc : out_[at]) {
        if (arcs_[arc].kind == NcclLinkKind::nvl || host_[arcs_[arc].to] != 0) { continue; }
        host_[arcs_[arc].to] = hosts_;
        waiting.push_back(arcs_[arc].to);
      }
    }
  }
}

void NcclPaths::find_ways_to(std::uint32_t base) {
  at(base, base) = {{}, kNcclLocal, NcclPath::loc};
  std::vector<std::uint32_t> level{base};
  while (!level.empty()) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t middle : level) {
      for (const std::uint32_t arc : out_[middle]) {
        const std::uint32_t from = arcs_[arc].to;
        if (!improve(base, middle, arc)) { continue; }
        if (std::find(next.begin(), next.end(), from) == next.end()) { next.push_back(from); }
      }
    }
    level = std::move(next);
  }
}

/// Whether the far end of `arc` comes better to `base` over it, backwards, and `middle`; then it will.
bool NcclPaths::improve(std::uint32_t base, std::uint32_t middle, std::uint32_t arc) {
  const NcclRoute& rest = route(middle, base);
  const NcclArc& link = arcs_[arc];
  const NcclDevice here = system_.vertices[middle].kind;
  const NcclDevice there = system_.vertices[link.to].kind;
  const bool relays = middle != base && here == NcclDevice::gpu;
  if (relays && (link.kind != NcclLinkKind::nvl || there != NcclDevice::gpu || rest.hops() > 1)) { return false; }
  if (!reverse_[arc]) { return false; }
  NcclPath type = type_of(link.kind);
  if (here == NcclDevice::pci && there == NcclDevice::pci) { type = NcclPath::pxb; }
  if (link.kind == NcclLinkKind::pci && (here == NcclDevice::cpu || there == NcclDevice::cpu)) { type = NcclPath::phb; }
  if (relays && rest.type == NcclPath::nvl) { type = NcclPath::nvb; }
  type = std::max(type, rest.type);
  const std::int64_t rate = std::min(rest.rate, link.rate);
  NcclRoute& known = at(link.to, base);
  const bool better =
      type < known.type ||
      (type == known.type && (rate > known.rate || (rate == known.rate && known.hops() > rest.hops() + 1)));
  if (!better) { return false; }
  NcclRoute found{{*reverse_[arc]}, rate, type};
  found.arcs.insert(found.arcs.end(), rest.arcs.begin(), rest.arcs.end());
  known = std::move(found);
  return true;
}

std::optional<std::uint32_t> NcclPaths::cpu_of(std::uint32_t gpu) const {
  std::optional<std::uint32_t> nearest;
  std::uint32_t hops = 0;
  for (const NcclSystem::Cpu& cpu : system_.cpus) {
    const NcclRoute& to_cpu = route(system_.gpus[gpu].vertex, cpu.vertex);
    if (to_cpu.hops() == 0 || (nearest && to_cpu.hops() >= hops)) { continue; }
    nearest = cpu.vertex;
    hops = to_cpu.hops();
  }
  return nearest;
}

void NcclPaths::send_by(std::uint32_t from, std::uint32_t middle, std::uint32_t to) {
  const NcclRoute first = route(from, middle);
  const NcclRoute second = route(middle, to);
  NcclRoute whole;
  if (first.type < NcclPath::dis && second.type < NcclPath::dis) {
    whole.arcs = first.arcs;
    whole.arcs.insert(whole.arcs.end(), second.arcs.begin(), second.arcs.end());
    whole.rate = std::min(first.rate, second.rate);
    whole.type = joined(first.type, second.type);
  }
  if (system_.vertices[middle].kind == NcclDevice::gpu) { whole.type = NcclPath::pxn; }
  at(from, to) = std::move(whole);
}

bool NcclPaths::peer_access(std::uint32_t from, std::uint32_t to) const {
  NcclPath level = NcclPath::pxb;
  const bool amd = system_.cpus.empty() ? false : system_.cpus.front().identity.vendor == "AuthenticAMD";
  if (amd && system_.gpus.size() <= 2) { level = NcclPath::sys; }
  const NcclPath type = gpu_to_gpu(from, to).type;
  const bool able = type <= NcclPath::nvb || (system_.gpus[from].peer && system_.gpus[to].peer);
  return able && type <= settings_.p2p_level.value_or(level);
}

void NcclPaths::divert_peers() {
  const auto gpus = static_cast<std::uint32_t>(system_.gpus.size());
  for (std::uint32_t to = 0; to < gpus; ++to) {
    const std::optional<std::uint32_t> cpu = cpu_of(to);
    for (std::uint32_t from = 0; from < gpus; ++from) {
      if (peer_access(from, to)) { continue; }
      if (cpu) { send_by(system_.gpus[from].vertex, *cpu, system_.gpus[to].vertex); }
    }
  }
}

/// A GPU whose nearest NICs are on its CPU reaches them over C2C as well as over PCIe.
void NcclPaths::mark_c2c() {
  for (std::uint32_t g = 0; g < system_.gpus.size(); ++g) {
    const std::optional<std::uint32_t> cpu = cpu_of(g);
    if (!cpu) { continue; }
    const std::uint32_t gpu = system_.gpus[g].vertex;
    for (const std::uint32_t n : local_nets(g)) {
      const std::uint32_t net = system_.nets[n].vertex;
      if (joined(route(gpu, *cpu).type, route(net, *cpu).type) != NcclPath::p2c) { continue; }
      at(gpu, net).type = std::min(NcclPath::p2c, route(gpu, net).type);
      at(net, gpu).type = std::min(NcclPath::p2c, route(net, gpu).type);
    }
  }
}

std::vector<std::uint32_t> NcclPaths::local_nets(std::uint32_t gpu) const {
  return best(system_.nets.size(), [&](std::uint32_t net) -> const NcclRoute& { return gpu_to_net(gpu, net); });
}
std::vector<std::uint32_t> NcclPaths::local_gpus(std::uint32_t net) const {
  return best(system_.gpus.size(), [&](std::uint32_t gpu) -> const NcclRoute& { return net_to_gpu(net, gpu); });
}

std::optional<std::uint32_t> NcclPaths::local_net(std::uint32_t gpu, std::uint32_t channel) const {
  const std::vector<std::uint32_t> nets = local_nets(gpu);
  if (nets.empty()) { return std::nullopt; }
  const std::vector<std::uint32_t> gpus = local_gpus(nets.front());
  const auto count = static_cast<std::uint32_t>(nets.size());
  const auto sharers = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(gpus.size()));
  std::uint32_t start = system_.gpus[gpu].dev % sharers;
  if (std::has_single_bit(count)) { start = mirrored(start, count); }
  return nets[(start + channel % ((count + sharers - 1) / sharers)) % count];
}

std::optional<std::uint32_t> NcclPaths::local_gpu(std::uint32_t net) const {
  const std::vector<std::uint32_t> gpus = local_gpus(net);
  for (std::uint32_t channel = 0; channel < kMostChannels; ++channel) {
    for (const std::uint32_t gpu : gpus) {
      if (local_net(gpu, channel) == net) { return gpu; }
    }
  }
  return std::nullopt;
}

std::uint32_t NcclPaths::sender(std::uint32_t gpu, std::uint32_t net) const {
  const NcclRoute& out = gpu_to_net(gpu, net);
  if (out.type != NcclPath::pxn) { return gpu; }
  for (const std::uint32_t arc : out.arcs) {
    const NcclSystem::Vertex& vertex = system_.vertices[arcs_[arc].to];
    if (vertex.kind == NcclDevice::gpu) { return vertex.number; }
  }
  require(false, "a route by another GPU without one");
  return gpu;
}

bool NcclPaths::gpu_direct(std::uint32_t gpu, std::uint32_t net, bool sends) const {
  const NcclSystem::Gpu& device = system_.gpus[gpu];
  if (!system_.nets[net].gdr || !device.gdr || !settings_.network_gpu_direct) { return false; }
  if (sends && compute_capability(device) < 80 && system_.gpus.size() > 1) {
    bool nvlink = false;
    for (std::uint32_t other = 0; other < system_.gpus.size(); ++other) {
      nvlink = nvlink || (other != gpu && gpu_to_gpu(gpu, other).type == NcclPath::nvl);
    }
    if (!nvlink) { return false; }
  }
  return gpu_to_net(sender(gpu, net), net).type <= settings_.gdr_level.value_or(NcclPath::p2c);
}

void NcclPaths::relay(std::uint32_t gpu, std::uint32_t net) {
  const std::optional<std::uint32_t> beside = local_gpu(net);
  if (!settings_.pxn || !beside || *beside == gpu) { return; }
  const NcclRoute& theirs = gpu_to_net(*beside, net);
  const NcclRoute& mine = gpu_to_net(gpu, net);
  const std::uint32_t there = system_.gpus[*beside].vertex;
  const std::uint32_t here = system_.gpus[gpu].vertex;
  const bool near = theirs.type <= NcclPath::pxb && gpu_direct(*beside, net, true);
  const bool by_nvlink = gpu_to_gpu(*beside, gpu).type <= NcclPath::nvl && host_[there] == host_[here];
  if (near && by_nvlink && (theirs.rate > mine.rate || mine.type > NcclPath::pxn)) {
    send_by(here, there, system_.nets[net].vertex);
  }
}

void NcclPaths::divert_nets() {
  for (std::uint32_t net = 0; net < system_.nets.size(); ++net) {
    for (std::uint32_t gpu = 0; gpu < system_.gpus.size(); ++gpu) {
      relay(gpu, net);
      if (gpu_to_net(gpu, net).type >= NcclPath::phb || gpu_direct(gpu, net, false)) { continue; }
      const std::optional<std::uint32_t> cpu = cpu_of(gpu);
      if (!cpu) { continue; }
      send_by(system_.nets[net].vertex, *cpu, system_.gpus[gpu].vertex);
      send_by(system_.gpus[gpu].vertex, *cpu, system_.nets[net].vertex);
    }
  }
}

}  // namespace athanor
