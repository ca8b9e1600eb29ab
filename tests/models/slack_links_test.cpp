#include "models/network/slack_links.hpp"

#include <doctest/doctest.h>

#include "models/network/max_min_shares.hpp"
#include "sim/random.hpp"
#include "tests/models/network_rig.hpp"

namespace athanor::test {

using namespace literals;

namespace {

std::vector<bool> slack_of(FlowGraph plan) {
  mark_slack_links(plan);
  std::vector<bool> slack;
  for (const FlowGraph::Link& link : plan.links) { slack.push_back(link.slack); }
  return slack;
}

}  // namespace

TEST_CASE("a link is slack where all that cross it cross another that is no faster") {
  // A host's cable, then two links between switches, of which the second is as fast and carries both or one.
  FlowGraph plan = links_of({10_GBps, 10_GBps, 10_GBps});
  add_connection(plan, {{0}, {1}});
  add_connection(plan, {{0}, {2}});
  CHECK(slack_of(plan) == std::vector{false, true, true});
}

TEST_CASE("a slower link is not slack, nor is one that others cross as well") {
  FlowGraph plan = links_of({10_GBps, 10_GBps, 9_GBps});
  add_connection(plan, {{0}, {1}, {2}});
  add_connection(plan, {{1}});
  CHECK(slack_of(plan) == std::vector{true, false, false});
}

TEST_CASE("of equal links on one path one is left") {
  FlowGraph plan = links_of({10_GBps, 10_GBps, 10_GBps});
  add_connection(plan, {{2}, {1}, {0}});
  CHECK(slack_of(plan) == std::vector{false, true, true});
}

TEST_CASE("a link that one path crosses twice bears less than its rate") {
  FlowGraph plan = links_of({10_GBps, 20_GBps});
  add_connection(plan, {{0}, {1}, {1}});
  CHECK(slack_of(plan) == std::vector{false, false});
}

TEST_CASE("a link that bears the caps of all that cross it is slack, with a byte per second each for rounding") {
  for (const std::int64_t beyond : {-3, -2, -1, 0, 1}) {
    FlowGraph plan = links_of({Bandwidth{2'000'000 - beyond}, 1_GBps});
    add_connection(plan, {{0}}, Time::zero(), Bandwidth{1'000'000});
    add_connection(plan, {{0}, {1}}, Time::zero(), Bandwidth{1'000'000});
    CHECK(slack_of(plan) == std::vector{beyond <= -2, true});
  }
}

TEST_CASE("without slack links all rates are the same to the last unit, whatever starts and stops") {
  std::uint32_t slack = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomStream stream(seed, "slack links");
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(stream.below(end)); };
    FlowGraph plan;
    for (std::uint32_t link = 0; link < 24; ++link) {
      plan.links.push_back({Bandwidth{1'000'003 + below(3) * 500'001}});
    }
    for (std::uint32_t flow = 0; flow < 30; ++flow) {
      const std::uint32_t host = below(6);
      add_connection(plan, {{host}, {6 + 2 * host + below(2)}, {18 + below(6)}}, Time::zero(),
                     below(3) > 0 ? Bandwidth{300'001} : Bandwidth::max());
    }
    FlowGraph marked = plan;
    mark_slack_links(marked);
    for (const FlowGraph::Link& link : marked.links) { slack += link.slack ? 1 : 0; }
    MaxMinShares all(plan);
    MaxMinShares part(marked);
    std::vector<bool> active(plan.connections.size());
    for (std::uint32_t turn = 0; turn < 40; ++turn) {
      for (std::uint32_t k = 0; k < 1 + below(8); ++k) {
        const ConnectionId flow{below(30)};
        active[flow.value] = !active[flow.value];
        for (MaxMinShares* each : {&all, &part}) { active[flow.value] ? each->start(flow) : each->stop(flow); }
      }
      all.update();
      part.update();
      for (const ConnectionId flow : plan.connections.ids()) { REQUIRE(part.rate(flow) == all.rate(flow)); }
    }
  }
  CHECK(slack > 100);
}

}  // namespace athanor::test
