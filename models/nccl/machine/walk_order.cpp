#include <algorithm>
#include <compare>

#include "models/nccl/machine/walk.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kGigabyte = 1'000;  // MB/s
/// Below it a GPU that a NIC writes to loses an eighth of that rate the other way.
constexpr std::uint32_t kAmpere = 80;
constexpr std::uint32_t kMostChannels = 64;

bool is_tree(NcclPattern pattern) {
  return pattern == NcclPattern::tree || pattern == NcclPattern::split_tree || pattern == NcclPattern::balanced_tree;
}

void add_once(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) { list.push_back(value); }
}

/// What makes a GPU a good next one, in whole GB/s as NCCL compares: less is better, the first entry counts most.
struct Merit {
  std::int64_t net_rate = 0;
  std::int64_t pci_rate = 0;
  std::uint32_t net_hops = 0;
  std::int64_t rate = 0;
  std::uint32_t hops = 0;
  std::uint32_t distance = 0;
  std::uint32_t gpu = 0;
  auto operator<=>(const Merit&) const = default;
};

/// The nets that a GPU uses on its channels, until the first comes again.
std::vector<std::uint32_t> preferred(const NcclPaths& paths, std::uint32_t gpu) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t channel = 0; channel < kMostChannels; ++channel) {
    const auto net = paths.local_net(gpu, channel);
    if (!net || (!found.empty() && *net == found.front())) { break; }
    found.push_back(*net);
  }
  return found;
}

/// One GPU after the other; where the node is several hosts, the first choice of all GPUs comes before their second.
std::vector<std::uint32_t> preferred_of_all(const NcclPaths& paths, const std::vector<std::uint32_t>& gpus) {
  std::vector<std::vector<std::uint32_t>> choices;
  std::size_t most = 0;
  for (const std::uint32_t gpu : gpus) {
    choices.push_back(preferred(paths, gpu));
    most = std::max(most, choices.back().size());
  }
  std::vector<std::uint32_t> found;
  if (paths.hosts() > 1) {
    for (std::size_t i = 0; i < most; ++i) {
      for (const auto& choice : choices) {
        if (i < choice.size()) { add_once(found, choice[i]); }
      }
    }
    return found;
  }
  for (const auto& choice : choices) {
    for (const std::uint32_t net : choice) { add_once(found, net); }
  }
  return found;
}

}  // namespace

const std::vector<std::uint32_t>& ChannelWalk::nets(std::optional<NcclPath> within, std::optional<std::uint32_t> gpu) {
  const std::size_t types = static_cast<std::size_t>(NcclPath::dis) + 1;
  const std::size_t type = within ? static_cast<std::size_t>(*within) + 1 : 0;
  nets_.resize((types + 1) * (gpus_ + 1));
  std::optional<std::vector<std::uint32_t>>& known = nets_[type * (gpus_ + 1) + (gpu ? *gpu + 1 : 0)];
  if (known) { return *known; }
  std::vector<std::uint32_t> gpus;
  for (Gpu each = 0; each < gpus_; ++each) {
    if (!gpu || *gpu == each) { gpus.push_back(each); }
  }
  std::vector<std::uint32_t> found = preferred_of_all(paths_, gpus);
  for (std::size_t t = 0; t < type; ++t) {
    for (const Gpu each : gpus) {
      for (std::uint32_t net = 0; net < net_free_.size(); ++net) {
        if (static_cast<std::size_t>(paths_.gpu_to_net(each, net).type) == t) { add_once(found, net); }
      }
    }
  }
  known = std::move(found);
  return *known;
}

std::int64_t ChannelWalk::pci_rate(Gpu gpu) const {
  const auto& vertices = paths_.system().vertices;
  for (const NcclSystem::Link& link : vertices[gpu_vertex(gpu)].links) {
    if (link.kind != NcclLinkKind::pci) { continue; }
    for (const NcclSystem::Link& back : vertices[link.to].links) {
      if (back.to == gpu_vertex(gpu)) { return std::min(link.rate, back.rate) / kGigabyte; }
    }
  }
  return -1;
}

std::vector<ChannelWalk::Candidate> ChannelWalk::rank(Gpu gpu, bool to_net) const {
  std::vector<Merit> merits;
  for (std::uint32_t distance = 1; distance < gpus_; ++distance) {
    const Gpu next = (gpu + distance) % gpus_;
    const NcclRoute& route = paths_.gpu_to_gpu(gpu, next);
    if (route.hops() == 0) { continue; }
    Merit merit{0, 0, 0, -(route.rate / kGigabyte), route.hops(), distance, next};
    if (to_net) {
      const NcclRoute& from_net = paths_.net_to_gpu(current().in, next);
      merit.net_rate = -(from_net.rate / kGigabyte);
      merit.pci_rate = -pci_rate(next);
      merit.net_hops = from_net.hops();
    }
    merits.push_back(merit);
  }
  std::sort(merits.begin(), merits.end());
  std::vector<Candidate> found;
  found.reserve(merits.size());
  for (const Merit& merit : merits) { found.push_back({merit.gpu, -merit.rate, merit.hops}); }
  return found;
}

const std::vector<ChannelWalk::Candidate>& ChannelWalk::ranked(Gpu gpu, bool to_net) {
  std::vector<Candidate>& known = ranked_[(to_net ? current().in + 1 : 0) * gpus_ + gpu];
  if (known.empty()) { known = rank(gpu, to_net); }
  return known;
}

void ChannelWalk::find_candidates(Gpu gpu, std::uint32_t step, const Goals& goals, Order order,
                                  std::vector<Gpu>& found) {
  found.clear();
  if (order == Order::by_number) {
    found.push_back(step + 1);
  } else if (order == Order::as_before) {
    found.push_back(draft_.channels[placed_ - 1].gpus[step + 1]);
  } else if (paths_.system().nvs) {
    find_neighbours(gpu, found);
  } else {
    const std::vector<Candidate>& all = ranked(gpu, goals.net.has_value());
    const Candidate* first = nullptr;
    bool alike = true;
    for (const Candidate& each : all) {
      if (used(each.gpu)) { continue; }
      found.push_back(each.gpu);
      alike = alike && (first == nullptr || (each.rate == first->rate && each.hops == first->hops));
      first = first == nullptr ? &each : first;
    }
    if (goals.net && *goals.net != step + 1 && alike) { std::reverse(found.begin(), found.end()); }
  }
}

/// NVSwitches do best where each GPU talks to few: only those beside it are tried.
void ChannelWalk::find_neighbours(Gpu gpu, std::vector<Gpu>& found) const {
  const Gpu before = (gpu + gpus_ - 1) % gpus_;
  const Gpu after = (gpu + 1) % gpus_;
  const auto add = [&](Gpu next) {
    if (!used(next) && paths_.gpu_to_gpu(gpu, next).hops() > 0) { add_once(found, next); }
  };
  const bool ring = draft_.pattern == NcclPattern::ring;
  if (ring) { add(before); }
  add(after);
  if (draft_.pattern == NcclPattern::split_tree || draft_.pattern == NcclPattern::balanced_tree) { add(before); }
}

bool ChannelWalk::may_take(std::uint32_t from, std::uint32_t to) const {
  const auto inside = [&](std::uint32_t vertex) {
    const NcclDevice kind = paths_.system().vertices[vertex].kind;
    return kind == NcclDevice::gpu || kind == NcclDevice::nvs;
  };
  const NcclPath most = inside(from) && inside(to) ? draft_.type_intra : draft_.type_inter;
  if (paths_.route(from, to).type > most) { return false; }
  return !is_tree(draft_.pattern) || paths_.route(to, from).type <= most;
}

bool ChannelWalk::take(std::uint32_t from, std::uint32_t to, std::int64_t rate, std::int64_t times,
                       std::int64_t parts) {
  const NcclRoute& route = paths_.route(from, to);
  if (route.type >= NcclPath::dis) { return false; }
  const std::int64_t share = (rate * times + parts / 2) / parts;
  const std::uint32_t taken = charge(route, from, share, route.hops(), true);
  if (taken == route.hops()) { return true; }
  charge(route, from, -share, taken, false);
  return false;
}

void ChannelWalk::give_back(std::uint32_t from, std::uint32_t to, std::int64_t rate, std::int64_t times,
                            std::int64_t parts) {
  const NcclRoute& route = paths_.route(from, to);
  charge(route, from, -(rate * times + parts / 2) / parts, route.hops(), false);
}

/// Intel's root complexes pass on less between devices than their ports would carry.
bool ChannelWalk::loaded_by_root_complex(const NcclRoute& route, std::uint32_t from) const {
  const NcclSystem& system = paths_.system();
  if (route.type != NcclPath::phb || system.vertices[from].kind != NcclDevice::gpu) { return false; }
  return std::any_of(route.arcs.begin(), route.arcs.end(), [&](std::uint32_t arc) {
    const NcclSystem::Vertex& vertex = system.vertices[paths_.arcs()[arc].to];
    if (vertex.kind != NcclDevice::cpu) { return false; }
    const CpuIdentity& cpu = system.cpus[vertex.number].identity;
    return cpu.arch == "x86_64" && cpu.vendor == "GenuineIntel";
  });
}

/// What a link costs in the other direction.
std::int64_t ChannelWalk::reverse_charge(const NcclArc& arc, std::uint32_t from, std::int64_t forward) const {
  const NcclSystem& system = paths_.system();
  const NcclSystem::Vertex& to = system.vertices[arc.to];
  if (to.kind == NcclDevice::gpu && system.vertices[from].kind != NcclDevice::gpu) {
    return compute_capability(system.gpus[to.number]) < kAmpere ? forward / 8 : 0;
  }
  const bool power = to.kind == NcclDevice::cpu && system.cpus[to.number].identity.arch == "ppc64";
  return power && arc.kind == NcclLinkKind::nvl ? forward : 0;
}

/// Charges `rate` to the first links of a route; returns to how many, where the next has too little left.
std::uint32_t ChannelWalk::charge(const NcclRoute& route, std::uint32_t from, std::int64_t rate, std::uint32_t steps,
                                  bool check) {
  const std::int64_t pci = loaded_by_root_complex(route, from) ? rate * 6 / 5 : rate;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint32_t number = route.arcs[step];
    const NcclArc& arc = paths_.arcs()[number];
    const std::int64_t forward = arc.kind == NcclLinkKind::pci ? pci : rate;
    const std::int64_t backward = charges_back_ ? reverse_charge(arc, from, forward) : 0;
    const auto reverse = paths_.reverse(number);
    if (check && (free_[number] < forward || (backward > 0 && free_[*reverse] < backward))) { return step; }
    free_[number] -= forward;
    if (backward != 0) { free_[*reverse] -= backward; }
  }
  return steps;
}

void ChannelWalk::count_hops(std::uint32_t from, std::uint32_t to, int sign) {
  draft_.hops += sign * static_cast<std::int64_t>(paths_.route(from, to).hops());
}

}  // namespace athanor
