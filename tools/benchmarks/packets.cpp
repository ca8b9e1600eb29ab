// How fast the packet level is: permutations and an incast on a three-tier fat tree of radix k, 500 ns a link, packets
// of 4096 bytes, priority flow control, an acknowledgement for each packet.

#include <algorithm>
#include <numeric>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/network/packet/packet_network.hpp"
#include "sim/random.hpp"
#include "sim/simulator.hpp"
#include "tools/benchmarks/memory.hpp"

namespace athanor {
namespace {

using namespace literals;

/// k^3 / 4 hosts, k pods of k / 2 edge and k / 2 aggregation switches, k^2 / 4 cores. Cables: link 2c up, 2c + 1 down.
class FatTree {
 public:
  FatTree(std::uint32_t radix, Bandwidth rate, const SwitchSpec& spec) : half_(radix / 2), rate_(rate) {
    const std::uint32_t tier = radix * half_;
    plan_.switches.push_back(spec);
    plan_.devices.assign(hosts(), {true, 0});
    for (std::uint32_t s = 0; s < 2 * tier + half_ * half_; ++s) { plan_.devices.push_back({false, 0}); }
    for (std::uint32_t h = 0; h < hosts(); ++h) { cable(h, hosts() + h / half_); }
    for (std::uint32_t c = 0; c < tier * half_; ++c) {
      const std::uint32_t edge = c / half_;
      cable(hosts() + edge, hosts() + tier + edge / half_ * half_ + c % half_);
    }
    for (std::uint32_t c = 0; c < tier * half_; ++c) {
      const std::uint32_t aggregation = c / half_;
      cable(hosts() + tier + aggregation, hosts() + 2 * tier + aggregation % half_ * half_ + c % half_);
    }
  }
  std::uint32_t hosts() const { return 2 * half_ * half_ * half_; }
  const PacketTopology& plan() const { return plan_; }

  /// By aggregation switch `hash` % (k / 2) and core `hash` / (k / 2) % (k / 2).
  void connect(std::uint32_t from, std::uint32_t to, std::uint64_t hash) {
    const std::uint32_t from_edge = from / half_;
    const std::uint32_t to_edge = to / half_;
    const auto a = static_cast<std::uint32_t>(hash % half_);
    const auto core = static_cast<std::uint32_t>(hash / half_ % half_);
    const std::uint32_t edges = hosts();                            // the first cable from an edge switch upwards
    const std::uint32_t cores = edges + 2 * half_ * half_ * half_;  // and from an aggregation switch
    std::vector<LinkIndex> path{LinkIndex{2 * from}};
    if (from_edge != to_edge) {
      path.push_back(LinkIndex{2 * (edges + from_edge * half_ + a)});
      if (from_edge / half_ != to_edge / half_) {
        path.push_back(LinkIndex{2 * (cores + (from_edge / half_ * half_ + a) * half_ + core)});
        path.push_back(LinkIndex{2 * (cores + (to_edge / half_ * half_ + a) * half_ + core) + 1});
      }
      path.push_back(LinkIndex{2 * (edges + to_edge * half_ + a) + 1});
    }
    path.push_back(LinkIndex{2 * to + 1});
    add_flow(path);
  }

 private:
  void cable(std::uint32_t below_index, std::uint32_t above_index) {
    const DeviceIndex below{below_index};
    const DeviceIndex above{above_index};
    const LinkIndex link = plan_.links.next();
    plan_.links.push_back({below, above, LinkIndex{link.value + 1}, rate_, 500_ns});
    plan_.links.push_back({above, below, link, rate_, 500_ns});
  }
  void add_flow(const std::vector<LinkIndex>& path) {
    const auto first = static_cast<std::uint32_t>(plan_.hops.size());
    const auto hops = static_cast<std::uint32_t>(path.size());
    plan_.hops.insert(plan_.hops.end(), path.begin(), path.end());
    for (auto link = path.rbegin(); link != path.rend(); ++link) { plan_.hops.push_back(plan_.links[*link].reverse); }
    plan_.flows.push_back({first, hops, first + hops, hops, 1, Bandwidth::max(), {}, {}});
  }

  std::uint32_t half_;
  Bandwidth rate_;
  PacketTopology plan_;
};

struct Silent : MoveListener {
  void injected(ConnectionId) override {}
  void grain_arrived(ConnectionId) override {}
  void delivered(ConnectionId) override {}
};

SwitchSpec lossless() {
  SwitchSpec spec;
  spec.flow_control = FlowControl::pfc;
  spec.pause_above = 100_KiB;
  spec.resume_below = 80_KiB;
  return spec;
}

void run(benchmark::State& state, const FatTree& tree, Bytes size, std::uint32_t threads) {
  const PeakMemory memory;
  double packets = 0;
  double hops = 0;
  for (auto unused : state) {
    Simulator simulator;
    Silent silent;
    PacketNetwork network(simulator, tree.plan(), {}, 1, silent, {Time::max(), threads});
    for (const ConnectionId flow : tree.plan().flows.ids()) { network.move(flow, size); }
    simulator.run();
    const HostCounters sent = network.host_counters();
    packets += static_cast<double>(sent.data);
    hops += static_cast<double>(sent.data + sent.replies + network.switch_counters().forwarded);
    state.counters["simulated_ms"] = seconds(simulator.now()) * 1e3;
  }
  state.counters["packets_per_s"] = benchmark::Counter(packets, benchmark::Counter::kIsRate);
  state.counters["packet_hops_per_s"] = benchmark::Counter(hops, benchmark::Counter::kIsRate);
  state.counters["peak_MB"] = memory.megabytes();
}

/// Args: radix, Gb/s, bytes of each host, threads.
void permutation_of_packets(benchmark::State& state) {
  FatTree tree(static_cast<std::uint32_t>(state.range(0)), Bandwidth{state.range(1) * 125'000'000}, lossless());
  RandomStream random(1, "permutation");
  std::vector<std::uint32_t> to(tree.hosts());
  std::iota(to.begin(), to.end(), 0U);
  random.shuffle(to);
  for (std::uint32_t h = 0; h < tree.hosts(); ++h) {
    if (to[h] != h) { tree.connect(h, to[h], random.bits() >> 20U); }
  }
  run(state, tree, Bytes{state.range(2)}, static_cast<std::uint32_t>(state.range(3)));
}
BENCHMARK(permutation_of_packets)
    ->ArgNames({"radix", "Gbps", "bytes", "threads"})
    ->ArgsProduct({{16}, {100}, {10'000'000}, {1, 2}})  // 1024 hosts
    ->ArgsProduct({{8}, {400}, {10'000'000}, {1, 2}})   // 128 hosts
    ->ArgsProduct({{32}, {100}, {200'000}, {1, 2}})     // 8192 hosts
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// 100 hosts send to one.
void incast_of_packets(benchmark::State& state) {
  FatTree tree(16, 100_Gbps, lossless());
  RandomStream random(1, "incast");
  for (std::uint32_t h = 1; h <= 100; ++h) { tree.connect(h * 10, 0, random.bits() >> 20U); }
  run(state, tree, 1_MiB, 1);
}
BENCHMARK(incast_of_packets)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace athanor
