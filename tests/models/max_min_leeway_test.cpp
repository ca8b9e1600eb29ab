#include <doctest/doctest.h>

#include "models/network/flow_network.hpp"
#include "tests/models/naive_max_min.hpp"

namespace athanor::test {

using namespace literals;

namespace {

/// No link carries more than its rate, a full one leaves no more than its leeway (and less than a unit for each flow),
/// and what holds each flow back is its cap or a full link on which nobody is faster: these are the fair rates of full
/// links that are as fast as what is used of them.
void check_fair(const MaxMinShares& shares, const FlowGraph& plan, const std::vector<bool>& active, Ratio leeway) {
  IdVector<LinkIndex, FineRate> used(plan.links.size());
  IdVector<LinkIndex, FineRate> fastest(plan.links.size());
  IdVector<LinkIndex, FineRate> flows(plan.links.size());
  const auto for_uses = [&plan](ConnectionId c, const auto& visit) {
    const FlowGraph::Connection& connection = plan.connections[c];
    for (std::uint32_t u = 0; u < connection.uses; ++u) { visit(plan.uses[connection.first_use + u]); }
  };
  for (const ConnectionId c : plan.connections.ids()) {
    if (!active[c.value]) { continue; }
    for_uses(c, [&](const FlowGraph::Use& use) {
      used[use.link] += shares.rate(c) * use.flows;
      flows[use.link] += use.flows;
      fastest[use.link] = std::max(fastest[use.link], shares.rate(c));
    });
  }
  for (const LinkIndex l : plan.links.ids()) {
    const FineRate capacity = plan.links[l].rate.count() * kFinePerByte;
    CHECK(shares.used(l) == used[l]);
    CHECK(used[l] <= capacity);
    const FineRate least = capacity - scaled_down(plan.links[l].rate, leeway).count() * kFinePerByte - flows[l];
    if (shares.is_full(l)) { CHECK(used[l] >= least); }
  }
  for (const ConnectionId c : plan.connections.ids()) {
    if (!active[c.value]) { continue; }
    // The cap of who has none is too large to be multiplied.
    const FineRate rate = shares.rate(c);
    bool held = rate % kFinePerByte == 0 && rate / kFinePerByte == plan.connections[c].cap.count();
    for_uses(
        c, [&](const FlowGraph::Use& use) { held |= shares.is_full(use.link) && fastest[use.link] == shares.rate(c); });
    CHECK(held);
  }
}

}  // namespace

namespace {

/// Messages over random paths of three of so many links of one rate, all from the start or one after the other.
struct RandomTraffic {
  FlowGraph plan;
  std::vector<Time> starts;
  std::vector<Bytes> sizes;
};

RandomTraffic random_traffic(Random& random, std::uint32_t links, std::uint32_t messages, Time within) {
  RandomTraffic traffic{links_of(std::vector<Bandwidth>(links, 10_GBps)), {}, {}};
  const auto any_link = [&] { return static_cast<std::uint32_t>(random.between(0, links / 3 - 1)); };
  for (std::uint32_t m = 0; m < messages; ++m) {
    add_connection(traffic.plan, {{any_link()}, {links / 3 + any_link()}, {2 * (links / 3) + any_link()}});
    traffic.starts.push_back(within == 0_ps ? 0_ps : Time{random.between(0, within.count())});
    traffic.sizes.push_back(1_MiB + Bytes{random.between(0, 63 << 20)});
  }
  return traffic;
}

std::vector<Time> ends_of(const RandomTraffic& traffic, Ratio leeway) {
  Simulator simulator;
  Script script(simulator);
  Log log(simulator, traffic.plan.connections.size());
  FlowNetwork network(simulator, traffic.plan, log, leeway);
  for (std::uint32_t m = 0; m < traffic.sizes.size(); ++m) {
    script.at(traffic.starts[m], [&network, &traffic, m] { network.move(ConnectionId{m}, traffic.sizes[m]); });
  }
  simulator.run();
  std::vector<Time> ends;
  for (std::uint32_t m = 0; m < traffic.sizes.size(); ++m) { ends.push_back(log.of[m].delivered.front()); }
  return ends;
}

double last_end(const std::vector<Time>& ends) { return seconds(*std::max_element(ends.begin(), ends.end())); }

}  // namespace

TEST_CASE("with a leeway messages take less than that longer in the mean, and hardly any three times as much") {
  Random random(43);
  for (int system = 0; system < 24; ++system) {
    const Ratio leeway{1 << (system % 4), 200};
    const Time within{system % 2 == 0 ? 0 : 40'000'000'000};
    const RandomTraffic traffic = random_traffic(random, system % 3 == 0 ? 18 : 90, 600, within);
    CAPTURE(to_double(leeway));
    const std::vector<Time> exact = ends_of(traffic, {0, 1});
    const std::vector<Time> ends = ends_of(traffic, leeway);
    std::vector<double> errors;
    double sum = 0;
    for (std::size_t m = 0; m < ends.size(); ++m) {
      const double took = seconds(exact[m] - traffic.starts[m]);
      const double error = seconds(ends[m] - exact[m]) / took / to_double(leeway);
      errors.push_back(std::abs(error));
      sum += error;
    }
    std::sort(errors.begin(), errors.end());
    CHECK(sum / static_cast<double>(errors.size()) > 0);
    CHECK(sum / static_cast<double>(errors.size()) < 0.75);
    CHECK(errors[errors.size() * 9 / 10] < 2);
    CHECK(errors[errors.size() * 99 / 100] < 3);
    CHECK(std::abs(last_end(ends) / last_end(exact) - 1) < to_double(leeway));
  }
}

TEST_CASE("a leeway costs a message that is alone nothing, nor messages that begin and end together") {
  FlowGraph plan = links_of({10_GBps, 10_GBps});
  for (std::uint32_t c = 0; c < 5; ++c) { add_connection(plan, {{0}, {1}}); }
  const RandomTraffic together{plan, std::vector<Time>(5, 1_us), std::vector<Bytes>(5, 8_MiB)};
  CHECK(ends_of(together, {1, 10}) == ends_of(together, {0, 1}));
  const std::vector<Time> in_turns{1_us, 10'000_us, 20'000_us, 30'000_us, 40'000_us};
  const RandomTraffic apart{plan, in_turns, std::vector<Bytes>(5, 8_MiB)};
  CHECK(ends_of(apart, {1, 10}) == ends_of(apart, {0, 1}));
}

TEST_CASE("what a full link has left goes to others when it is more than the leeway, and not before") {
  // Of two hundred on a link one ends: half a per cent. Of a hundred one per cent and a bit.
  for (const std::uint32_t flows : {50U, 99U, 101U, 200U}) {
    FlowGraph plan = links_of({10_GBps});
    for (std::uint32_t c = 0; c < flows; ++c) { add_connection(plan, {{0}}); }
    MaxMinShares shares(plan, {1, 100});
    for (const ConnectionId c : plan.connections.ids()) { shares.start(c); }
    shares.update();
    const FineRate before = shares.rate(ConnectionId{1});
    shares.stop(ConnectionId{0});
    CHECK(shares.update().empty() == (flows > 100));
    const FineRate all = Bandwidth{10_GBps}.count() * kFinePerByte;
    CHECK(shares.rate(ConnectionId{1}) == (flows > 100 ? before : all / (flows - 1)));
  }
}

TEST_CASE("with a leeway rates are at every moment the fair ones of links that are slower by no more than it") {
  Random random(41);
  std::uint64_t let_be = 0;
  for (int system = 0; system < 400; ++system) {
    CAPTURE(system);
    const FlowGraph plan = random_plan(random, 9, 60, 1'000'000, 1'000'000'000, system % 3 == 0 ? 3 : 1);
    const Ratio leeway{1 << (system % 5), 100};
    MaxMinShares shares(plan, leeway);
    std::vector<bool> active(plan.connections.size());
    for (int round = 0; round < 40; ++round) {
      const std::int64_t changes = random.between(0, round % 8 == 0 ? 30 : 2);
      for (std::int64_t k = 0; k < changes; ++k) {
        const auto c = static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(active.size()) - 1));
        active[c] = !active[c];
        active[c] ? shares.start(ConnectionId{c}) : shares.stop(ConnectionId{c});
      }
      std::vector<FineRate> before;
      for (const ConnectionId c : plan.connections.ids()) { before.push_back(shares.rate(c)); }
      const std::vector<ConnectionId> changed = shares.update();
      check_fair(shares, plan, active, leeway);
      for (const ConnectionId c : plan.connections.ids()) {
        const bool told = std::find(changed.begin(), changed.end(), c) != changed.end();
        if (active[c.value]) { CHECK(told == (before[c.value] != shares.rate(c))); }
      }
    }
    let_be += shares.let_be();
  }
  CHECK(let_be > 1000);
}

}  // namespace athanor::test
