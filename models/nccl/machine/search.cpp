#include "models/nccl/machine/search.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "models/nccl/machine/link_rates.hpp"
#include "models/nccl/machine/mesh.hpp"
#include "models/nccl/machine/walk.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostRings = 32;
constexpr std::uint32_t kMostNvlsHeads = 32;
constexpr std::uint32_t kMostDirectHeads = 8;
constexpr std::int64_t kAllBudget = 1 << 19;
constexpr int kBudget = 1 << 14;
constexpr int kSameChannelsBudget = 1 << 8;
constexpr std::int64_t kFallback = 100;  // MB/s

NcclPath next(NcclPath type) { return static_cast<NcclPath>(static_cast<std::uint8_t>(type) + 1); }

/// Of a GPU: its NVLinks, or its PCIe port where that is more; where it has neither, its way to the CPU's chip.
std::int64_t rate_of_all_links(const NcclSystem& system, std::uint32_t gpu) {
  std::int64_t nvlink = 0;
  std::int64_t pci = 0;
  std::int64_t c2c = 0;
  for (const NcclSystem::Link& link : system.vertices[system.gpus[gpu].vertex].links) {
    if (link.kind == NcclLinkKind::nvl) { nvlink += link.rate; }
    if (link.kind == NcclLinkKind::pci) { pci = link.rate; }
    if (link.kind == NcclLinkKind::c2c) { c2c = link.rate; }
  }
  return nvlink + pci > 0 ? std::max(nvlink, pci) : c2c;
}

/// Searches one graph.
class GraphSearch {
 public:
  GraphSearch(const NcclPaths& paths, ChannelWalk& walk, bool across, const SearchSettings& settings)
      : paths_(paths),
        walk_(walk),
        across_(across),
        settings_(settings),
        gpus_(static_cast<std::uint32_t>(paths.system().gpus.size())),
        capability_(least_compute_capability(paths.system())),
        speeds_(search_speeds(capability_, across, settings.version)) {
    find_limits();
  }

  GraphDraft find(NcclPattern pattern, std::uint32_t least, std::uint32_t most, bool collnet);

 private:
  void find_limits();
  void find_types();
  void start(NcclPattern pattern, std::uint32_t least, std::uint32_t most, bool collnet);
  int search();
  bool saturated() const { return reaches_total(best_.count() * best_.inter); }
  /// `rate` against what a GPU has in all; patterns that do not return may count what returning would cost.
  bool reaches_total(std::int64_t rate) const {
    return not_ring_ ? rate * (gpus_ - 1) >= total_ * gpus_ : rate >= total_;
  }
  bool above_total(std::int64_t rate) const { return not_ring_ ? rate * (gpus_ - 1) > total_ * gpus_ : rate > total_; }
  bool relax(int left);
  bool relax_pattern();
  bool relax_types();
  bool relax_cross_nic();
  /// From 2.20 on channels that change NICs do so in pairs, and 1 has all change; before, 1 and 2 alike let each change
  /// where that helps, without a partner.
  bool pairs_nics() const { return settings_.version >= NcclVersion{2, 20, 0}; }
  std::uint32_t least_cross_nic() const { return cross_nic_ == 1 && pairs_nics() ? 1 : 0; }
  bool lower_speed();
  void first_pass();
  void duplicate();
  void second_pass();
  bool raise();
  void fall_back();
  std::uint32_t splits() const;

  const NcclPaths& paths_;
  ChannelWalk& walk_;
  bool across_;
  const SearchSettings& settings_;
  std::uint32_t gpus_;
  std::uint32_t capability_;
  std::span<const std::int64_t> speeds_;
  std::int64_t widest_ = 0;  // of all paths of one channel
  std::int64_t total_ = 0;   // of one GPU
  NcclPath least_intra_ = NcclPath::loc, most_intra_ = NcclPath::sys;
  NcclPath least_inter_ = NcclPath::pix, most_inter_ = NcclPath::sys;

  bool not_ring_ = false;
  bool try_same_ = true;
  std::uint32_t cross_nic_ = 0;
  std::size_t speed_ = 0;
  std::int64_t budget_ = kAllBudget;
  GraphDraft asked_;
  GraphDraft best_;
};

void GraphSearch::find_limits() {
  const NcclSystem& system = paths_.system();
  if (!across_ && gpus_ == 1) {
    widest_ = total_ = kNcclLocal;
    return;
  }
  for (std::uint32_t g = 0; g < gpus_; ++g) {
    const auto targets = static_cast<std::uint32_t>(across_ ? system.nets.size() : system.gpus.size());
    for (std::uint32_t t = 0; t < targets; ++t) {
      const NcclRoute& route = across_ ? paths_.gpu_to_net(g, t) : paths_.gpu_to_gpu(g, t);
      if (route.hops() > 0) { widest_ = std::max(widest_, route.rate); }
    }
    total_ = std::max(total_, rate_of_all_links(system, g));
  }
}

void GraphSearch::find_types() {
  least_intra_ = gpus_ > 1 ? NcclPath::sys : NcclPath::loc;
  most_intra_ = gpus_ > 1 ? NcclPath::loc : NcclPath::sys;
  least_inter_ = across_ ? NcclPath::sys : NcclPath::pix;
  most_inter_ = across_ ? NcclPath::loc : NcclPath::sys;
  for (std::uint32_t a = 0; a < gpus_; ++a) {
    for (std::uint32_t b = 0; b < gpus_; ++b) {
      if (a == b) { continue; }
      least_intra_ = std::min(least_intra_, paths_.gpu_to_gpu(a, b).type);
      most_intra_ = std::max(most_intra_, paths_.gpu_to_gpu(a, b).type);
    }
    for (std::uint32_t net = 0; across_ && net < paths_.system().nets.size(); ++net) {
      least_inter_ = std::min(least_inter_, paths_.gpu_to_net(a, net).type);
      most_inter_ = std::max(most_inter_, paths_.gpu_to_net(a, net).type);
    }
  }
  if (across_) { most_intra_ = most_inter_; }
  // Balanced trees have to return by SYS or PHB at times.
  if (capability_ < 90) { most_inter_ = NcclPath::sys; }
}

/// Groups of at least two GPUs on NVLink.
std::uint32_t GraphSearch::splits() const {
  std::vector<std::uint32_t> domain(gpus_);
  std::iota(domain.begin(), domain.end(), 0);
  for (std::uint32_t a = 0; a < gpus_; ++a) {
    for (std::uint32_t b = a + 1; b < gpus_; ++b) {
      if (paths_.gpu_to_gpu(a, b).type == NcclPath::nvl) { domain[b] = domain[a]; }
    }
  }
  std::uint32_t groups = 0;
  for (std::uint32_t d = 0; d < gpus_; ++d) { groups += std::count(domain.begin(), domain.end(), d) > 1 ? 1 : 0; }
  return groups;
}

void GraphSearch::start(NcclPattern pattern, std::uint32_t least, std::uint32_t most, bool collnet) {
  find_types();
  const bool crosses = pattern == NcclPattern::ring || pattern == NcclPattern::balanced_tree;
  cross_nic_ = across_ && crosses && paths_.system().nets.size() > 1 ? settings_.cross_nic : 0;
  try_same_ = pattern != NcclPattern::nvls;
  budget_ = kAllBudget;
  best_ = {};
  best_.pattern = gpus_ == 1 && pattern != NcclPattern::ring ? NcclPattern::tree : pattern;
  best_.cross_nic = least_cross_nic();
  best_.collnet = collnet;
  best_.min_channels = least;
  best_.max_channels = most;
  best_.type_intra = least_intra_;
  best_.type_inter = least_inter_;
  best_.same_channels = try_same_;
  not_ring_ = gpus_ > 1 && best_.pattern != NcclPattern::ring;
  if (best_.pattern == NcclPattern::ring && splits() == 2 && most >= 2 && least == 1) { best_.min_channels = 2; }
  asked_ = best_;
  speed_ = 0;
  while (speed_ + 1 < speeds_.size() &&
         (speeds_[speed_] > widest_ || above_total(speeds_[speed_] * best_.min_channels))) {
    ++speed_;
  }
  asked_.intra = asked_.inter = speeds_[speed_];
}

int GraphSearch::search() {
  const int budget = asked_.same_channels ? kSameChannelsBudget : kBudget;
  budget_ -= budget;
  return walk_.run(asked_, best_, budget);
}

GraphDraft GraphSearch::find(NcclPattern pattern, std::uint32_t least, std::uint32_t most, bool collnet) {
  start(pattern, least, most, collnet);
  first_pass();
  duplicate();
  second_pass();
  if (best_.channels.empty() && !collnet && best_.pattern != NcclPattern::nvls) { fall_back(); }
  return best_;
}

void GraphSearch::first_pass() {
  while (true) {
    const int left = search();
    if (left == -1 || saturated() || !relax(left)) { return; }
  }
}

/// Makes the next weaker demand; false where there is none.
bool GraphSearch::relax(int left) {
  const CpuIdentity cpu = paths_.system().cpus.empty() ? CpuIdentity{} : paths_.system().cpus.front().identity;
  const bool by_amd = cpu.vendor == "AuthenticAMD" && asked_.type_intra == NcclPath::sys;
  if (asked_.same_channels && !by_amd) {
    asked_.same_channels = false;
    return true;
  }
  asked_.same_channels = try_same_;
  budget_ = left == -1 ? kAllBudget : budget_ + left;
  if (budget_ < 0 && !best_.channels.empty()) { return false; }
  return relax_pattern() || relax_types() || relax_cross_nic() || lower_speed();
}

bool GraphSearch::relax_pattern() {
  if (capability_ >= 90 && asked_.pattern == NcclPattern::balanced_tree) {
    asked_.pattern = NcclPattern::tree;
    return true;
  }
  asked_.pattern = best_.pattern;
  return false;
}

bool GraphSearch::relax_types() {
  const bool none = best_.channels.empty();
  const NcclPath most_intra = across_ ? asked_.type_inter : most_intra_;
  if (asked_.type_intra < most_intra && (none || asked_.type_intra < best_.type_intra)) {
    asked_.type_intra = next(asked_.type_intra);
    if (asked_.type_intra < NcclPath::dis) { return true; }
  }
  asked_.type_intra = least_intra_;
  if (across_ && asked_.type_inter < most_inter_ &&
      (none || asked_.type_inter < best_.type_inter || asked_.type_inter < NcclPath::pxn)) {
    asked_.type_inter = next(asked_.type_inter);
    if (asked_.type_inter < NcclPath::dis) { return true; }
  }
  asked_.type_inter = least_inter_;
  return false;
}

bool GraphSearch::relax_cross_nic() {
  const bool crosses = best_.pattern == NcclPattern::ring || best_.pattern == NcclPattern::balanced_tree;
  const bool may = pairs_nics() ? cross_nic_ == 2 : cross_nic_ > 0;
  if (may && asked_.cross_nic == 0 && crosses) {
    asked_.cross_nic = pairs_nics() ? 2 : 1;
    return true;
  }
  asked_.cross_nic = least_cross_nic();
  return false;
}

bool GraphSearch::lower_speed() {
  if (speed_ + 1 >= speeds_.size()) { return false; }
  if (!best_.channels.empty() && speeds_[speed_ + 1] * 100 <= best_.inter * 49) { return false; }
  asked_.intra = asked_.inter = speeds_[++speed_];
  return true;
}

/// Two channels of half the rate each keep more thread blocks busy than one.
void GraphSearch::duplicate() {
  if (best_.channels.empty() || best_.pattern == NcclPattern::nvls || best_.intra < 25'000) { return; }
  if (capability_ > 80 && best_.intra < 50'000 && best_.count() > 4) { return; }
  const auto before = best_.channels.size();
  const std::size_t after = std::min<std::size_t>(before * 2, best_.max_channels);
  for (std::size_t c = before; c < after; ++c) { best_.channels.push_back(best_.channels[c - before]); }
  const auto share = static_cast<std::int64_t>((after + before - 1) / before);
  best_.intra /= share;
  best_.inter /= share;
}

void GraphSearch::second_pass() {
  asked_ = best_;
  speed_ = 0;
  while (speed_ + 1 < speeds_.size() && speeds_[speed_] > best_.inter) { ++speed_; }
  asked_.intra = asked_.inter = speeds_[speed_];
  asked_.min_channels = static_cast<std::uint32_t>(best_.channels.size());
  int left = -1;
  while (left != 0 && speed_ > 0 && raise()) { left = search(); }
}

/// Asks for more of the same channels; false where that would not help.
bool GraphSearch::raise() {
  if (best_.pattern == NcclPattern::ring) {
    asked_.intra = asked_.inter = speeds_[--speed_];
    return true;
  }
  if (best_.pattern == NcclPattern::nvls && asked_.inter == best_.inter && asked_.inter < asked_.intra * 2) {
    asked_.min_channels = asked_.max_channels = static_cast<std::uint32_t>(best_.channels.size());
    asked_.inter = speeds_[--speed_];
    return true;
  }
  if (asked_.intra == best_.intra && asked_.intra < asked_.inter * 2) {
    asked_.intra = speeds_[--speed_];
    return true;
  }
  return false;
}

void GraphSearch::fall_back() {
  GraphDraft::Channel channel;
  channel.gpus.resize(gpus_);
  std::iota(channel.gpus.begin(), channel.gpus.end(), 0);
  best_.intra = kFallback;
  best_.type_intra = NcclPath::sys;
  const std::vector<std::uint32_t> in = walk_.nets(std::nullopt, 0);
  const std::vector<std::uint32_t> out = walk_.nets(std::nullopt, gpus_ - 1);
  const bool leaves = across_ && !in.empty() && !out.empty();
  best_.inter = leaves ? kFallback : 0;
  best_.type_inter = leaves ? NcclPath::sys : NcclPath::dis;
  if (leaves) {
    channel.in = in.front();
    channel.out = out.front();
  }
  best_.channels = {std::move(channel)};
}

bool names_head_only(NcclPattern pattern) {
  return pattern == NcclPattern::nvls || pattern == NcclPattern::collnet_direct;
}

ChannelGraph made(const GraphDraft& draft, const NcclSystem& system, bool across) {
  ChannelGraph graph;
  graph.pattern = draft.pattern;
  graph.cross_nic = draft.cross_nic;
  graph.speed_intra = static_cast<double>(draft.intra) / 1000;
  graph.speed_inter = static_cast<double>(draft.inter) / 1000;
  graph.latency_inter = draft.latency;
  graph.type_intra = draft.type_intra;
  graph.type_inter = draft.type_inter;
  graph.same_channels = draft.same_channels;
  for (const GraphDraft::Channel& channel : draft.channels) {
    NcclChannel found;
    if (across && draft.type_inter < NcclPath::dis) {
      found.in = system.nets[channel.in].dev;
      found.out = system.nets[names_head_only(draft.pattern) ? channel.in : channel.out].dev;
    }
    const std::size_t named = names_head_only(draft.pattern) ? 1 : channel.gpus.size();
    for (std::size_t i = 0; i < named; ++i) { found.gpus.push_back(system.gpus[channel.gpus[i]].rank); }
    graph.channels.push_back(std::move(found));
  }
  return graph;
}

}  // namespace

ChannelGraphs search_channels(const NcclSystem& system, std::uint32_t nodes, const SearchSettings& settings) {
  require(!system.gpus.empty() && nodes > 0, "nothing to search channels on");
  const bool across = nodes > 1;
  const NcclPaths paths(system, settings);
  if (auto known = xgmi_mesh_graphs(paths, across)) { return std::move(*known); }
  ChannelWalk walk(paths, across);
  GraphSearch search(paths, walk, across, settings);
  const auto gpus = static_cast<std::uint32_t>(system.gpus.size());
  const auto find = [&](NcclPattern pattern, std::uint32_t least, std::uint32_t most, bool collnet) {
    return made(search.find(pattern, least, most, collnet), system, across);
  };
  ChannelGraphs graphs;
  graphs.ring = find(NcclPattern::ring, 1, kMostRings, false);
  const std::uint32_t rings = graphs.ring.count();
  graphs.tree = find(NcclPattern::balanced_tree, rings, rings, false);
  if (settings.collnet && across) {
    graphs.collnet_chain = find(NcclPattern::tree, rings, rings, true);
    graphs.collnet_direct = find(NcclPattern::collnet_direct, 1, std::min(kMostDirectHeads, gpus), true);
  }
  if (settings.nvls && system.nvs && gpus > 1 && least_compute_capability(system) >= 90) {
    const std::uint32_t heads = std::min(kMostNvlsHeads, gpus);
    graphs.nvls = find(NcclPattern::nvls, across ? 1 : heads, heads, false);
  }
  return graphs;
}

}  // namespace athanor
