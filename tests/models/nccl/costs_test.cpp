#include <cmath>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/pricing.hpp"
#include "models/execution/run.hpp"
#include "models/nccl/execution/protocol.hpp"
#include "models/software/nccl_costs.hpp"
#include "models/software/profile.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// One channel, whose steps cost 1 us each, 10 GB/s within the node, over links that nobody fills.
NcclCosts round_costs() {
  NcclCosts costs;
  for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
    costs.of(protocol) = {1_us, 2_us, 10_GBps, 20_us, 10_GBps};
  }
  return costs;
}

Cluster node_of(std::uint32_t gpus) {
  NodeSpec spec;
  spec.name = "node";
  spec.gpus = gpus;
  spec.scale_up = NvSwitchSpec{{1000_GBps, 1000_GBps, Time::zero()}};
  spec.pcie_link = {10_GBps, 10_GBps, 100_ns};
  spec.pcie = {{0, false, {}, {}}};
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) { spec.pcie[0].gpus.push_back(gpu); }
  return single_node(spec);
}

/// In one channel and one chunk.
Protocol priced(const NcclRun& run, const NcclCosts& costs) {
  return protocol_of(run, {.of_bytes = {.chunk = Elements{run.payload.count()}}}, costs);
}

Time ring(CollectiveKind kind, const NcclRun& run, std::uint32_t ranks) {
  const Cluster cluster = node_of(ranks);
  Profile profile;
  profile.protocols = {priced(run, round_costs())};
  const Collective collective{kind, ranks, Elements{run.payload / Bytes{1}}};
  return run_collective({cluster, profile, collective, Bytes{1}, {&find(kind, "ring")}, {}, {}, 1}).time;
}

NcclRun run_of(NcclProtocol protocol, Bytes payload, std::uint32_t ranks) {
  return {.protocol = protocol, .payload = payload, .ranks = ranks};
}

}  // namespace

TEST_CASE("a host that prepares launches while they run: the longer of both, and more where they are alike") {
  CHECK(overlapped_launch(10_us, Time::zero()) == 10_us);
  CHECK(overlapped_launch(Time::zero(), 10_us) == 10_us);
  for (const std::int64_t host : {1, 10, 999, 1000, 1001, 20'000, 3'000'000}) {
    const Time both = overlapped_launch(Time{1'000'000'000}, Time{1'000'000} * host);
    CHECK(both == overlapped_launch(Time{1'000'000} * host, Time{1'000'000'000}));
    const double law = std::cbrt(1 + std::pow(static_cast<double>(host) * 1e-3, 3)) * 1e9;
    CHECK(static_cast<double>(both.count()) == doctest::Approx(law).epsilon(1e-5));
  }
}

TEST_CASE("a block sends to one peer at 15/16 of a ring's rate, and to several at once at a share of that") {
  for (const std::uint32_t peers : {1U, 2U, 8U}) {
    NcclRun run = run_of(NcclProtocol::simple, 1_MiB, 8);
    run.peers = peers;
    const Protocol protocol = priced(run, round_costs());
    CAPTURE(peers);
    CHECK(protocol.node.rate == Bandwidth{10'000'000'000 / 16 * 15 / peers});
    CHECK(protocol.unpack_rate == protocol.node.rate);
    CHECK(protocol.network.rate == 6_GBps);
  }
}

TEST_CASE("a launch of hours has no overflow") {
  const Time hours{3'600'000'000'000'000};
  CHECK(overlapped_launch(hours, hours) > hours * 125 / 100);
  CHECK(overlapped_launch(hours, hours) < hours * 126 / 100);
}

TEST_CASE("LL and LL128 pass lines on within a node: a chain's fill has a step for each rank, and no chunks") {
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    const Bytes payload{10'000'000};
    const Time sent = transfer_time(payload, 10_GBps);
    CAPTURE(ranks);
    for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128}) {
      const Time time = ring(CollectiveKind::broadcast, run_of(protocol, payload, ranks), ranks);
      // Every rank pays its step, and every hop its latency, until the first line is there.
      CHECK(time > sent + 1_us * ranks + 2_us * (ranks - 1) - 1_us);
      CHECK(time < sent + 1_us * ranks + 2_us * (ranks - 1) + 1_us);
    }
    const Time whole = ring(CollectiveKind::broadcast, run_of(NcclProtocol::simple, payload, ranks), ranks);
    const Time copied_out = sent;  // by the last rank, at the rate of its block
    CHECK(whole == 1_us * ranks + (2_us + sent) * (ranks - 1) + copied_out);
  }
}

TEST_CASE("a step of LL that moves nothing is shorter") {
  NcclCosts costs = round_costs();
  const std::uint32_t ranks = 8;
  CHECK(priced(run_of(NcclProtocol::ll, Bytes{16 * ranks}, ranks), costs).overhead == 1_us);
  CHECK(priced(run_of(NcclProtocol::ll, Bytes{16 * ranks - 1}, ranks), costs).overhead == 750_ns);
  CHECK(priced(run_of(NcclProtocol::ll128, Bytes{1}, ranks), costs).overhead == 1_us);
}

TEST_CASE("the two directions of a tree share the threads of a block") {
  const NcclCosts costs = round_costs();
  NcclRun run = run_of(NcclProtocol::simple, 1_MiB, 8);
  CHECK(priced(run, costs).node.rate == 10_GBps);
  run.algorithm = NcclAlgorithm::tree;
  CHECK(priced(run, costs).node.rate == 6_GBps);
  CHECK(priced(run, costs).network.rate == 6_GBps);
}

TEST_CASE("between nodes a proxy passes on whole messages, whatever the protocol") {
  for (const NcclProtocol each : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
    const Protocol protocol = priced(run_of(each, 1_MiB, 8), round_costs());
    CHECK(protocol.network.grain == Bytes::zero());
    CHECK(protocol.network.latency == 20_us);
  }
}

TEST_CASE("what flags take and what links do not reach multiply") {
  NcclCosts costs;
  costs.node_efficiency = {8, 10};
  const Profile profile;
  const Protocol protocol = priced(run_of(NcclProtocol::ll128, 1_MiB, 2), costs);
  const Cluster cluster = node_of(2);
  const ProfilePricing pricing(*cluster.fabric, profile, protocol, {2, 0}, Bytes{1}, 1);
  const ConnectionCost cost = pricing.connection(AgentId{0}, AgentId{1}, {});
  CHECK(cost.wire_numerator * 3 == cost.wire_denominator * 4);  // 16 / 15 x 10 / 8
}

TEST_CASE("ratios multiply in lowest terms, and never overflow") {
  CHECK(product({15, 16}, {8, 10}).denominator == 4);
  CHECK(product({0, 1}, {8, 10}) == Ratio{0, 1});
  const Ratio long_one{999'999'999'999'999'999, 1'000'000'000'000'000'000};
  const Ratio square = product(long_one, long_one);
  CHECK(square.denominator > 0);
  CHECK(to_double(square) == doctest::Approx(1));
}
