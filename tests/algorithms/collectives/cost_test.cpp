#include <bit>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "tests/algorithms/rounds.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

std::uint32_t log2_up(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }
std::uint32_t log2_down(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks)) - 1; }

Cost cost_of(CollectiveKind kind, std::string_view name, std::uint32_t ranks, std::int64_t count) {
  return find(kind, name).cost(sample(kind, ranks, count));
}

/// Elements that all ranks send together, and the most that one sends.
std::int64_t sent_by(const Schedule& schedule, std::uint32_t rank) {
  std::int64_t sent = 0;
  for (std::uint32_t lane = 0; lane < schedule.lanes(AgentId{rank}); ++lane) {
    const Lane shape = schedule.lane(AgentId{rank}, LaneId{lane});
    for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
      for (std::uint32_t step = 0; step < shape.steps; ++step) {
        const Primitive primitive = schedule.at(AgentId{rank}, LaneId{lane}, loop, step);
        sent += primitive.count.count() * primitive.sends.count;
      }
    }
  }
  return sent;
}

}  // namespace

TEST_CASE("the stated cost of every algorithm is what its schedule does, for even and uneven payloads") {
  for (const Algorithm& algorithm : catalog()) {
    for (std::uint32_t ranks = 1; ranks <= 17; ++ranks) {
      for (const std::int64_t count : {0, 1, 2, 16, 37, 240, 1000}) {
        CAPTURE(std::string(algorithm.name));
        CAPTURE(std::string(name(algorithm.kind)));
        CAPTURE(ranks);
        CAPTURE(count);
        const Collective collective = sample(algorithm.kind, ranks, count, ranks / 3);
        const Cost real = counted(*algorithm.make(collective, {}));
        const Cost stated = algorithm.cost(collective);
        CHECK(real.steps == stated.steps);
        CHECK(real.sent == stated.sent);
        CHECK(real.reduced == stated.reduced);
      }
    }
  }
}

TEST_CASE("costs follow the formulas of the literature where ranks divide the payload") {
  using enum CollectiveKind;
  for (std::uint32_t ranks = 2; ranks <= 64; ++ranks) {
    CAPTURE(ranks);
    const std::int64_t m = 64;
    const std::int64_t n = m * ranks;
    const std::int64_t others = ranks - 1;
    CHECK(cost_of(all_reduce, "ring", ranks, n) ==
          Cost{2 * (ranks - 1), Elements{2 * others * m}, Elements{others * m}});
    CHECK(cost_of(all_reduce, "parameter_server", ranks, n) == Cost{2, Elements{others * n}, Elements{others * n}});
    CHECK(cost_of(all_reduce, "nvls", ranks, n) == Cost{4, Elements{n + m}, Elements{0}});
    CHECK(cost_of(reduce_scatter, "ring", ranks, n) == Cost{ranks - 1, Elements{others * m}, Elements{others * m}});
    CHECK(cost_of(all_gather, "ring", ranks, n) == Cost{ranks - 1, Elements{others * m}, Elements{0}});
    CHECK(cost_of(all_to_all, "pairwise", ranks, n) == Cost{ranks - 1, Elements{others * m}, Elements{0}});
    CHECK(cost_of(broadcast, "ring", ranks, n) == Cost{ranks - 1, Elements{n}, Elements{0}});
    CHECK(cost_of(reduce, "ring", ranks, n) == Cost{ranks - 1, Elements{n}, Elements{n}});
    CHECK(cost_of(broadcast, "binomial_tree", ranks, n).steps == log2_up(ranks));
    CHECK(cost_of(reduce, "binomial_tree", ranks, n).steps == log2_down(ranks));
    CHECK(cost_of(reduce, "binomial_tree", ranks, n).reduced == Elements{n * log2_up(ranks)});
    CHECK(cost_of(send_receive, "direct", ranks, n) == Cost{1, Elements{n}, Elements{0}});
  }
}

TEST_CASE("all-reduce on a hypercube takes log2 P rounds, and two more and one payload more where ranks are folded") {
  for (std::uint32_t ranks = 2; ranks <= 33; ++ranks) {
    CAPTURE(ranks);
    const std::int64_t n = 1024;
    const std::int64_t corners = 1 << log2_down(ranks);
    const std::int64_t fold = ranks > corners ? 1 : 0;
    const Cost doubling = cost_of(CollectiveKind::all_reduce, "recursive_doubling", ranks, n);
    CHECK(doubling.steps == log2_down(ranks) + 2 * fold);
    CHECK(doubling.sent == Elements{n * (log2_down(ranks) + fold)});
    const Cost halving = cost_of(CollectiveKind::all_reduce, "halving_doubling", ranks, n);
    CHECK(halving.steps == 2 * log2_down(ranks) + 2 * fold);
    CHECK(halving.sent == Elements{2 * n * (corners - 1) / corners + fold * n});
    CHECK(halving.reduced == Elements{n * (corners - 1) / corners + fold * n});
  }
}

TEST_CASE("the double binary tree is logarithmically deep and nobody sends the payload more than twice") {
  for (std::uint32_t ranks = 2; ranks <= 300; ++ranks) {
    CAPTURE(ranks);
    const Cost cost = cost_of(CollectiveKind::all_reduce, "double_binary_tree", ranks, 1000);
    CHECK(cost.steps >= 2 * log2_down(ranks));
    CHECK(cost.steps <= 2 * (log2_up(ranks) + 1));
    // One rank of an odd number is an inner node of both trees.
    CHECK(cost.sent <= Elements{2000 + (ranks % 2 == 0 ? 0 : 500)});
    if (ranks % 2 == 0 && ranks > 2) { CHECK(cost.reduced == Elements{1000}); }
  }
}

TEST_CASE("cutting into channels, loops and slices changes no rank's traffic where the granule divides the payload") {
  Layout layout;
  layout.channels = 2;
  layout.chunk = Elements{24};
  layout.slices = 2;
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 6U, 8U, 13U}) {
      CAPTURE(std::string(algorithm.name));
      CAPTURE(ranks);
      Collective collective = sample(algorithm.kind, ranks, 0);
      collective = sample(algorithm.kind, ranks, (algorithm.granule(collective, layout) * 60).count());
      const auto whole = algorithm.make(collective, {});
      const auto cut = algorithm.make(collective, layout);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) { CHECK(sent_by(*whole, rank) == sent_by(*cut, rank)); }
    }
  }
}

TEST_CASE("all ranks of a symmetric algorithm have the same programs, lanes and ports") {
  using enum CollectiveKind;
  for (const auto& [kind, name] :
       {std::pair{all_reduce, "ring"}, std::pair{all_reduce, "nvls"}, std::pair{reduce_scatter, "ring"},
        std::pair{all_gather, "ring"}, std::pair{all_to_all, "pairwise"}}) {
    CAPTURE(std::string(name));
    Layout layout;
    layout.channels = 3;
    Collective collective{kind, 8, Elements{0}, 0, false};
    collective.count = find(kind, name).granule(collective, layout) * 5;
    const auto schedule = find(kind, name).make(collective, layout);
    for (std::uint32_t rank = 1; rank < 8; ++rank) {
      REQUIRE(schedule->lanes(AgentId{rank}) == schedule->lanes(AgentId{0}));
      for (std::uint32_t number = 0; number < schedule->lanes(AgentId{0}); ++number) {
        const LaneId lane{number};
        CHECK(schedule->lane(AgentId{rank}, lane).program == schedule->lane(AgentId{0}, lane).program);
        if (schedule->lane(AgentId{rank}, lane).out_ports == 0) { continue; }
        const Endpoint mine = schedule->target(AgentId{rank}, lane, PortId{0});
        const Endpoint first = schedule->target(AgentId{0}, lane, PortId{0});
        if (mine.agent.value < 8) { CHECK(mine.agent.value == (first.agent.value + rank) % 8); }
      }
    }
  }
}

/// How many ranks' blocks a message may hold.
std::uint32_t most_blocks(const Algorithm& algorithm, std::uint32_t ranks) {
  for (const std::string_view name :
       {"recursive_halving", "recursive_doubling", "bruck", "binomial_tree", "pat", "hierarchical", "torus"}) {
    if (algorithm.name == name && algorithm.kind != CollectiveKind::all_reduce) { return ranks; }
  }
  return 1;
}

TEST_CASE(
    "a chunk bounds every message but where blocks are short, and then by less than the number of ranks in each") {
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {2U, 3U, 8U, 16U}) {
      for (const std::int64_t count : {34, 100, 1000}) {
        CAPTURE(std::string(algorithm.name));
        CAPTURE(ranks);
        CAPTURE(count);
        Layout layout;
        layout.chunk = Elements{16};
        const Collective collective = sample(algorithm.kind, ranks, count);
        CHECK(algorithm.make(collective, layout)->message_limit() <
              Elements{16 + ranks * most_blocks(algorithm, ranks)});
      }
    }
  }
}

}  // namespace athanor
