#include "models/nccl/machine/channel_nics.hpp"

#include <algorithm>
#include <numeric>

#include "models/nccl/machine/search.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using Use = ChannelNics::Use;

/// GPUs and NICs of channels are numbers of ranks and devices; those of paths are places in the system's lists.
class Devices {
 public:
  explicit Devices(const NcclPaths& paths) : paths_(paths) {}

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(paths_.system().gpus.size()); }

  std::shared_ptr<const ChannelNics> tabled(ChannelNics::Table even, ChannelNics::Table odd) const {
    auto nics = std::make_shared<ChannelNics>();
    nics->places = ranks();
    nics->gpus.resize(ranks());
    for (const NcclSystem::Gpu& gpu : paths_.system().gpus) { nics->gpus[gpu.rank] = gpu.dev; }
    nics->even = std::move(even);
    nics->odd = std::move(odd);
    for (const NcclSystem::Net& net : paths_.system().nets) { nics->ports = std::lcm(nics->ports, net.ports); }
    return nics;
  }

  /// Sending and receiving by a NIC; the NIC alone, where the system has no such devices.
  Use use(std::uint32_t rank, std::uint32_t nic) const {
    const auto& gpus = paths_.system().gpus;
    const auto& nets = paths_.system().nets;
    const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const auto& each) { return each.rank == rank; });
    const auto net = std::find_if(nets.begin(), nets.end(), [&](const auto& each) { return each.dev == nic; });
    const std::uint32_t ports = net == nets.end() ? 1 : net->ports;
    Use found{nic, NicChoice::kAny, nic, ports, ports};
    if (gpu == gpus.end() || net == nets.end()) { return found; }
    const auto from = static_cast<std::uint32_t>(gpu - gpus.begin());
    const std::uint32_t sender = paths_.sender(from, static_cast<std::uint32_t>(net - nets.begin()));
    if (sender != from) { found.relay = gpus[sender].dev; }
    return found;
  }

 private:
  const NcclPaths& paths_;
};

std::vector<Use> uses_of(const NcclChannel& channel, const Devices& devices) {
  std::vector<Use> uses(devices.ranks());
  for (std::uint32_t rank = 0; rank < uses.size(); ++rank) {
    uses[rank] = devices.use(rank, rank == channel.gpus.front() ? *channel.in : *channel.out);
  }
  if (channel.gpus.size() == 1) {  // it is both ends of the node
    Use& use = uses[channel.gpus.front()];
    const Use entry = devices.use(channel.gpus.front(), *channel.in);
    use = devices.use(channel.gpus.front(), *channel.out);
    use.in = entry.in;
    use.in_ports = entry.in_ports;
  }
  return uses;
}

}  // namespace

std::shared_ptr<const ChannelNics> graph_nics(const ChannelGraph& graph, const NcclPaths& paths) {
  const Devices devices(paths);
  ChannelNics::Table even;
  for (const NcclChannel& channel : graph.channels) {
    if (!channel.in || !channel.out || channel.gpus.empty()) { return nullptr; }
    even.push_back(uses_of(channel, devices));
  }
  if (even.empty()) { return nullptr; }
  ChannelNics::Table odd = even;
  const bool swaps = graph.pattern == NcclPattern::ring && graph.cross_nic == 2 && even.size() % 2 == 0;
  for (std::size_t channel = 0; swaps && channel < odd.size(); ++channel) { odd[channel] = even[channel ^ 1U]; }
  return devices.tabled(std::move(even), std::move(odd));
}

std::shared_ptr<const ChannelNics> head_nics(const ChannelGraph& graph, const NcclPaths& paths) {
  const Devices devices(paths);
  ChannelNics::Table table(1, std::vector<Use>(devices.ranks()));
  for (const NcclChannel& channel : graph.channels) {
    if (!channel.in || channel.gpus.empty()) { return nullptr; }
    const std::uint32_t head = channel.gpus.front();
    table.front().at(head) = devices.use(head, *channel.in);
  }
  return devices.tabled(table, table);
}

std::shared_ptr<const ChannelNics> peer_nics(const NcclPaths& paths) {
  const Devices devices(paths);
  const NcclSystem& system = paths.system();
  if (system.nets.empty()) { return nullptr; }
  ChannelNics::Table table(system.nets.size(), std::vector<Use>(devices.ranks()));
  for (std::uint32_t channel = 0; channel < table.size(); ++channel) {
    for (std::uint32_t gpu = 0; gpu < system.gpus.size(); ++gpu) {
      const std::optional<std::uint32_t> net = paths.local_net(gpu, channel);
      if (net) { table[channel].at(system.gpus[gpu].rank) = devices.use(system.gpus[gpu].rank, system.nets[*net].dev); }
    }
  }
  return devices.tabled(table, table);
}

std::shared_ptr<const ChannelOrders> ring_orders(const ChannelGraph& ring, std::uint32_t channels) {
  const std::uint32_t count = channels == 0 ? ring.count() : std::min(channels, ring.count());
  require(count > 0, "a ring graph without channels");
  auto orders = std::make_shared<ChannelOrders>();
  const bool swaps = ring.cross_nic == 2 && count % 2 == 0;
  for (std::uint32_t c = 0; c < count; ++c) {
    orders->even.push_back(ring.channels[c].gpus);
    orders->odd.push_back(ring.channels[swaps ? c ^ 1U : c].gpus);
  }
  return orders;
}

}  // namespace athanor
