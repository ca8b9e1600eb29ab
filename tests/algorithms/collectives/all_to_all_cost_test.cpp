#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/proof/prove.hpp"
#include "tests/algorithms/rounds.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

using enum CollectiveKind;

std::uint32_t log2_up(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }
std::uint32_t log2_down(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks)) - 1; }

Cost cost_of(CollectiveKind kind, std::string_view name, std::uint32_t ranks, std::int64_t count) {
  return find(kind, name).cost(sample(kind, ranks, count));
}

/// How often a lane turns from receiving to sending, and once more.
std::uint32_t steps_of(const Schedule& schedule, AgentId agent) {
  const Lane lane = schedule.lane(agent, LaneId{0});
  std::uint32_t steps = 0;
  bool sending = false;
  for (std::uint32_t step = 0; step < lane.steps; ++step) {
    const Primitive primitive = schedule.at(agent, LaneId{0}, 0, step);
    const bool sends = primitive.sends.count > 0;
    if (sends && !sending) { ++steps; }
    if (sends || primitive.receives.count > 0) { sending = sends; }
  }
  return steps;
}

/// Of parallel aggregated trees whose steps reach so many places.
std::uint32_t pat_steps(std::uint32_t ranks, std::uint32_t aggregate) {
  const std::uint32_t subtree = std::bit_ceil(ranks) / aggregate;
  return log2_up(aggregate) + std::min(subtree, ranks) - 1;
}

}  // namespace

TEST_CASE("Bruck, direct and PAT exchanges move the least for any number of ranks, in the fewest steps") {
  const std::int64_t m = 16;
  for (std::uint32_t ranks = 2; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    const Elements least{m * (ranks - 1)};
    // PAT's messages have at most the power of two from P / 2 on.
    const std::uint32_t pat = pat_steps(ranks, std::bit_ceil(ranks / 2));
    CHECK(cost_of(all_gather, "bruck", ranks, m * ranks) == Cost{log2_up(ranks), least, Elements{0}});
    CHECK(cost_of(reduce_scatter, "bruck", ranks, m * ranks) == Cost{log2_up(ranks), least, least});
    CHECK(cost_of(all_gather, "pat", ranks, m * ranks) == Cost{pat, least, Elements{0}});
    CHECK(cost_of(reduce_scatter, "pat", ranks, m * ranks) == Cost{pat, least, least});
    CHECK((pat == log2_up(ranks) || !std::has_single_bit(ranks)));
    CHECK(cost_of(all_gather, "direct", ranks, m * ranks) == Cost{1, least, Elements{0}});
    CHECK(cost_of(reduce_scatter, "direct", ranks, m * ranks) == Cost{1, least, least});
    CHECK(cost_of(all_to_all, "direct", ranks, m * ranks) == Cost{1, least, Elements{0}});
    CHECK(cost_of(scatter, "linear", ranks, m * ranks) == Cost{1, least, Elements{0}});
    CHECK(cost_of(scatter, "binomial_tree", ranks, m * ranks) == Cost{log2_up(ranks), least, Elements{0}});
    CHECK(cost_of(gather, "linear", ranks, m * ranks) == Cost{1, Elements{m}, Elements{0}});
    CHECK(cost_of(gather, "binomial_tree", ranks, m * ranks).steps == log2_down(ranks));
    CHECK(cost_of(barrier, "dissemination", ranks, 0).steps == log2_up(ranks));
    CHECK(cost_of(barrier, "tree", ranks, 0).steps == 2 * log2_down(ranks));
  }
}

TEST_CASE("recursive doubling and halving move the least in log2 P steps, and two steps and more where ranks pair up") {
  const std::int64_t m = 16;
  for (std::uint32_t ranks = 2; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    const bool folds = !std::has_single_bit(ranks);
    const Elements least{m * (ranks - 1)};
    const Cost doubling = cost_of(all_gather, "recursive_doubling", ranks, m * ranks);
    const Cost halving = cost_of(reduce_scatter, "recursive_halving", ranks, m * ranks);
    CHECK(doubling.steps == log2_down(ranks) + (folds ? 2 : 0));
    CHECK(halving.steps == doubling.steps);
    if (!folds) {
      CHECK(doubling.sent == least);
      CHECK(halving == Cost{doubling.steps, least, least});
    } else {
      CHECK(halving.sent == Elements{m * ranks});
      // Corner 0 sends its side of every exchange, pairs first, and then the whole.
      const std::uint32_t pairs = ranks - std::bit_floor(ranks);
      std::int64_t blocks = ranks;
      for (std::uint32_t side = 1; side < std::bit_floor(ranks); side *= 2) { blocks += side + std::min(side, pairs); }
      CHECK(doubling.sent == Elements{m * blocks});
    }
  }
}

TEST_CASE("broadcast and reduce for large payloads send each element about twice at most") {
  const std::int64_t m = 16;
  for (std::uint32_t ranks = 2; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    const std::int64_t n = m * ranks;
    CHECK(cost_of(broadcast, "scatter_all_gather", ranks, n) ==
          Cost{log2_up(ranks) + ranks - 1, Elements{2 * m * (ranks - 1)}, Elements{0}});
    const Cost trees = cost_of(broadcast, "double_binary_tree", ranks, n);
    CHECK(trees.steps <= log2_up(ranks) + 2);
    CHECK(trees.sent <= Elements{n + (ranks % 2 == 0 ? n / 2 : 0)});
    if (!std::has_single_bit(ranks)) { continue; }
    const Cost reduction = cost_of(reduce, "reduce_scatter_gather", ranks, n);
    CHECK(reduction.steps == 2 * log2_up(ranks));
    CHECK(reduction.reduced == Elements{m * (ranks - 1)});
    CHECK(reduction.sent == Elements{m * (ranks - 1) + n / 2});
  }
}

TEST_CASE("Bruck's all-to-all sends half of all blocks in each of log2 P rounds") {
  for (std::uint32_t ranks = 2; ranks <= 128; ranks *= 2) {
    CAPTURE(ranks);
    const std::int64_t n = 16 * ranks;
    CHECK(cost_of(all_to_all, "bruck", ranks, n) ==
          Cost{log2_up(ranks), Elements{n / 2 * log2_up(ranks)}, Elements{0}});
  }
}

TEST_CASE("a hierarchical all-to-all sends P - N blocks inside the node and P - G across, in G-1 + N-1 steps") {
  const Algorithm& algorithm = find(all_to_all, "hierarchical");
  for (const std::uint32_t group : {1U, 2U, 3U, 8U}) {
    for (std::uint32_t nodes = 1; nodes <= 6; ++nodes) {
      CAPTURE(group);
      CAPTURE(nodes);
      const std::uint32_t ranks = group * nodes;
      if (ranks == 1) { continue; }
      Layout layout;
      layout.group = group;
      const Collective even = sample(all_to_all, ranks, 16 * ranks);
      const std::int64_t blocks = std::int64_t{ranks - nodes} + ranks - group;
      CHECK(algorithm.cost(even, layout) == Cost{group - 1 + nodes - 1, Elements{16 * blocks}, Elements{0}});
      const Collective uneven = sample(all_to_all, ranks, 16 * ranks + 5);
      CHECK(algorithm.cost(uneven, layout) == counted(*algorithm.make(uneven, layout)));
    }
  }
}

TEST_CASE("PAT puts as many blocks into a message as the chunk has room for") {
  for (const std::uint32_t ranks : {5U, 8U, 16U, 33U}) {
    for (std::uint32_t aggregate = 1; aggregate <= std::bit_ceil(ranks / 2); aggregate *= 2) {
      CAPTURE(ranks);
      CAPTURE(aggregate);
      Layout layout;
      layout.chunk = Elements{10 * aggregate};
      const std::uint32_t steps = pat_steps(ranks, aggregate);
      for (const CollectiveKind kind : {all_gather, reduce_scatter}) {
        const auto schedule = find(kind, "pat").make(sample(kind, ranks, 10 * ranks), layout);
        CHECK(schedule->message_limit() == layout.chunk);
        const Cost cost = counted(*schedule);
        CHECK(cost.steps == steps);
        CHECK(cost.sent == Elements{10 * (ranks - 1)});
      }
    }
  }
}

TEST_CASE("PAT's messages follow each other in a step, as many as the layout lets, up to half of the ranks' blocks") {
  for (std::uint32_t ranks = 2; ranks <= 21; ++ranks) {
    for (const std::uint32_t messages : {1U, 2U, 3U, 8U, 64U}) {
      for (const std::int64_t blocks : {1, 2, 4}) {
        for (const std::int64_t count : {std::int64_t{10} * ranks, std::int64_t{23} * ranks - 5}) {
          INFO(ranks, " ranks, ", messages, " messages of ", blocks, " blocks, ", count, " elements");
          const Layout layout{.channels = 2, .chunk = Elements{5 * blocks}, .shape = AggregatedTreeShape{messages}};
          const std::uint32_t most = std::bit_ceil(ranks / 2);
          const std::uint32_t fit = count == 10 * ranks ? std::min(static_cast<std::uint32_t>(blocks), most) : 1;
          for (const CollectiveKind kind : {all_gather, reduce_scatter}) {
            const Collective collective = sample(kind, ranks, count, 0, count % 2 == 0);
            const auto schedule = find(kind, "pat").make(collective, layout);
            const auto violation = prove(*schedule, collective);
            CHECK_MESSAGE(!violation, (violation ? violation->text : ""));
            CHECK(counted(*schedule).sent == counted(*find(kind, "ring").make(collective, layout)).sent);
            if (blocks == 1 || count == 10 * ranks) {
              const std::uint32_t aggregate = std::min(fit * std::bit_floor(messages), most);
              CHECK(steps_of(*schedule, AgentId{0}) == pat_steps(ranks, aggregate));
              const std::uint32_t subtree = std::bit_ceil(ranks) / aggregate;
              const std::uint32_t places = (ranks - 2) / subtree + 1;
              CHECK(schedule->least_slots() == (places + fit - 1) / fit);
            }
          }
        }
      }
    }
  }
}

}  // namespace athanor
