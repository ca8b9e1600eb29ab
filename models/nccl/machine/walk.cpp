#include "models/nccl/machine/walk.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Of the first visits along the order of the GPUs, which set a reference and count for nothing.
constexpr int kReferenceBudget = 1 << 10;
constexpr std::int64_t kGigabyte = 1'000;  // MB/s
/// Below it a GPU that a NIC writes to loses an eighth of that rate the other way.
constexpr std::uint32_t kAmpere = 80;

}  // namespace

ChannelWalk::ChannelWalk(const NcclPaths& paths, bool across)
    : paths_(paths), across_(across), gpus_(static_cast<std::uint32_t>(paths.system().gpus.size())) {
  for (const NcclArc& arc : paths.arcs()) { free_.push_back(arc.rate); }
  for (const NcclSystem::Net& net : paths.system().nets) { net_free_.push_back(net.rate); }
  used_.resize(gpus_);
  ranked_.resize((net_free_.size() + 1) * gpus_);
  for (std::uint32_t net = 0; across && net < net_free_.size(); ++net) {
    nearest_.push_back(paths.local_gpu(net));
    beside_.push_back(paths.local_gpus(net));
  }
  for (const NcclSystem::Gpu& gpu : paths.system().gpus) {
    charges_back_ = charges_back_ || compute_capability(gpu) < kAmpere;
  }
  for (const NcclSystem::Cpu& cpu : paths.system().cpus) {
    charges_back_ = charges_back_ || cpu.identity.arch == "ppc64";
  }
}

int ChannelWalk::run(const GraphDraft& asked, GraphDraft& best, int budget) {
  draft_ = asked;
  draft_.channels.assign(asked.max_channels + 1, {0, 0, std::vector<Gpu>(gpus_)});
  choices_.resize(std::max<std::size_t>(choices_.size(), draft_.channels.size() * gpus_));
  best_ = &best;
  placed_ = 0;
  next_channel(budget);
  require(placed_ == 0, "the walk ended within a channel");
  return budget;
}

ChannelWalk::Goals ChannelWalk::goals() const {
  if (!across_) {
    return {std::nullopt, draft_.pattern == NcclPattern::ring ? std::optional(gpus_ - 1) : std::nullopt};
  }
  if (draft_.pattern == NcclPattern::ring) { return {gpus_ - 1, std::nullopt}; }
  return {draft_.pattern == NcclPattern::split_tree ? 1U : 0U, std::nullopt};
}

void ChannelWalk::next_channel(int& budget) {
  if (across_) {
    from_nets(budget);
  } else {
    from_gpus(budget);
  }
}

void ChannelWalk::from_gpus(int& budget) {
  if (draft_.pattern == NcclPattern::nvls) {
    if (placed_ < gpus_) { try_gpu(std::nullopt, static_cast<Gpu>(placed_), 0, goals(), Order::free, budget); }
    return;
  }
  if (placed_ == 0) {
    try_gpu(std::nullopt, 0, 0, goals(), Order::by_number, budget);
  } else {
    try_gpu(std::nullopt, draft_.channels[placed_ - 1].gpus.front(), 0, goals(), Order::as_before, budget);
  }
  if (draft_.same_channels && placed_ > 0) { return; }
  for (Gpu gpu = 0; gpu < gpus_; ++gpu) { try_gpu(std::nullopt, gpu, 0, goals(), Order::free, budget); }
}

bool ChannelWalk::same_port(std::uint32_t a, std::uint32_t b) const {
  const std::vector<NcclSystem::Net>& nets = paths_.system().nets;
  return nets[a].guid == nets[b].guid && nets[a].port == nets[b].port;
}

bool ChannelWalk::reduces(std::uint32_t net) const { return paths_.system().nets[net].reduces.value_or(true); }

bool ChannelWalk::may_enter_by(std::uint32_t net, std::int64_t rate) const {
  if ((draft_.collnet && !reduces(net)) || net_free_[net] < rate) { return false; }
  const bool paired = draft_.pattern == NcclPattern::ring && draft_.cross_nic == 2 && placed_ % 2 == 1;
  return !paired || net == draft_.channels[placed_ - 1].out;
}

/// All nets that are one port share what it has.
void ChannelWalk::take_from_port(std::uint32_t net, std::int64_t rate) {
  for (std::uint32_t n = 0; n < net_free_.size(); ++n) { net_free_[n] -= same_port(n, net) ? rate : 0; }
}

void ChannelWalk::from_nets(int& budget) {
  // Whole GB/s, as NCCL counts ports.
  const std::int64_t rate = draft_.inter / kGigabyte * kGigabyte;
  const std::vector<std::uint32_t>& choice = nets(draft_.type_inter, std::nullopt);
  const bool heads = draft_.pattern == NcclPattern::nvls || draft_.pattern == NcclPattern::collnet_direct;
  bool found = false;
  for (std::size_t i = 0; i < choice.size() && !(heads && found); ++i) {
    const std::uint32_t net = choice[(placed_ + i) % choice.size()];
    if (!may_enter_by(net, rate)) { continue; }
    current().in = net;
    draft_.latency = paths_.system().nets[net].latency;
    take_from_port(net, rate);
    if (!heads) {
      from_net(net, budget);
    } else if (placed_ < choice.size()) {
      from_head_net(net, found, budget);
    }
    take_from_port(net, -rate);
  }
}

/// Of NVLS and CollNetDirect only pairs of a net and a GPU are looked for, each GPU once.
void ChannelWalk::from_head_net(std::uint32_t net, bool& found, int& budget) {
  const std::optional<Gpu> gpu = nearest_[net];
  if (!gpu) { return; }
  for (std::size_t c = 0; c < placed_; ++c) {
    if (draft_.channels[c].gpus.front() == *gpu) { return; }
  }
  try_gpu(net_vertex(net), *gpu, 0, goals(), Order::free, budget);
  found = true;
}

void ChannelWalk::from_net(std::uint32_t net, int& budget) {
  if (placed_ > 0 && draft_.same_channels) {
    try_gpu(net_vertex(net), draft_.channels[placed_ - 1].gpus.front(), 0, goals(), Order::as_before, budget);
    return;
  }
  if (placed_ == 0 && !paths_.system().nvs) {
    int reference = kReferenceBudget;
    try_gpu(net_vertex(net), 0, 0, goals(), Order::by_number, reference);
    if (reference == -1) { budget = -1; }
  }
  const std::optional<Gpu> nearest = nearest_[net];
  if (nearest) { try_gpu(net_vertex(net), *nearest, 0, goals(), Order::free, budget); }
  for (const Gpu gpu : beside_[net]) {
    if (gpu != nearest) { try_gpu(net_vertex(net), gpu, 0, goals(), Order::free, budget); }
  }
}

void ChannelWalk::try_gpu(std::optional<std::uint32_t> from, Gpu gpu, std::uint32_t step, const Goals& goals,
                          Order order, int& budget) {
  const std::uint32_t to = gpu_vertex(gpu);
  const std::int64_t rate =
      from && paths_.system().vertices[*from].kind == NcclDevice::net ? draft_.inter : draft_.intra;
  if (from && (!may_take(*from, to) || !take(*from, to, rate))) { return; }
  if (from) { count_hops(*from, to, 1); }
  used_[gpu] ^= std::uint64_t{1} << placed_;
  visit(gpu, step, goals, order, budget);
  used_[gpu] ^= std::uint64_t{1} << placed_;
  if (from) {
    give_back(*from, to, rate);
    count_hops(*from, to, -1);
  }
}

void ChannelWalk::visit(Gpu gpu, std::uint32_t step, const Goals& goals, Order order, int& budget) {
  if (budget <= 0) { return; }
  --budget;
  if (step == gpus_) {
    finish_channel(budget);
    return;
  }
  current().gpus[step] = gpu;
  if (goals.net == step) {
    leave(gpu, step, goals, order, budget);
  } else if (draft_.pattern == NcclPattern::nvls) {
    try_nvls(gpu, budget);
  } else if (draft_.pattern == NcclPattern::collnet_direct) {
    try_collnet_direct(gpu, budget);
  } else if (step + 1 < gpus_) {
    go_on(gpu, step, goals, order, budget);
  } else if (goals.first == step) {
    close(gpu, step, goals, budget);
  } else {
    visit(gpu, gpus_, {}, order, budget);
  }
}

void ChannelWalk::finish_channel(int& budget) {
  ++placed_;
  if (is_better()) {
    *best_ = draft_;
    best_->channels.resize(placed_);
    if (placed_ == draft_.max_channels) { budget = -1; }
  }
  if (placed_ < draft_.max_channels) { next_channel(budget); }
  --placed_;
}

bool ChannelWalk::is_better() const {
  const auto count = static_cast<std::int64_t>(placed_);
  if (count < draft_.min_channels) { return false; }
  if (draft_.pattern == NcclPattern::nvls) {
    return (count > best_->count() && count <= gpus_) || count * draft_.inter > best_->count() * best_->inter;
  }
  const std::int64_t rate = count * draft_.intra;
  const std::int64_t known = best_->count() * best_->intra;
  if (rate != known) { return rate > known; }
  return draft_.pattern == best_->pattern && draft_.cross_nic == best_->cross_nic && draft_.hops < best_->hops;
}

bool ChannelWalk::may_leave_by(std::uint32_t net, std::uint32_t step) const {
  const std::uint32_t in = current().in;
  if (draft_.pattern == NcclPattern::tree && net != in) { return false; }
  if (draft_.pattern == NcclPattern::ring && draft_.cross_nic == 2) {
    if (placed_ % 2 == 1 && net != draft_.channels[placed_ - 1].in) { return false; }
  } else if (draft_.cross_nic == 0 && !same_port(net, in)) {
    return false;
  }
  return draft_.pattern != NcclPattern::balanced_tree || step == 0 || net == current().out;
}

/// To the network; a balanced tree leaves with half of its rate from each of its first two GPUs.
void ChannelWalk::leave(Gpu gpu, std::uint32_t step, const Goals& goals, Order order, int& budget) {
  const bool balanced = draft_.pattern == NcclPattern::balanced_tree;
  Goals rest{std::nullopt, goals.first};
  if (balanced && step == 0) { rest.net = 1; }
  const std::int64_t rate = balanced ? draft_.inter / 2 : draft_.inter;
  const std::vector<std::uint32_t>& choice = nets(draft_.type_inter, gpu);
  for (const std::uint32_t net : choice) {
    const std::uint32_t to = net_vertex(net);
    if (!may_leave_by(net, step) || !may_take(gpu_vertex(gpu), to) || !take(gpu_vertex(gpu), to, rate)) { continue; }
    count_hops(gpu_vertex(gpu), to, 1);
    current().out = net;
    visit(gpu, step, rest, order, budget);
    give_back(gpu_vertex(gpu), to, rate);
    count_hops(gpu_vertex(gpu), to, -1);
  }
}

void ChannelWalk::go_on(Gpu gpu, std::uint32_t step, const Goals& goals, Order order, int& budget) {
  std::vector<Gpu>& choice = choices_[placed_ * gpus_ + step];
  find_candidates(gpu, step, goals, order, choice);
  for (const Gpu next : choice) { try_gpu(gpu_vertex(gpu), next, step + 1, goals, order, budget); }
}

void ChannelWalk::close(Gpu gpu, std::uint32_t step, const Goals& goals, int& budget) {
  const Gpu first = current().gpus.front();
  const std::uint32_t from = gpu_vertex(gpu);
  const std::uint32_t to = gpu_vertex(first);
  if (!may_take(from, to) || !take(from, to, draft_.intra)) { return; }
  count_hops(from, to, 1);
  visit(first, step + 1, {goals.net, std::nullopt}, Order::free, budget);
  give_back(from, to, draft_.intra);
  count_hops(from, to, -1);
}

/// The head takes its rate from the NVSwitches twice, the others once, and all alike in the other direction.
void ChannelWalk::try_nvls(Gpu head, int& budget) {
  const std::uint32_t nvs = *paths_.system().nvs;
  const auto times = [&](Gpu gpu) { return gpu == head ? 2 : 1; };
  const auto may = [&](Gpu gpu, std::uint32_t from, std::uint32_t to) { return gpu == head || may_take(from, to); };
  Gpu down = 0;
  for (; down < gpus_; ++down) {
    const std::uint32_t gpu = gpu_vertex(down);
    if (!may(down, nvs, gpu) || !take(nvs, gpu, draft_.intra, times(down))) { break; }
  }
  Gpu up = 0;
  for (; down == gpus_ && up < gpus_; ++up) {
    const std::uint32_t gpu = gpu_vertex(up);
    if (!may(up, gpu, nvs) || !take(gpu, nvs, draft_.intra, times(up))) { break; }
  }
  if (up == gpus_) { visit(head, gpus_, {}, Order::free, budget); }
  while (up-- > 0) { give_back(gpu_vertex(up), nvs, draft_.intra, times(up)); }
  while (down-- > 0) { give_back(nvs, gpu_vertex(down), draft_.intra, times(down)); }
}

/// The head sends a part of its rate to each of the others, and gets one from each.
void ChannelWalk::try_collnet_direct(Gpu head, int& budget) {
  const auto parts = static_cast<std::int64_t>(std::max(1U, gpus_ - 1));
  Gpu out = 0;
  const auto takes = [&](std::uint32_t from, std::uint32_t to) {
    return (parts > 1 || may_take(from, to)) && take(from, to, draft_.intra, 1, parts);
  };
  while (out < gpus_ && takes(gpu_vertex(head), gpu_vertex(out))) { ++out; }
  Gpu in = 0;
  while (out == gpus_ && in < gpus_ && takes(gpu_vertex(in), gpu_vertex(head))) { ++in; }
  if (in == gpus_) {
    std::size_t step = 1;
    for (Gpu gpu = 0; gpu < gpus_; ++gpu) {
      if (gpu != head) { current().gpus[step++] = gpu; }
    }
    visit(head, gpus_, {}, Order::free, budget);
  }
  while (in-- > 0) { give_back(gpu_vertex(in), gpu_vertex(head), draft_.intra, 1, parts); }
  while (out-- > 0) { give_back(gpu_vertex(head), gpu_vertex(out), draft_.intra, 1, parts); }
}

}  // namespace athanor
