// How fast the networks are. Hosts of a non-blocking two-level fat tree, links of 12.5 GB/s, 500 ns each.

#include <cmath>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/network/flow_network.hpp"
#include "models/network/ideal_network.hpp"
#include "models/network/max_min_shares.hpp"
#include "sim/simulator.hpp"
#include "tools/benchmarks/memory.hpp"

namespace athanor {
namespace {

using namespace literals;

/// sqrt(hosts) leaves with as many spines. Links: host h up 2h, down 2h + 1; then leaf l to spine s, and back.
class FatTree {
 public:
  explicit FatTree(std::uint32_t hosts) : hosts_(hosts), leaves_(static_cast<std::uint32_t>(std::sqrt(hosts))) {
    plan_.links.assign(std::size_t{2} * hosts_ + std::size_t{2} * leaves_ * leaves_, {12.5_GBps});
  }

  void connect(std::uint32_t from, std::uint32_t to, std::uint32_t spine) {
    const std::uint32_t from_leaf = from / leaves_;
    const std::uint32_t to_leaf = to / leaves_;
    const auto first = static_cast<std::uint32_t>(plan_.uses.size());
    plan_.uses.push_back({LinkIndex{2 * from}});
    if (from_leaf != to_leaf) {
      plan_.uses.push_back({LinkIndex{2 * hosts_ + 2 * (from_leaf * leaves_ + spine)}});
      plan_.uses.push_back({LinkIndex{2 * hosts_ + 2 * (to_leaf * leaves_ + spine) + 1}});
    }
    plan_.uses.push_back({LinkIndex{2 * to + 1}});
    const auto uses = static_cast<std::uint32_t>(plan_.uses.size()) - first;
    plan_.connections.push_back({500_ns * uses, Bandwidth::max(), Bytes::zero(), first, uses});
  }
  std::uint32_t leaves() const { return leaves_; }
  const FlowGraph& plan() const { return plan_; }

 private:
  std::uint32_t hosts_;
  std::uint32_t leaves_;
  FlowGraph plan_;
};

class Random {
 public:
  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    return static_cast<std::uint32_t>((state_ >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_ = 1;
};

FatTree random_flows(std::uint32_t flows) {
  constexpr std::uint32_t kHosts = 1024;
  FatTree tree(kHosts);
  Random random;
  for (std::uint32_t k = 0; k < flows; ++k) {
    const std::uint32_t from = random.below(kHosts);
    const std::uint32_t to = (from + 1 + random.below(kHosts - 1)) % kHosts;
    tree.connect(from, to, random.below(tree.leaves()));
  }
  return tree;
}

struct Silent : MoveListener {
  void injected(ConnectionId) override {}
  void grain_arrived(ConnectionId) override {}
  void delivered(ConnectionId) override {}
};

/// Each message that arrives makes the next connection of the ring send one, until all have sent `rounds`.
struct RingDriver : MoveListener {
  RingDriver(std::uint32_t connections, std::uint32_t rounds) : left(connections, rounds) {}
  void injected(ConnectionId) override {}
  void grain_arrived(ConnectionId) override {}
  void delivered(ConnectionId connection) override {
    const std::uint32_t behind = connection.value + 1;
    const auto next = static_cast<std::uint32_t>(behind == left.size() ? 0 : behind);
    if (left[next] == 0) { return; }
    --left[next];
    network->move(ConnectionId{next}, 256_KiB);
  }
  std::vector<std::uint32_t> left;
  Network* network = nullptr;
};

template <class Kind>
void lock_step_ring(benchmark::State& state) {
  const PeakMemory memory;
  const auto hosts = static_cast<std::uint32_t>(state.range(0));
  constexpr std::uint32_t kRounds = 256;
  FatTree tree(hosts);
  for (std::uint32_t h = 0; h < hosts; ++h) { tree.connect(h, (h + 1) % hosts, (h + 1) % tree.leaves()); }
  for (auto unused : state) {
    Simulator simulator;
    RingDriver driver(hosts, kRounds - 1);
    Kind network(simulator, tree.plan(), driver);
    driver.network = &network;
    for (std::uint32_t h = 0; h < hosts; ++h) { network.move(ConnectionId{h}, 256_KiB); }
    simulator.run();
  }
  const double messages = static_cast<double>(state.iterations()) * hosts * kRounds;
  state.counters["s_per_message"] =
      benchmark::Counter(messages, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["peak_MB"] = memory.megabytes();
}
BENCHMARK(lock_step_ring<FlowNetwork>)->Arg(256)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(lock_step_ring<IdealNetwork>)->Arg(4096)->Unit(benchmark::kMillisecond);

void run_flows(benchmark::State& state, bool random_sizes, Ratio leeway) {
  const PeakMemory memory;
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  const FatTree tree = random_flows(flows);
  for (auto unused : state) {
    Simulator simulator;
    Silent silent;
    FlowNetwork network(simulator, tree.plan(), silent, leeway);
    Random random;
    for (std::uint32_t c = 0; c < flows; ++c) {
      network.move(ConnectionId{c}, random_sizes ? 1_MiB + Bytes{random.below(63U << 20U)} : 32_MiB);
    }
    simulator.run();
    state.counters["simulated_ms"] = seconds(simulator.now()) * 1e3;
  }
  state.counters["peak_MB"] = memory.megabytes();
}
void flows_of_random_size(benchmark::State& state) { run_flows(state, true, {0, 1}); }
/// With as many thousandths of leeway: half of `skip_error`.
void flows_with_leeway(benchmark::State& state) { run_flows(state, true, {state.range(1), 1000}); }
void flows_of_equal_size(benchmark::State& state) { run_flows(state, false, {0, 1}); }
BENCHMARK(flows_of_random_size)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(flows_with_leeway)
    ->Args({10'000, 1})
    ->Args({10'000, 5})
    ->Args({100'000, 1})
    ->Args({100'000, 5})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(flows_of_equal_size)->Arg(10'000)->Unit(benchmark::kMillisecond);

void cold_solve(benchmark::State& state) {
  const PeakMemory memory;
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  const FatTree tree = random_flows(flows);
  for (auto unused : state) {
    state.PauseTiming();
    auto shares = std::make_unique<MaxMinShares>(tree.plan());
    for (std::uint32_t c = 0; c < flows; ++c) { shares->start(ConnectionId{c}); }
    state.ResumeTiming();
    benchmark::DoNotOptimize(shares->update().size());
    state.PauseTiming();
    shares.reset();
    state.ResumeTiming();
  }
  state.counters["peak_MB"] = memory.megabytes();
}
BENCHMARK(cold_solve)->Arg(10'000)->Arg(50'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace athanor
