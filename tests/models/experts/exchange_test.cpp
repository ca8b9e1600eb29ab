#include "models/experts/exchange.hpp"

#include <map>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"

using namespace athanor;
using namespace athanor::literals;
using doctest::Approx;

namespace {

/// Nodes of four GPUs, each with a NIC, of which NIC r of every node is on rail r.
Cluster rails(std::uint32_t count) {
  NodeSpec spec;
  spec.name = "four GPUs with a NIC each";
  spec.gpus = spec.nics = 4;
  spec.scale_up = NvSwitchSpec{{80_GBps, 80_GBps, 100_ns}};
  spec.pcie_link = {100_GBps, 100_GBps, 250_ns};
  spec.nic.rate = 10_GBps;
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) { spec.pcie.push_back({0, true, {gpu}, {gpu}}); }
  ClosSpec network;
  network.hosts_per_leaf = count;
  network.host_cable = network.up_cable = network.core_cable = {10_GBps, 10_GBps, 500_ns, Time::zero()};
  return rail_only(nodes(count, spec), network);
}

/// Free of costs.
TokenExchange exchange(ExchangeKind kind, std::uint32_t experts, std::uint32_t chosen, std::uint32_t ranks) {
  return {
      .kind = kind, .routing = even_routing(experts, chosen, ranks), .tokens = 1e6, .token_bytes = 1000, .costs = {}};
}

std::vector<std::uint32_t> endpoints(std::uint32_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t e = 0; e < count; ++e) { all.push_back(e); }
  return all;
}

ExchangeTimes run(const TokenExchange& exchange, const Cluster& cluster, std::uint32_t ranks) {
  NetworkOptions options;
  options.level = NetworkLevel::flow;
  return simulate_exchange(exchange, {endpoints(ranks)}, cluster, 1, options);
}

double sum(const std::vector<ExchangeBytes>& messages, bool in_node) {
  double bytes = 0;
  for (const ExchangeBytes& each : messages) { bytes += each.in_node == in_node ? each.bytes : 0; }
  return bytes;
}

}  // namespace

TEST_CASE("every token goes once to each of its nodes, and there once to each of its ranks but the one it comes to") {
  const TokenExchange all = exchange(ExchangeKind::deep_ep, 32, 3, 8);
  const TokenSpread spread = spread_of(all.routing, 8, 4);
  const std::vector<ExchangeBytes> messages = messages_of(all, {8, 4});
  CHECK(sum(messages, false) == Approx(8 * 1e9 * spread.nodes_of_token() / 2));
  CHECK(sum(messages, true) == Approx(8 * 1e9 * spread.ranks_of_token() * 3 / 4));
  for (const ExchangeBytes& each : messages) { CHECK((each.in_node || each.from % 4 == each.to % 4)); }
}

TEST_CASE("low latency sends every choice to where its expert is, without forwarding") {
  const std::vector<ExchangeBytes> messages = messages_of(exchange(ExchangeKind::low_latency, 32, 3, 8), {8, 4});
  CHECK(messages.size() == 8 * 7);
  CHECK(sum(messages, false) + sum(messages, true) == Approx(8 * 1e9 * 3 * 7 / 8));
}

TEST_CASE("a combine sends back what its dispatch sent") {
  TokenExchange all = exchange(ExchangeKind::hybrid_ep, 16, 2, 8);
  all.routing.weights = {9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1};
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> there;
  for (const ExchangeBytes& each : messages_of(all, {8, 4})) { there[{each.from, each.to}] = each.bytes; }
  all.combines = true;
  for (const ExchangeBytes& each : messages_of(all, {8, 4})) {
    CHECK(there.at({each.to, each.from}) == each.bytes);
    there.erase({each.to, each.from});
  }
  CHECK(there.empty());
}

TEST_CASE("bytes are counted as DeepEP counts: nodes' copies, the own one too; of one node ranks' copies; or choices") {
  const double token = 1e9;
  const TokenExchange far = exchange(ExchangeKind::deep_ep, 32, 3, 8);
  CHECK(counted_bytes(far, {8, 4}) == Approx(token * spread_of(far.routing, 8, 4).nodes_of_token()));
  const TokenExchange near = exchange(ExchangeKind::deep_ep, 32, 3, 4);
  CHECK(counted_bytes(near, {4, 4}) == Approx(token * spread_of(near.routing, 4, 4).ranks_of_token()));
  CHECK(counted_bytes(exchange(ExchangeKind::low_latency, 32, 3, 8), {8, 4}) == Approx(token * 3));
}

TEST_CASE("an exchange takes as long as NICs need for nodes, or the GPUs' own links for ranks") {
  const Cluster cluster = rails(2);
  TokenExchange far = exchange(ExchangeKind::deep_ep, 32, 3, 8);
  const TokenSpread spread = spread_of(far.routing, 8, 4);
  const double nics = 1e9 * spread.nodes[1] / 10e9;
  const double links = 2 * 3 * 1e9 * spread.ranks[1] / 80e9;
  CHECK(seconds(run(far, cluster, 8).time) == Approx(std::max(nics, links)).epsilon(1e-3));
  far.costs.network = 0.5;
  far.costs.overhead = 1_ms;
  CHECK(seconds(run(far, cluster, 8).time) == Approx(1e-3 + std::max(2 * nics, links)).epsilon(1e-3));
  far.costs.scale_up = 0.01;
  CHECK(seconds(run(far, cluster, 8).time) == Approx(1e-3 + links * 100).epsilon(1e-3));
}

TEST_CASE("multiprocessors copy what a rank receives: tokens x (time of one + bytes / rate) / how many they are") {
  TokenExchange near = exchange(ExchangeKind::deep_ep, 32, 3, 4);
  near.costs.multiprocessors = 10;
  near.costs.copy_token = Time{200'000};
  near.costs.copy_rate = 1e9;
  const double copies = 1e6 * spread_of(near.routing, 4, 4).ranks_of_token();
  CHECK(seconds(copy_time(near, {4, 4})) == Approx(copies * 1.2e-6 / 10));
  CHECK(run(near, rails(1), 4).time == copy_time(near, {4, 4}));
}

TEST_CASE("the busiest expert rank holds everyone up, and replicas of its experts relieve it") {
  const Cluster cluster = rails(1);
  TokenExchange all = exchange(ExchangeKind::low_latency, 8, 2, 4);
  const Time even = run(all, cluster, 4).time;
  all.routing.weights = {20, 1, 1, 1, 1, 1, 1, 1};
  const Time uneven = run(all, cluster, 4).time;
  CHECK(uneven > even);
  all.routing.replicas = {{0, 1, 2, 3}, {0}, {0}, {1}, {1}, {2}, {2}, {3}};
  CHECK(run(all, cluster, 4).time < uneven);
}

TEST_CASE("groups whose ranks lie unevenly on nodes are refused") {
  const TokenExchange all = exchange(ExchangeKind::deep_ep, 32, 3, 4);
  NetworkOptions options;
  CHECK_THROWS_AS(simulate_exchange(all, {{0, 1, 2, 4}}, rails(2), 1, options), SimulationError);
  CHECK_THROWS_AS(simulate_exchange(all, {{0, 1, 4, 5}, {2, 6, 8, 12}}, rails(4), 1, options), SimulationError);
}
