#include <numeric>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "models/network/packet/packet_layout.hpp"
#include "sim/error.hpp"
#include "tests/models/packet/packet_rig.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/topologies/clusters.hpp"
#include "tests/topologies/fabrics.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// 4096 bytes of payload and 64 of header on 10 GB/s: 416 ns a packet.
constexpr Bandwidth kRate = 10_GBps;
constexpr Time kPacket = 416_ns;
constexpr Time kLatency = 500_ns;

SwitchSpec balancing(LoadBalancing how) {
  SwitchSpec spec;
  spec.cut_through = true;
  spec.load_balancing = how;
  spec.flowlet_gap = 50_us;
  return spec;
}

TransportSpec any_order() {
  TransportSpec transport;
  transport.recovery = TransportSpec::Recovery::selective;
  transport.any_order = true;
  return transport;
}

/// `size` leaves of as many hosts each, joined by as many spines: as much up as down.
class LeafSpine {
 public:
  LeafSpine(std::uint32_t size, const SwitchSpec& spec) : size_(size) {
    std::vector<DeviceIndex> spines;
    for (std::uint32_t s = 0; s < size; ++s) { spines.push_back(fabric.switch_of(spec)); }
    for (std::uint32_t l = 0; l < size; ++l) {
      const DeviceIndex leaf = fabric.switch_of(spec);
      for (std::uint32_t h = 0; h < size; ++h) { hosts_.push_back(fabric.cable(fabric.host(), leaf, kRate, kLatency)); }
      for (std::uint32_t s = 0; s < size; ++s) { up_.push_back(fabric.cable(leaf, spines[s], kRate, kLatency)); }
    }
  }
  std::vector<LinkIndex> path(std::uint32_t from, std::uint32_t to, std::uint32_t spine) const {
    return {hosts_[from], up(from / size_, spine), fabric.back(up(to / size_, spine)), fabric.back(hosts_[to])};
  }
  LinkIndex up(std::uint32_t leaf, std::uint32_t spine) const { return up_[leaf * size_ + spine]; }
  void flow_within(std::uint32_t from, std::uint32_t to) { fabric.flow({hosts_[from], fabric.back(hosts_[to])}); }
  /// Over one spine, or over all of them.
  void flow_over(std::uint32_t from, std::uint32_t to, std::uint32_t spine) { fabric.flow(path(from, to, spine)); }
  void flow_over_all(std::uint32_t from, std::uint32_t to) {
    fabric.flow(path(from, to, 0));
    PacketTopology::Flow& flow = fabric.plan.flows.back();
    flow.first_hop = static_cast<std::uint32_t>(fabric.plan.hops.size());
    flow.paths = size_;
    for (std::uint32_t s = 0; s < size_; ++s) {
      const std::vector<LinkIndex> one = path(from, to, s);
      fabric.plan.hops.insert(fabric.plan.hops.end(), one.begin(), one.end());
    }
  }

  PacketFabric fabric;

 private:
  std::uint32_t size_;
  std::vector<LinkIndex> hosts_;
  std::vector<LinkIndex> up_;  ///< by leaf and spine
};

/// Every host sends to one of another leaf; returns what part of the line rate flows get: mean and least.
struct Shares {
  double mean = 0;
  double least = 1;
};
Shares permutation(LoadBalancing how) {
  constexpr std::uint32_t kSize = 8;
  constexpr std::int64_t kPackets = 1024;
  LeafSpine leaf_spine(kSize, balancing(how));
  Random random(7);
  std::vector<std::uint32_t> to(kSize * kSize);
  std::iota(to.begin(), to.end(), 0U);
  for (bool local = true; local;) {
    random.shuffle(to);
    local = false;
    for (std::uint32_t h = 0; h < to.size(); ++h) { local = local || h == to[h]; }
  }
  for (std::uint32_t h = 0; h < to.size(); ++h) {
    if (h / kSize == to[h] / kSize) {
      leaf_spine.flow_within(h, to[h]);
    } else if (how == LoadBalancing::none) {
      leaf_spine.flow_over(h, to[h], static_cast<std::uint32_t>(random.between(0, kSize - 1)));
    } else {
      leaf_spine.flow_over_all(h, to[h]);
    }
  }
  PacketRig rig(leaf_spine.fabric.plan, any_order());
  for (std::uint32_t h = 0; h < to.size(); ++h) { rig.move_at(Time::zero(), h, 4_KiB * kPackets); }
  rig.simulator.run();
  CHECK(rig.network.host_counters().repeated == 0);
  Shares shares;
  for (std::uint32_t h = 0; h < to.size(); ++h) {
    const double share = seconds(kPacket * kPackets) / seconds(rig.of(h).delivered.front());
    shares.mean += share / static_cast<double>(to.size());
    shares.least = std::min(shares.least, share);
  }
  return shares;
}

}  // namespace

TEST_CASE(
    "adaptive: a permutation keeps nine tenths of the bandwidth, of which hashed paths keep less than three quarters") {
  const Shares hashed = permutation(LoadBalancing::none);
  const Shares adaptive = permutation(LoadBalancing::adaptive);
  CHECK(hashed.mean < 0.75);
  CHECK(hashed.least < 0.5);
  CHECK(adaptive.mean > 0.9);  // leaves do not see which packets meet behind the spines
  CHECK(adaptive.least > 0.75);
}

TEST_CASE("adaptive: flows of one leaf with a spine for each load all spines alike") {
  LeafSpine leaf_spine(4, balancing(LoadBalancing::adaptive));
  for (std::uint32_t h = 0; h < 4; ++h) { leaf_spine.flow_over_all(h, 4 + h); }
  PacketRig rig(leaf_spine.fabric.plan, any_order());
  for (std::uint32_t h = 0; h < 4; ++h) { rig.move_at(Time::zero(), h, 4_KiB * 1000); }
  rig.simulator.run();
  CHECK(seconds(rig.last_delivery()) < seconds(kPacket * 1000 + kLatency * 4) * 1.02);
  for (std::uint32_t s = 0; s < 4; ++s) {
    CHECK(static_cast<double>(rig.network.carried(LinkIndex{leaf_spine.up(0, s)}).count()) ==
          doctest::Approx(4160.0 * 1000).epsilon(0.05));
  }
}

TEST_CASE("adaptive: packets go round a port that is slow") {
  LeafSpine leaf_spine(4, balancing(LoadBalancing::adaptive));
  leaf_spine.fabric.plan.links[leaf_spine.up(0, 0)].rate = kRate / 10;
  for (std::uint32_t h = 0; h < 3; ++h) { leaf_spine.flow_over_all(h, 4 + h); }
  PacketRig rig(leaf_spine.fabric.plan, any_order());
  for (std::uint32_t h = 0; h < 3; ++h) { rig.move_at(Time::zero(), h, 4_KiB * 1000); }
  rig.simulator.run();
  CHECK(seconds(rig.last_delivery()) < seconds(kPacket * 1000) * 1.05);
  CHECK(rig.network.carried(LinkIndex{leaf_spine.up(0, 0)}).count() < 4160 * 400);
}

TEST_CASE("flowlets: a flow keeps its path as long as it is never silent, and order with it") {
  for (const Time pause : {10_us, 100_us}) {
    CAPTURE(pause.count());
    LeafSpine leaf_spine(4, balancing(LoadBalancing::flowlets));
    leaf_spine.flow_over_all(0, 4);
    PacketRig rig(leaf_spine.fabric.plan, {});  // go-back-N
    for (int message = 0; message < 64; ++message) { rig.move_at((pause + kPacket) * message, 0, 4_KiB); }
    rig.simulator.run();
    CHECK(rig.of(0).delivered.size() == 64);
    CHECK(rig.network.host_counters().repeated == 0);
    std::uint32_t used = 0;
    for (std::uint32_t s = 0; s < 4; ++s) {
      used += rig.network.carried(LinkIndex{leaf_spine.up(0, s)}) > Bytes::zero() ? 1 : 0;
    }
    CHECK(used == (pause < 50_us ? 1 : 4));
  }
}

TEST_CASE(
    "shortest paths: as many as spines in two tiers, as (k/2)^2 between the pods of three, grouped by their links") {
  ClosSpec spec = clos_of_radix(4);
  const Cluster cluster = fat_tree(hosts(16), spec);
  ShortestPaths ways(*cluster.fabric);
  std::vector<std::size_t> counts;
  for (const std::uint32_t to : {1U, 2U, 4U, 15U}) {
    const std::vector<LinkId> path = route(cluster, cluster.endpoints[0], cluster.endpoints[to]);
    const auto& found = ways.between(cluster.fabric->target(path.front()), cluster.fabric->source(path.back()));
    counts.push_back(found.size());
    CHECK(std::is_sorted(found.begin(), found.end()));
    for (const ShortestPaths::Path& way : found) { CHECK(way.size() == path.size() - 2); }
  }
  CHECK(counts == std::vector<std::size_t>{1, 2, 4, 4});
}

TEST_CASE("many paths: all-to-all on a fat tree loads all its up-links, with spraying and with adaptive switches") {
  const Cluster cluster = fat_tree(hosts(16), clos_of_radix(4));
  const testing::UniformCosts costs;
  const auto schedule =
      find(CollectiveKind::all_to_all, "pairwise").make({CollectiveKind::all_to_all, 16, Elements{1 << 20}}, {});
  std::vector<double> times;
  for (const char* how : {"one path", "spray", "adaptive"}) {
    CAPTURE(how);
    SimulationOptions options;
    options.level = NetworkLevel::packet;
    options.packet.transport = any_order();
    options.packet.transport.spray = how == std::string("spray");
    if (how == std::string("adaptive")) { options.packet.fabric.load_balancing = LoadBalancing::adaptive; }
    const Simulated result = simulate(*schedule, cluster, {cluster.endpoints, 1}, costs, options);
    times.push_back(seconds(result.time));
    std::uint32_t up = 0;
    for (const LinkLoad& load : result.network.loads) {
      const VertexKind kind = cluster.fabric->vertex(cluster.fabric->target(load.link)).kind;
      up += kind == VertexKind::core && load.carried > Bytes::zero() ? 1 : 0;
    }
    CHECK(up == 16);
  }
  // What the ports of hosts allow, and what packets lose that meet at a switch that nobody before it saw.
  const double least = seconds(transfer_time(Bytes{4 << 20} * 15 / 16, 50_GBps));
  CAPTURE(times[0] / least);
  CAPTURE(times[1] / least);
  CAPTURE(times[2] / least);
  CHECK(times[1] < least * 1.6);
  CHECK(times[2] < least * 1.6);
}

TEST_CASE("many paths: a routing that takes longer ways than the shortest is refused by name") {
  Cluster cluster = fat_tree(hosts(16), clos_of_radix(4));
  struct Detour : Router {
    explicit Detour(const Cluster& on) : cluster(on) {}
    void route(const RouteRequest& request, std::vector<LinkId>& path) const override {
      RouteRequest one = request;
      one.to = cluster.endpoints[15];
      cluster.router->route(one, path);
      path.pop_back();
      std::vector<LinkId> rest;
      one = request;
      one.from = cluster.endpoints[15];
      cluster.router->route(one, rest);
      path.insert(path.end(), rest.begin() + 1, rest.end());
    }
    std::unique_ptr<Router> with_seed(std::uint64_t) const override { return std::make_unique<Detour>(cluster); }
    const Cluster& cluster;
  };
  Cluster around = fat_tree(hosts(16), clos_of_radix(4));
  around.router = std::make_unique<Detour>(cluster);
  const testing::UniformCosts costs;
  const auto schedule =
      find(CollectiveKind::send_receive, "direct").make({CollectiveKind::send_receive, 2, Elements{1024}}, {});
  SimulationOptions options;
  options.level = NetworkLevel::packet;
  options.packet.transport = any_order();
  options.packet.fabric.load_balancing = LoadBalancing::adaptive;
  try {
    simulate(*schedule, around, {{around.endpoints[0], around.endpoints[4]}, 1}, costs, options);
    FAIL("nothing was thrown");
  } catch (const SimulationError& error) {
    CHECK(std::string(error.what()).find("all shortest paths, but the routing leads from host0 longer") !=
          std::string::npos);
  }
}
