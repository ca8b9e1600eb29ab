#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/check/prove.hpp"
#include "algorithms/combine/embed.hpp"
#include "algorithms/combine/relabel.hpp"
#include "algorithms/combine/sequence.hpp"
#include "algorithms/combine/unfinished.hpp"
#include "sim/check.hpp"
#include "tests/algorithms/rounds.hpp"

namespace athanor {

namespace {

using Part = std::unique_ptr<const Schedule>;

Part make(CollectiveKind kind, std::string_view name, Collective collective, const Layout& layout, bool in_place) {
  collective.kind = kind;
  collective.in_place = in_place;
  return find(kind, name).make(collective, layout);
}

void check_proven(const Schedule& schedule, const Collective& collective) {
  const auto violation = prove(schedule, collective);
  const std::string found = violation ? explain(schedule.roster(), *violation) : std::string();
  CHECK(found == "");
}

std::vector<Layout> layouts() { return {{}, {2, Elements{3}, 1, Elements{1}}, {3, Elements{4}, 2, Elements{2}}}; }

/// Nodes of `local` ranks: reduce-scatter in each, all-reduce across them of each rank's block, all-gather in each.
Part hierarchical(std::uint32_t nodes, std::uint32_t local, Elements count, const Layout& layout) {
  using enum CollectiveKind;
  std::vector<std::uint32_t> rows(nodes * local);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<std::uint32_t> columns;
  for (std::uint32_t i = 0; i < local; ++i) {
    for (std::uint32_t node = 0; node < nodes; ++node) { columns.push_back(node * local + i); }
  }
  const Collective inside{all_reduce, local, count, 0, false};
  const Collective across{all_reduce, nodes, count / local, 0, false};
  Part first = sequence(embed(unfinished(make(reduce_scatter, "ring", inside, layout, false)), rows, nodes * local),
                        embed(make(all_reduce, "ring", across, layout, true), columns, nodes * local), Join::after_all);
  return sequence(std::move(first), embed(make(all_gather, "ring", inside, layout, true), rows, nodes * local),
                  Join::after_all);
}

}  // namespace

TEST_CASE("reduce-scatter, then all-gather, is all-reduce: joined either way, in place or not, with the ring's cost") {
  using enum CollectiveKind;
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (const std::int64_t count : {0, 1, 17, 60}) {
      for (const Layout& layout : layouts()) {
        for (const Join join : {Join::after_all, Join::loop_by_loop}) {
          for (const bool in_place : {false, true}) {
            CAPTURE(ranks);
            CAPTURE(count);
            const Collective collective{all_reduce, ranks, Elements{count}, 0, in_place};
            const Part joined = sequence(make(reduce_scatter, "ring", collective, layout, in_place),
                                         make(all_gather, "ring", collective, layout, true), join);
            check_proven(*joined, collective);
          }
        }
      }
    }
    const Collective collective{all_reduce, ranks, Elements{60 * ranks}, 0, false};
    const Part joined = sequence(make(reduce_scatter, "ring", collective, {}, false),
                                 make(all_gather, "ring", collective, {}, true), Join::loop_by_loop);
    CHECK(counted(*joined) == find(all_reduce, "ring").cost(collective));
  }
}

TEST_CASE("reduce, then broadcast, is all-reduce, by way of the output or of scratch") {
  using enum CollectiveKind;
  for (const std::uint32_t ranks : {1U, 2U, 3U, 6U, 8U}) {
    for (const Layout& layout : layouts()) {
      for (const bool broadcast_in_place : {false, true}) {
        CAPTURE(ranks);
        const Collective collective{all_reduce, ranks, Elements{23}, ranks / 2, false};
        const Part joined =
            sequence(make(reduce, "binomial_tree", collective, layout, false),
                     make(broadcast, "binomial_tree", collective, layout, broadcast_in_place), Join::after_all);
        check_proven(*joined, collective);
        CHECK(joined->memory(AgentId{ranks / 2}).scratch == Elements{broadcast_in_place ? 0 : 23});
      }
    }
  }
}

TEST_CASE("schedules joined loop by loop keep their loops, and chunks flow through both") {
  using enum CollectiveKind;
  const Collective collective{all_reduce, 4, Elements{4 * 30}, 0, false};
  const Layout layout{1, Elements{3}, 1, Elements{1}};
  const Part joined = sequence(make(reduce_scatter, "ring", collective, layout, false),
                               make(all_gather, "ring", collective, layout, true), Join::loop_by_loop);
  CHECK(joined->lane(AgentId{0}, LaneId{0}).loops == 10);
  CHECK(joined->shift(Buffer::output) == Elements{3});
  for (std::uint32_t rank = 1; rank < 4; ++rank) {
    CHECK(joined->lane(AgentId{rank}, LaneId{0}).program == joined->lane(AgentId{0}, LaneId{0}).program);
  }
}

TEST_CASE("reduce-scatter in nodes, all-reduce across them and all-gather in nodes is all-reduce of all") {
  for (const std::uint32_t nodes : {1U, 2U, 3U, 5U}) {
    for (const std::uint32_t local : {1U, 2U, 4U}) {
      for (const Layout& layout : layouts()) {
        CAPTURE(nodes);
        CAPTURE(local);
        const Elements count{local * 13};
        const Collective collective{CollectiveKind::all_reduce, nodes * local, count, 0, false};
        check_proven(*hierarchical(nodes, local, count, layout), collective);
      }
    }
  }
}

TEST_CASE("the engines of embedded groups are agents of their own, and nodes of NVLS joined by a tree reduce all") {
  using enum CollectiveKind;
  const std::uint32_t nodes = 3;
  const std::uint32_t local = 4;
  std::vector<std::uint32_t> rows(nodes * local);
  std::iota(rows.begin(), rows.end(), 0);
  const Collective inside{all_reduce, local, Elements{40}, 0, false};
  const Part embedded = embed(make(all_reduce, "nvls", inside, {}, false), rows, nodes * local);
  CHECK(embedded->roster().ranks == 12);
  CHECK(embedded->roster().agents == 15);
  CHECK(embedded->target(AgentId{9}, LaneId{0}, PortId{0}).agent == AgentId{14});

  // Sum in each node, sum of the leaders, and back to the others.
  const Collective leaders{all_reduce, nodes, Elements{40}, 0, false};
  Part sums = sequence(embed(unfinished(make(reduce, "ring", inside, {}, false)), rows, nodes * local),
                       embed(make(all_reduce, "double_binary_tree", leaders, {}, true), {0, 4, 8}, nodes * local),
                       Join::after_all);
  const Part all =
      sequence(std::move(sums), embed(make(broadcast, "ring", inside, {}, true), rows, nodes * local), Join::after_all);
  check_proven(*all, {all_reduce, nodes * local, Elements{40}, 0, false});
}

TEST_CASE(
    "a relabelled all-reduce is an all-reduce, and a relabelled broadcast comes from the rank in the root's role") {
  using enum CollectiveKind;
  const std::vector<std::uint32_t> ranks{4, 2, 0, 5, 1, 3};
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind != all_reduce) { continue; }
    CAPTURE(std::string(algorithm.name));
    const Collective collective{all_reduce, 6, Elements{31}, 0, false};
    check_proven(*relabel(algorithm.make(collective, {}), ranks), collective);
  }
  Collective collective{broadcast, 6, Elements{31}, 3, false};
  const Part moved = relabel(make(broadcast, "binomial_tree", collective, {}, false), ranks);
  collective.root = 5;
  check_proven(*moved, collective);
}

TEST_CASE("an unfinished reduction differs in nothing but the missing post-operation") {
  const Collective collective{CollectiveKind::all_reduce, 4, Elements{20}, 0, false};
  const Part plain = unfinished(find(CollectiveKind::all_reduce, "ring").make(collective, {}));
  CHECK(counted(*plain) == find(CollectiveKind::all_reduce, "ring").cost(collective));
  const auto violation = prove(*plain, collective);
  REQUIRE(violation.has_value());
  CHECK(violation->kind == ViolationKind::result);
}

TEST_CASE("combinators refuse what cannot be combined") {
  using enum CollectiveKind;
  const Collective four{all_reduce, 4, Elements{48}, 0, false};
  const Collective three{all_reduce, 3, Elements{48}, 0, false};
  const auto ring = [](const Collective& collective) { return make(all_reduce, "ring", collective, {}, false); };
  CHECK_THROWS_AS(relabel(ring(four), {0, 1, 2}), BrokenInvariant);
  CHECK_THROWS_AS(relabel(ring(four), {0, 1, 2, 2}), BrokenInvariant);
  CHECK_THROWS_AS(relabel(ring(four), {0, 1, 2, 4}), BrokenInvariant);
  CHECK_THROWS_AS(embed(ring(four), {0, 1, 2, 3, 4}, 8), BrokenInvariant);
  CHECK_THROWS_AS(embed(ring(four), {0, 1, 2, 8}, 8), BrokenInvariant);
  CHECK_THROWS_AS(embed(ring(four), {0, 1, 2, 1}, 8), BrokenInvariant);
  CHECK_THROWS_AS(sequence(ring(four), ring(three), Join::after_all), BrokenInvariant);
  CHECK_THROWS_AS(sequence(make(all_reduce, "ring", four, {}, true), ring(four), Join::after_all), BrokenInvariant);
  const Layout looped{1, Elements{2}, 1, Elements{1}};
  CHECK_THROWS_AS(sequence(make(all_reduce, "ring", four, looped, false), ring(four), Join::loop_by_loop),
                  BrokenInvariant);
}

}  // namespace athanor
