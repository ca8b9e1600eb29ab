#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "models/traffic/simulate_traffic.hpp"
#include "models/traffic/traffic_matrix.hpp"
#include "sim/error.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

constexpr Bandwidth kRate{10'000'000'000};
const std::vector<NetworkLevel> kLevels = {NetworkLevel::ideal, NetworkLevel::flow, NetworkLevel::packet};

TrafficMatrix matrix_of(const EndpointPairs& pairs, Bytes size) {
  TrafficMatrix matrix;
  for (const auto& [from, to] : pairs) {
    matrix.messages.push_back({static_cast<std::uint32_t>(matrix.connections.size()), size, {}});
    matrix.connections.push_back({from, to});
  }
  return matrix;
}

NetworkOptions at(NetworkLevel level) {
  NetworkOptions options;
  options.level = level;
  options.packet.transport.header = Bytes::zero();  // payload alone, so that the levels are comparable to the bit
  return options;
}

SimulatedTraffic simulated(const TrafficMatrix& matrix, const Cluster& cluster, NetworkLevel level) {
  return simulate_traffic(matrix, cluster, 1, at(level));
}

}  // namespace

TEST_CASE("a permutation is a derangement that the seed alone decides, and every derangement occurs") {
  for (const std::uint32_t endpoints : {2U, 3U, 5U, 64U}) {
    const EndpointPairs pairs = permutation_pairs(endpoints, 7);
    std::set<std::uint32_t> receivers;
    for (const auto& [from, to] : pairs) {
      CHECK(from != to);
      receivers.insert(to);
    }
    CHECK(receivers.size() == endpoints);
    CHECK(pairs == permutation_pairs(endpoints, 7));
  }
  std::set<EndpointPairs> found;
  for (std::uint64_t seed = 0; seed < 300; ++seed) { found.insert(permutation_pairs(4, seed)); }
  CHECK(found.size() == 9);  // of four things
}

TEST_CASE("regular patterns send from i to where their name says") {
  CHECK(shift_pairs(4, 3) == EndpointPairs{{0, 3}, {1, 0}, {2, 1}, {3, 2}});
  CHECK(bit_reversal_pairs(8) == EndpointPairs{{1, 4}, {3, 6}, {4, 1}, {6, 3}});
  CHECK(transpose_pairs(4) == EndpointPairs{{1, 2}, {2, 1}});
  CHECK(all_to_all_pairs(3) == EndpointPairs{{0, 1}, {0, 2}, {1, 2}, {1, 0}, {2, 0}, {2, 1}});
  CHECK(incast_pairs({4, 2}, 1) == EndpointPairs{{4, 1}, {2, 1}});
  for (const auto& [from, to] : random_pairs(3, 100, 1)) {
    CHECK(from != to);
    CHECK(std::max(from, to) < 3);
  }
}

TEST_CASE("a message alone takes what is called alone, at every level") {
  const Cluster cluster = star(4, kRate, 1_us);
  for (const NetworkLevel level : kLevels) {
    const SimulatedTraffic traffic = simulated(matrix_of({{2, 3}}, 1_MiB), cluster, level);
    REQUIRE(traffic.messages.size() == 1);
    CHECK(traffic.messages[0].alone == transfer_time(1_MiB, kRate) + 2_us);
    // Packets of 4 KiB are cut through, and 256 of them round their times up.
    CHECK(traffic.messages[0].end - traffic.messages[0].alone <= 256_ps);
    CHECK(traffic.messages[0].end >= traffic.messages[0].alone);
    CHECK(summary_of(traffic).throughput_ratio == doctest::Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("an incast of n takes n times as long but at the ideal level, and keeps 1 / n") {
  const std::uint32_t senders = 7;
  const Cluster cluster = star(8, kRate, 1_us);
  const TrafficMatrix matrix = matrix_of(incast_pairs({1, 2, 3, 4, 5, 6, 7}, 0), 1_MiB);
  for (const NetworkLevel level : kLevels) {
    const TrafficSummary summary = summary_of(simulated(matrix, cluster, level));
    const std::uint32_t times = level == NetworkLevel::ideal ? 1 : senders;
    CHECK(seconds(summary.time) == doctest::Approx(seconds(transfer_time(1_MiB, kRate) * times + 2_us)).epsilon(0.01));
    REQUIRE(summary.completion.has_value());
    CHECK(summary.completion->p99 == summary.completion->longest);
    CHECK(summary.throughput_ratio ==
          doctest::Approx(1.0 / times).epsilon(level == NetworkLevel::packet ? 0.05 : 0.02));
    CHECK(summary.bytes == 7_MiB);
  }
}

TEST_CASE("two flows on one link have half each in a window, whenever the second one joins") {
  const Cluster cluster = star(3, kRate, 1_us);
  for (const NetworkLevel level : {NetworkLevel::flow, NetworkLevel::packet}) {
    TrafficMatrix matrix = matrix_of({{1, 0}, {2, 0}}, 100_KiB);
    matrix.messages[1].start = 300_us;
    matrix.window = TrafficMatrix::Window{1_ms, 3_ms};
    const SimulatedTraffic shared = simulated(matrix, cluster, level);
    CHECK(shared.throughput_ratios[0] == doctest::Approx(0.5).epsilon(0.01));
    CHECK(shared.throughput_ratios[1] == doctest::Approx(0.5).epsilon(0.01));
    const TrafficSummary summary = summary_of(shared);
    CHECK(summary.goodput == doctest::Approx(1e10).epsilon(0.01));
    CHECK(summary.fairness == doctest::Approx(1).epsilon(0.001));
    CHECK_FALSE(summary.completion.has_value());
    matrix.window = TrafficMatrix::Window{0_us, 300_us};  // before the second one has begun
    const SimulatedTraffic alone = simulated(matrix, cluster, level);
    CHECK(alone.throughput_ratios[0] == doctest::Approx(1).epsilon(0.01));
    CHECK(alone.throughput_ratios[1] == doctest::Approx(0).epsilon(0.01));
    CHECK(summary_of(alone).fairness == doctest::Approx(0.5).epsilon(0.01));
  }
}

TEST_CASE("a round begins when all of the one before it has been delivered") {
  const Cluster cluster = star(3, kRate, 1_us);
  const TrafficMatrix once = matrix_of({{1, 0}, {2, 0}}, 1_MiB);
  for (const NetworkLevel level : kLevels) {
    const Time one = simulated(once, cluster, level).time;
    const SimulatedTraffic three = simulated(repeated(once, 3), cluster, level);
    REQUIRE(three.messages.size() == 6);
    CHECK(three.time == one * 3);
    CHECK(three.messages[2].start == one);
    CHECK(three.messages[5].start == one * 2);
  }
}

TEST_CASE("messages that wait for each other are found") {
  TrafficMatrix matrix = matrix_of({{1, 0}, {2, 0}}, 1_KiB);
  CHECK(never_fired(matrix) == TrafficMatrix::kNoTrigger);
  matrix.triggers = {1, 1};
  matrix.fires = {1, 0};
  matrix.messages[0] = {0, 1_KiB, {}, 0, 0, 1};  // waits for trigger 0, counts for 1
  CHECK(never_fired(matrix) == 0);
  matrix.messages[1] = {1, 1_KiB, {}, TrafficMatrix::kNoTrigger, 1, 1};
  CHECK(never_fired(matrix) == TrafficMatrix::kNoTrigger);
  CHECK(simulated(matrix, star(3, kRate, 1_us), NetworkLevel::flow).messages[1].start > Time::zero());
}

TEST_CASE("queue pairs carry shares of a message, and the time alone counts what they share") {
  const Cluster cluster = star(2, kRate, 1_us);
  for (const NetworkLevel level : kLevels) {
    NetworkOptions options = at(level);
    options.queue_pairs = 4;
    const SimulatedTraffic traffic = simulate_traffic(matrix_of({{0, 1}}, 1_MiB), cluster, 1, options);
    CHECK(traffic.messages[0].alone == transfer_time(1_MiB, kRate) + 2_us);
    CHECK(summary_of(traffic).throughput_ratio == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("more paths of one message are no more cables at the ideal level") {
  const Cluster cluster = star(2, kRate, 500_ns);
  NetworkOptions options = at(NetworkLevel::ideal);
  options.queue_pairs = 4;
  const SimulatedTraffic result = simulate_traffic(matrix_of({{0, 1}}, 1_MiB), cluster, 1, options);
  CHECK(result.time == 1_us + transfer_time(1_MiB, kRate));
}

TEST_CASE("a queue pair carries no more than the flow rate, and several carry that each until the link is full") {
  const Cluster cluster = star(2, kRate, 1_us);
  for (const NetworkLevel level : kLevels) {
    for (const std::uint32_t pairs : {1U, 2U, 4U}) {
      CAPTURE(pairs);
      NetworkOptions options = at(level);
      options.queue_pairs = pairs;
      options.flow_rate = Bandwidth{kRate.count() / 4};
      const Time time = simulate_traffic(matrix_of({{0, 1}}, 1_MiB), cluster, 1, options).time;
      const Time by_law = transfer_time(Bytes{(1_MiB).count() / pairs}, *options.flow_rate) + 2_us;
      if (level == NetworkLevel::packet) {  // the last packet is there when it has left, not when another might
        CHECK(time.count() > by_law.count() * 99 / 100);
        CHECK(time.count() < by_law.count() * 101 / 100);
      } else {
        CHECK(time == by_law);
      }
    }
  }
}

TEST_CASE("a flow rate above what links carry changes nothing") {
  const Cluster cluster = star(3, kRate, 1_us);
  for (const NetworkLevel level : kLevels) {
    NetworkOptions options = at(level);
    const TrafficMatrix matrix = matrix_of({{0, 2}, {1, 2}}, 1_MiB);
    const Time time = simulate_traffic(matrix, cluster, 1, options).time;
    options.flow_rate = kRate + kRate;
    CHECK(simulate_traffic(matrix, cluster, 1, options).time == time);
  }
}

TEST_CASE("in a window a link carries no more than its rate, also where packets are lost and wait for a timeout") {
  const Cluster cluster = star(9, kRate, 500_ns);
  EndpointPairs pairs;
  for (std::uint32_t sender = 1; sender < 9; ++sender) { pairs.push_back({sender, 0}); }
  TrafficMatrix matrix = matrix_of(pairs, 16_MiB);
  matrix.window = TrafficMatrix::Window{2_ms, 3_ms};
  NetworkOptions options = at(NetworkLevel::packet);
  options.packet.fabric.flow_control = FlowControl::none;
  options.packet.fabric.queue = 512_KiB;
  const SimulatedTraffic result = simulate_traffic(matrix, cluster, 1, options);
  double together = 0;
  for (const double rate : result.rates) { together += rate; }
  CHECK(result.network.packets.value().switches.dropped > 0);
  CHECK(together <= static_cast<double>(kRate.count()) * 1.001);  // a packet may have begun to arrive before
  CHECK(together > 0);
}

TEST_CASE("receivers that ask for packets get them all where packets are lost whole") {
  const Cluster cluster = star(9, kRate, 500_ns);
  EndpointPairs pairs;
  for (std::uint32_t sender = 1; sender < 9; ++sender) { pairs.push_back({sender, 0}); }
  NetworkOptions options = at(NetworkLevel::packet);
  options.packet.transport.control = congestion_control("pull");
  options.packet.transport.recovery = TransportSpec::Recovery::selective;
  options.packet.fabric.flow_control = FlowControl::none;
  options.packet.fabric.queue = 64_KiB;
  const SimulatedTraffic result = simulate_traffic(matrix_of(pairs, 1_MiB), cluster, 1, options);
  CHECK(result.network.packets.value().switches.dropped > 0);
  CHECK(result.time >= transfer_time(8_MiB, kRate));
}

TEST_CASE("no link is said to be busier than it can be, and its bytes are those of its messages") {
  const Cluster cluster = star(4, kRate, 1_us);
  for (const NetworkLevel level : {NetworkLevel::flow, NetworkLevel::packet}) {
    NetworkOptions options = at(level);
    options.count_ports = true;
    const SimulatedTraffic traffic = simulate_traffic(matrix_of(all_to_all_pairs(4), 1_MiB), cluster, 1, options);
    CHECK(traffic.network.ports.size() == 8);
    for (const PortLoad& port : traffic.network.ports) {
      CHECK(port.carried == 3_MiB);
      CHECK(transfer_time(port.carried, port.rate) <= traffic.time);
    }
  }
}

TEST_CASE("no message is faster beside others than alone, and no link is busy for longer than it was looked at") {
  const Cluster cluster = star(8, kRate, 1_us);
  EndpointPairs incast;
  for (std::uint32_t sender = 1; sender < 8; ++sender) { incast.emplace_back(sender, 0); }
  for (const Bytes payload : {1024_B, 4096_B, 65536_B}) {
    for (const Bytes header : {Bytes{0}, Bytes{26}, Bytes{90}}) {
      for (const EndpointPairs& pairs : {incast, shift_pairs(8, 1)}) {
        NetworkOptions options = at(NetworkLevel::packet);
        options.packet.transport.payload = payload;
        options.packet.transport.header = header;
        options.packet.transport.timeout = 20_us;  // too short for an incast: what has arrived is sent again
        const SimulatedTraffic traffic = simulate_traffic(matrix_of(pairs, 1_MiB), cluster, 1, options);
        CAPTURE(payload.count());
        CAPTURE(header.count());
        CHECK(traffic.network.observed >= traffic.time);
        for (const MessageTimes& message : traffic.messages) { CHECK(message.end - message.start >= message.alone); }
        for (const LinkLoad& load : traffic.network.loads) {
          CHECK(transfer_time(load.carried, cluster.fabric->link(load.link).rate) <= traffic.network.observed);
        }
      }
    }
  }
}
