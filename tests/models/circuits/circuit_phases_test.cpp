#include "models/circuits/circuit_phases.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "sim/error.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr Bytes kElement{4};
constexpr std::int64_t kElements = 1 << 20;
const Bytes kSize = kElement * kElements;

CircuitSwitch circuits(std::uint32_t ports, Time delay = 10_us) {
  return {.ports = ports, .rate = 10_GBps, .latency = 1_us, .delay = delay};
}

MessageRounds rounds_of(CollectiveKind kind, const char* algorithm, std::uint32_t ranks) {
  const Collective collective{kind, ranks, Elements{kElements}};
  return message_rounds(*find(kind, algorithm).make(collective, {}));
}

CircuitRun run(CollectiveKind kind, const char* algorithm, std::uint32_t ranks, const CircuitSwitch& with,
               CircuitChange change) {
  return run_over_circuits(rounds_of(kind, algorithm, ranks), kElement, with, change);
}

constexpr auto kAllReduce = CollectiveKind::all_reduce;

}  // namespace

TEST_CASE("rounds are those that an algorithm's costs count, and carry what its busiest rank sends") {
  for (const Algorithm& algorithm : catalog()) {
    const Collective collective{algorithm.kind, 16, Elements{1600}};
    if (algorithm.engine != Engine::none || algorithm.refuses(collective, {}) ||
        algorithm.kind == CollectiveKind::barrier) {
      continue;
    }
    CAPTURE(name(algorithm.kind));
    CAPTURE(algorithm.name);
    const auto rounds = message_rounds(*algorithm.make(collective, {}));
    CHECK(rounds.size() <= algorithm.cost(collective).steps);
    std::vector<std::int64_t> sent(16);
    for (const auto& round : rounds) {
      for (const RankMessage& message : round) { sent[message.from] += message.count.count(); }
    }
    CHECK(*std::max_element(sent.begin(), sent.end()) == algorithm.cost(collective).sent.count());
  }
}

// 2 (P - 1) rounds of a P-th each over all ports, which lead to one neighbour: nothing ever changes.
TEST_CASE("a ring stays, and has all ports of its ranks") {
  for (const std::uint32_t ports : {1U, 4U}) {
    const Time expected = (1_us + transfer_time(kSize / 8, 10_GBps * ports)) * 14;
    for (const CircuitChange change : {CircuitChange::never, CircuitChange::best, CircuitChange::rounds}) {
      const CircuitRun ring = run(kAllReduce, "ring", 8, circuits(ports), change);
      CHECK(ring.time == expected);
      CHECK(ring.changes == 0);
      CHECK(ring.rounds == 14);
    }
  }
}

// 2 log P rounds; the pairs of the middle two are the same, and those of the last are those of the next one's first.
TEST_CASE("halving and doubling change circuits for every distance but one") {
  const CircuitRun changed = run(kAllReduce, "halving_doubling", 8, circuits(1), CircuitChange::rounds);
  Time expected = 1_us * 6 + 10_us * 4;
  for (const int part : {2, 4, 8}) { expected += transfer_time(kSize / part, 10_GBps) * 2; }
  CHECK(changed.time == expected);
  CHECK(changed.changes == 4);
  CHECK(changed.changing == 10_us * 4);
  // With a port for each distance all circuits stay.
  const CircuitRun stays = run(kAllReduce, "halving_doubling", 8, circuits(3), CircuitChange::never);
  CHECK(stays.time == expected - 10_us * 4);
  CHECK(stays.changes == 0);
  CHECK_THROWS_WITH_AS(run(kAllReduce, "halving_doubling", 8, circuits(2), CircuitChange::never),
                       "circuits never change, and a rank has 2 ports for 3 peers", SimulationError);
}

TEST_CASE("a round with more peers than ports takes several sets of circuits") {
  const CircuitRun all = run(CollectiveKind::all_to_all, "direct", 8, circuits(3), CircuitChange::best);
  // Seven peers: three, three, and one over all three ports.
  const Time part = transfer_time(kSize / 8, 10_GBps);
  CHECK(all.time == (1_us + part) * 2 + 1_us + transfer_time(kSize / 8, 10_GBps * 3) + 10_us * 3);
  CHECK(all.changes == 3);
  CHECK(run(CollectiveKind::all_to_all, "direct", 8, circuits(7), CircuitChange::never).time == 1_us + part);
}

TEST_CASE("where changing costs nothing circuits follow every round, where it costs much they stay") {
  const CircuitRun free = run(kAllReduce, "halving_doubling", 16, circuits(4, Time::zero()), CircuitChange::best);
  const CircuitRun each = run(kAllReduce, "halving_doubling", 16, circuits(4, Time::zero()), CircuitChange::rounds);
  CHECK(free.time == each.time);
  const CircuitRun dear = run(kAllReduce, "halving_doubling", 16, circuits(4, 1_s), CircuitChange::best);
  const CircuitRun stays = run(kAllReduce, "halving_doubling", 16, circuits(4, 1_s), CircuitChange::never);
  CHECK(dear.time == stays.time);
}

TEST_CASE("a set of circuits that stays for the next collective is worth a longer way") {
  // Ends that are alike save a change: the first and last distance, and all between them in one set.
  const CircuitSwitch with{.ports = 4, .rate = 12.5_GBps, .latency = 1_us, .delay = 209_us};
  const CircuitRun run =
      run_over_circuits(rounds_of(kAllReduce, "halving_doubling", 32), Bytes{1}, with, CircuitChange::best);
  CHECK(run.changes == 2);
}

namespace {

/// Every way to cut the rounds into stretches, each with one set.
Time least_by_trying(const MessageRounds& rounds, const CircuitSwitch& with) {
  Time least = Time::max();
  for (std::uint32_t cuts = 0; cuts < 1U << (rounds.size() - 1); ++cuts) {
    Time time;
    bool fits = true;
    std::uint32_t sets = 0;
    MessageRounds stretch;
    std::set<std::pair<std::uint32_t, std::uint32_t>> first;
    std::set<std::pair<std::uint32_t, std::uint32_t>> last;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      stretch.push_back(rounds[i]);
      if (i + 1 < rounds.size() && (cuts >> i & 1U) == 0) { continue; }
      ++sets;
      last.clear();
      for (const auto& round : stretch) {
        for (const RankMessage& message : round) { last.insert({message.from, message.to}); }
      }
      if (sets == 1) { first = last; }
      try {
        time += run_over_circuits(stretch, kElement, with, CircuitChange::never).time;
      } catch (const SimulationError&) { fits = false; }
      stretch.clear();
    }
    const bool closed = first == last;
    if (fits) { least = std::min(least, time + with.delay * (sets > 1 ? sets - (closed ? 1 : 0) : 0)); }
  }
  return least;
}

}  // namespace

TEST_CASE("the best stretches are those that trying all finds") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    MessageRounds rounds(2 + random() % 5);
    for (auto& round : rounds) {
      const auto shift = static_cast<std::uint32_t>(1 + random() % 4);
      const Elements count{static_cast<std::int64_t>(1 + random() % 100'000)};
      for (std::uint32_t rank = 0; rank < 6; ++rank) { round.push_back({rank, (rank + shift) % 6, count}); }
    }
    if (trial % 2 == 0) { rounds.back() = rounds.front(); }
    const CircuitSwitch with =
        circuits(static_cast<std::uint32_t>(2 + random() % 3), Time{static_cast<std::int64_t>(random() % 30'000'000)});
    CHECK(run_over_circuits(rounds, kElement, with, CircuitChange::best).time == least_by_trying(rounds, with));
  }
}
