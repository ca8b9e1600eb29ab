#include <doctest/doctest.h>

#include "models/network/flow_network.hpp"
#include "models/network/ideal_network.hpp"
#include "sim/check.hpp"
#include "tests/models/network_rig.hpp"

// Laws of any network: what becomes of the messages of connections that have their links to themselves.

namespace athanor::test {

using namespace literals;

TEST_CASE_TEMPLATE("messages of one connection are injected one after the other and delivered a latency later", Kind,
                   FlowNetwork, IdealNetwork) {
  FlowGraph plan = links_of({10_GBps});
  add_connection(plan, {{0}}, 3_us);
  Rig<Kind> rig(plan);
  const std::vector<Bytes> sizes{1_MiB, 0_B, 1_B, 0_B, 0_B, 5_KiB, 1_MiB};
  std::vector<Time> injected;
  std::vector<Time> delivered;
  Time end = 7_us;
  for (const Bytes size : sizes) {
    rig.move_at(7_us, 0, size);
    if (size > 0_B) { end += time_at(size, 10_GBps); }
    injected.push_back(end);
    delivered.push_back(end + 3_us);
  }
  rig.simulator.run();
  CHECK(rig.of(0).injected == injected);
  CHECK(rig.of(0).delivered == delivered);
}

TEST_CASE_TEMPLATE("a message that comes while others are in flight waits for injection alone", Kind, FlowNetwork,
                   IdealNetwork) {
  FlowGraph plan = links_of({10_GBps});
  add_connection(plan, {{0}}, 1_ms);
  Rig<Kind> rig(plan);
  const Time one = time_at(1_MiB, 10_GBps);
  rig.move_at(0_ps, 0, 1_MiB);
  rig.move_at(one / 2, 0, 1_MiB);  // waits for the first
  rig.move_at(one * 3, 0, 1_MiB);  // finds the source free, and two in flight
  rig.simulator.run();
  CHECK(rig.of(0).injected == std::vector{one, one * 2, one * 4});
  CHECK(rig.of(0).delivered == std::vector{one + 1_ms, one * 2 + 1_ms, one * 4 + 1_ms});
}

TEST_CASE_TEMPLATE("nothing is delivered one picosecond early", Kind, FlowNetwork, IdealNetwork) {
  for (const std::int64_t size : {0, 1, 999, 1 << 20}) {
    FlowGraph plan = links_of({Bandwidth{9'999'999'967}});
    add_connection(plan, {{0}}, 1_us);
    Rig<Kind> rig(plan);
    rig.move_at(0_ps, 0, Bytes{size});
    const Time due = 1_us + (size == 0 ? 0_ps : time_at(Bytes{size}, Bandwidth{9'999'999'967}));
    std::size_t before = 1;
    rig.script.at(due - 1_ps, [&] { before = rig.of(0).delivered.size(); });
    rig.simulator.run();
    CHECK(before == 0);
    CHECK(rig.of(0).delivered == std::vector{due});
  }
}

TEST_CASE_TEMPLATE("a connection without links is limited by its cap alone, and by nothing without one", Kind,
                   FlowNetwork, IdealNetwork) {
  FlowGraph plan;
  add_connection(plan, {}, 2_us, 3_GBps);
  add_connection(plan, {}, 2_us);
  Rig<Kind> rig(plan);
  for (std::uint32_t c : {0U, 1U}) {
    rig.move_at(1_us, c, 1_MiB);
    rig.move_at(1_us, c, 1_KiB);
  }
  rig.simulator.run();
  const Time first = 1_us + time_at(1_MiB, 3_GBps);
  CHECK(rig.of(0).injected == std::vector{first, first + time_at(1_KiB, 3_GBps)});
  CHECK(rig.of(1).injected == std::vector{1_us, 1_us});
  CHECK(rig.of(1).delivered == std::vector{3_us, 3_us});
}

TEST_CASE_TEMPLATE("the first grain arrives a latency and its own transfer time after the start, never after the rest",
                   Kind, FlowNetwork, IdealNetwork) {
  for (const Bytes grain : {1_B, 4_KiB, 1_MiB, 1_GiB}) {
    CAPTURE(grain.count());
    FlowGraph plan = links_of({10_GBps});
    add_connection(plan, {{0}}, 1_us, Bandwidth::max(), grain);
    Rig<Kind> rig(plan);
    std::vector<Time> grains;
    Time start;
    for (const Bytes size : {1_MiB, 0_B, 3_B, 64_KiB}) {
      rig.move_at(0_ps, 0, size);
      const Bytes part = std::min(grain, size);
      grains.push_back(start + 1_us + (part == 0_B ? 0_ps : time_at(part, 10_GBps)));
      if (size > 0_B) { start += time_at(size, 10_GBps); }
    }
    rig.simulator.run();
    CHECK(rig.of(0).grains == grains);
    for (std::size_t k = 0; k < grains.size(); ++k) { CHECK(grains[k] <= rig.of(0).delivered[k]); }
  }
}

TEST_CASE("a grain of a flow that speeds up is told of with the delivery at the latest, once and in order") {
  FlowGraph plan = links_of({10_GBps});
  add_connection(plan, {{0}}, 1_us, Bandwidth::max(), 1_MiB);
  for (int rival = 0; rival < 9; ++rival) { add_connection(plan, {{0}}); }
  Rig<FlowNetwork> rig(plan);
  rig.move_at(0_ps, 0, 1_MiB);
  rig.move_at(0_ps, 0, 1_MiB);
  for (std::uint32_t rival = 1; rival < 10; ++rival) { rig.move_at(0_ps, rival, 1_KiB); }
  rig.simulator.run();
  CHECK(rig.of(0).grains == rig.of(0).delivered);
  CHECK(rig.of(0).grains.size() == 2);
}

TEST_CASE_TEMPLATE("skipping a span shifts the rest of a run by just that span", Kind, FlowNetwork, IdealNetwork) {
  constexpr Time kSkipped = 12'345'678_ps;
  for (const Time when : {10_ps, 1_us, 20_us, 55_us, 110_us, 300_us}) {
    CAPTURE(when.count());
    FlowGraph plan = links_of({10_GBps, 7_GBps});
    for (std::uint32_t c = 0; c < 4; ++c) {
      add_connection(plan, {{c % 2}, {1}}, 1_us * (c + 1), Bandwidth::max(), c == 2 ? 100_KiB : 0_B);
    }
    Rig<Kind> straight(plan);
    Rig<Kind> warped(plan);
    for (Rig<Kind>* rig : {&straight, &warped}) {
      for (std::uint32_t k = 0; k < 8; ++k) { rig->move_at(1_ps * k, k % 4, 128_KiB * (k + 1)); }
    }
    straight.script.at(when, [] {});
    warped.script.at(when, [&] {
      CarriedBytes now;
      for (const LinkIndex l : plan.links.ids()) { now.push_back(warped.network.carried(l)); }
      warped.simulator.fast_forward(kSkipped);
      warped.network.fast_forward(kSkipped, 5, now);
    });
    straight.simulator.run();
    warped.simulator.run();
    const auto shifted = [&](std::vector<Time> times) {
      for (Time& time : times) { time += time > when ? kSkipped : 0_ps; }
      return times;
    };
    for (std::uint32_t c = 0; c < 4; ++c) {
      CHECK(warped.of(c).injected == shifted(straight.of(c).injected));
      CHECK(warped.of(c).grains == shifted(straight.of(c).grains));
      CHECK(warped.of(c).delivered == shifted(straight.of(c).delivered));
    }
    for (const LinkIndex l : plan.links.ids()) { CHECK(warped.network.carried(l) == straight.network.carried(l)); }
  }
}

namespace {

/// Two connections on one link that send for ever: each delivery makes the other send, until `left` have been sent.
template <class Kind>
struct PingPong {
  explicit PingPong(std::uint32_t messages) : plan(make_plan()), rig(plan), left(messages) {
    rig.log.on_delivered = [this](std::uint32_t c) {
      if (left == 0) { return; }
      --left;
      rig.network.move(ConnectionId{1 - c}, 100'000_B);
    };
    rig.script.at(0_ps, [this] { rig.network.move(ConnectionId{0}, 100'000_B); });
  }
  static FlowGraph make_plan() {
    FlowGraph plan = links_of({10_GBps});
    for (int c = 0; c < 2; ++c) { add_connection(plan, {{0, 3}}, 1_us, Bandwidth::max(), 10'000_B); }
    return plan;
  }
  FlowGraph plan;
  Rig<Kind> rig;
  std::uint32_t left;
};

}  // namespace

TEST_CASE_TEMPLATE("skipping repetitions of a period equals running them, in time and in bytes carried", Kind,
                   FlowNetwork, IdealNetwork) {
  constexpr std::uint32_t kSkippedPeriods = 40;  // of two messages each
  PingPong<Kind> straight(100);
  straight.rig.simulator.run();
  const Time period = straight.rig.of(0).delivered[1] - straight.rig.of(0).delivered[0];

  PingPong<Kind> warped(100 - 2 * kSkippedPeriods);
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
  CarriedBytes before;
  Network& network = warped.rig.network;
  const Time when = period / 3;
  warped.rig.script.at(when, [&] {
    network.snapshot(first);
    before.push_back(network.carried(LinkIndex{0}));
  });
  warped.rig.script.at(when + period, [&] {
    network.snapshot(second);
    warped.rig.simulator.fast_forward(period * kSkippedPeriods);
    network.fast_forward(period * kSkippedPeriods, kSkippedPeriods, before);
  });
  warped.rig.simulator.run();
  CHECK(first == second);
  CHECK(warped.rig.simulator.now() == straight.rig.simulator.now());
  CHECK(warped.rig.of(0).delivered.back() == straight.rig.of(0).delivered.back());
  CHECK(network.carried(LinkIndex{0}) == straight.rig.network.carried(LinkIndex{0}));
}

TEST_CASE_TEMPLATE("states that differ in anything to come have different snapshots", Kind, FlowNetwork, IdealNetwork) {
  std::vector<std::vector<std::int64_t>> seen;
  FlowGraph plan = links_of({10_GBps});
  for (int c = 0; c < 2; ++c) { add_connection(plan, {{0}}, 1_us, Bandwidth::max(), 1_KiB); }
  const std::vector<std::vector<Bytes>> queues{{}, {1_MiB}, {1_MiB, 0_B}, {1_MiB, 1_B}, {2_MiB}, {0_B, 3_MiB}};
  for (const std::vector<Bytes>& queue : queues) {
    for (const std::uint32_t connection : {0U, 1U}) {
      for (const Time when : {1_ps, 1_us, 2_us}) {
        if (queue.empty() && (connection == 1 || when > 1_ps)) { continue; }
        Rig<Kind> rig(plan);
        for (const Bytes size : queue) { rig.move_at(0_ps, connection, size); }
        std::vector<std::int64_t> state;
        rig.script.at(when, [&] { rig.network.snapshot(state); });
        rig.simulator.run();
        for (const std::vector<std::int64_t>& other : seen) { CHECK(state != other); }
        seen.push_back(state);
      }
    }
  }
}

TEST_CASE_TEMPLATE("a plan or a message that makes no sense is a defect of who made it", Kind, FlowNetwork,
                   IdealNetwork) {
  const auto refused = [](const FlowGraph& plan) {
    Simulator simulator;
    Log log(simulator, plan.connections.size());
    CHECK_THROWS_AS(Kind(simulator, plan, log), BrokenInvariant);
  };
  FlowGraph good = links_of({1_GBps});
  add_connection(good, {{0}});
  FlowGraph plan = good;
  plan.links[LinkIndex{0}].rate = Bandwidth::zero();
  refused(plan);
  plan = good;
  plan.uses[0].link = LinkIndex{1};
  refused(plan);
  plan = good;
  plan.uses[0].flows = 0;
  refused(plan);
  plan = good;
  plan.connections[ConnectionId{0}].uses = 2;
  refused(plan);
  plan = good;
  plan.connections[ConnectionId{0}].cap = Bandwidth::zero();
  refused(plan);
  plan = good;
  plan.connections[ConnectionId{0}].latency = Time{-1};
  refused(plan);
  Rig<Kind> rig(good);
  CHECK_THROWS_AS(rig.network.move(ConnectionId{0}, Bytes{-1}), BrokenInvariant);
}

}  // namespace athanor::test
