// What holds for any algorithm, ranks, root, payload and layout, tried on random ones; what fails is shrunk to the
// least that fails. RC_PARAMS sets seed and number (meson.build).

#include <ostream>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <rapidcheck.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/threads/threads.hpp"
#include "algorithms/proof/prove.hpp"
#include "tests/algorithms/sample.hpp"

using namespace athanor;

namespace {

struct Example {
  const Algorithm* algorithm = nullptr;
  Collective collective;
  Layout layout;
};

std::ostream& operator<<(std::ostream& out, const Example& example) {
  const Collective& collective = example.collective;
  const Layout& layout = example.layout;
  const auto& heads = layout.as<ChainTreeShape>().heads;
  const auto& rounds = layout.as<PeerRoundShape>();
  return out << fmt::format(
             "{} by {} of {} elements over {} ranks, root {}, in place {}; {} channels, chunk {}, {} slices, group {}, "
             "{} paths through it, nodes below places {} and {}, {} parts for {} peers at once",
             name(collective.kind), example.algorithm->name, collective.count.count(), collective.ranks,
             collective.root, collective.in_place, layout.channels, layout.chunk.count(), layout.slices, layout.group,
             layout.orders == nullptr ? 0 : layout.orders->even.size(), heads[0], heads[1], rounds.parts,
             rounds.peers_at_once);
}

/// Least first, so that shrinking finds few ranks, small payloads and one channel.
Example draw(std::uint32_t most_ranks) {
  Example example;
  example.algorithm = &catalog()[*rc::gen::inRange<std::size_t>(0, catalog().size())];
  const auto ranks = *rc::gen::inRange<std::uint32_t>(1, most_ranks + 1);
  const auto root = *rc::gen::inRange<std::uint32_t>(0, ranks);
  const auto count = *rc::gen::inRange<std::int64_t>(0, 400);
  example.layout.channels = *rc::gen::inRange<std::uint32_t>(1, 5);
  const auto chunk = *rc::gen::inRange<std::int64_t>(1, 100);
  if (*rc::gen::arbitrary<bool>()) { example.layout.chunk = Elements{chunk}; }
  example.layout.slices = *rc::gen::inRange<std::uint32_t>(1, 4);
  const auto group = *rc::gen::inRange<std::uint32_t>(1, ranks + 1);
  example.layout.group = ranks % group == 0 ? group : 0;
  if (*rc::gen::arbitrary<bool>()) {
    example.layout.orders = sample_orders(example.layout.group == 0 ? ranks : example.layout.group);
  }
  const std::uint32_t first = *rc::gen::inRange<std::uint32_t>(0, 3);
  const std::uint32_t second = *rc::gen::inRange<std::uint32_t>(0, 10);
  if (example.algorithm->kind == CollectiveKind::all_reduce) {
    example.layout.shape = ChainTreeShape{{first, second % 3}};
  } else {
    example.layout.shape = PeerRoundShape{.parts = first + 1, .peers_at_once = second + 1};
  }
  const bool rooted = has_root(example.algorithm->kind);
  example.collective = sample(example.algorithm->kind, ranks, count, rooted ? root : 0, *rc::gen::arbitrary<bool>());
  RC_PRE(!example.algorithm->refuses(example.collective, example.layout).has_value());
  return example;
}

void proves() {
  const Example example = draw(40);
  RC_LOG() << example << '\n';
  const auto schedule = example.algorithm->make(example.collective, example.layout);
  const auto violation = prove(*schedule, example.collective);
  if (violation) { RC_FAIL(explain(schedule->agent_count(), *violation)); }
}

void runs() {
  const Example example = draw(9);
  RC_LOG() << example << '\n';
  const auto reduction =
      *rc::gen::element(Reduction::sum, Reduction::product, Reduction::minimum, Reduction::maximum, Reduction::average);
  const auto type = *rc::gen::element(DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                                      DataType::int8, DataType::int32, DataType::int64);
  const auto schedule = example.algorithm->make(example.collective, example.layout);
  const RankMemory memory(*schedule, type);
  const Expectation expectation(example.collective, type, reduction);
  for (std::uint32_t rank = 0; rank < example.collective.ranks; ++rank) {
    expectation.fill(rank, memory.buffers()[rank].input);
  }
  run_on_threads(*schedule,
                 {.type = type, .reduction = reduction, .buffers = memory.buffers(), .workers = 2, .slots = {}});
  for (std::uint32_t rank = 0; rank < example.collective.ranks; ++rank) {
    if (const auto wrong = expectation.wrong(rank, memory.buffers()[rank].output)) { RC_FAIL(*wrong); }
  }
}

void costs() {
  const Example example = draw(64);
  RC_LOG() << example << '\n';
  const Cost cost = example.algorithm->cost(example.collective, example.layout);
  // Nobody can end without what the others have: the steps that any algorithm needs, and the least to send.
  const bool informs_all = example.collective.kind == CollectiveKind::all_reduce && example.collective.ranks > 1 &&
                           example.algorithm->engine == Engine::none && example.collective.count > Elements::zero();
  if (informs_all) {
    RC_ASSERT(cost.steps >= 1U);
    const std::int64_t ranks = example.collective.ranks;
    RC_ASSERT(cost.sent.count() * ranks >= 2 * (ranks - 1) * example.collective.count.count());
  }
}

/// In all but addresses and the post-operation.
bool are_alike(const Primitive& a, const Primitive& b) {
  const auto presence = [](const Primitive& primitive) {
    return std::tuple(primitive.operands[0].has_value(), primitive.operands[1].has_value(),
                      primitive.store.has_value());
  };
  return !a.wait && !b.wait && a.count == b.count && a.receives == b.receives && a.sends == b.sends &&
         presence(a) == presence(b);
}

void says_what_is_alike() {
  const Example example = draw(40);
  RC_LOG() << example << '\n';
  const auto schedule = example.algorithm->make(example.collective, example.layout);
  const AgentId agent{*rc::gen::inRange<std::uint32_t>(0, schedule->agent_count().agents)};
  for (LaneId lane{0}; lane.value < schedule->lanes(agent); ++lane.value) {
    const auto [steps, loops, in_ports, out_ports, program] = schedule->lane(agent, lane);
    for (std::uint32_t step = 0; loops > 0 && step < steps; ++step) {
      const StepRange range = schedule->alike(agent, lane, loops - 1, step);
      RC_ASSERT(range.first <= step);
      RC_ASSERT(step < range.end);
      RC_ASSERT(range.end <= steps);
      for (std::uint32_t other = range.first; range.end - range.first > 1 && other < range.end; ++other) {
        if (other % range.period != step % range.period) { continue; }
        RC_ASSERT(are_alike(schedule->at(agent, lane, loops - 1, step), schedule->at(agent, lane, loops - 1, other)));
      }
    }
  }
}

}  // namespace

TEST_CASE("steps that an algorithm calls alike differ in addresses alone") { CHECK(rc::check(&says_what_is_alike)); }
TEST_CASE("any algorithm of the catalog is proven") { CHECK(rc::check(&proves)); }
TEST_CASE("any algorithm of the catalog computes what it should") { CHECK(rc::check(&runs)); }
TEST_CASE("no all-reduce sends less than 2 (P-1)/P n from its busiest rank") { CHECK(rc::check(&costs)); }

TEST_CASE("the steps of rings are called alike but where they begin and end") {
  const Collective collective = sample(CollectiveKind::all_reduce, 8, 64);
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(collective, {});
  const StepRange reducing = schedule->alike(AgentId{3}, LaneId{0}, 0, 4);
  CHECK(reducing.first == 1);
  CHECK(reducing.end == 7);
  const StepRange storing = schedule->alike(AgentId{3}, LaneId{0}, 0, 9);
  CHECK(storing.first == 8);
  CHECK(storing.end == 14);
}

TEST_CASE("slices of a ring that are cut unevenly are called alike a block further on") {
  const Layout layout{1, Elements::max(), 3};
  for (const auto& [kind, elements, period] :
       {std::tuple{CollectiveKind::all_gather, 80, 3U}, std::tuple{CollectiveKind::all_reduce, 80, 3U},
        std::tuple{CollectiveKind::reduce_scatter, 80, 3U}, std::tuple{CollectiveKind::all_gather, 96, 1U},
        std::tuple{CollectiveKind::all_reduce, 96, 1U}}) {
    CAPTURE(name(kind));
    const auto schedule = find(kind, "ring").make(sample(kind, 8, elements), layout);
    const StepRange range = schedule->alike(AgentId{3}, LaneId{0}, 0, 7);
    CHECK(range.end - range.first == 18);
    CHECK(range.period == period);
  }
  const auto uneven = find(CollectiveKind::all_gather, "ring").make(sample(CollectiveKind::all_gather, 8, 79), layout);
  const StepRange alone = uneven->alike(AgentId{3}, LaneId{0}, 0, 7);
  CHECK(alone.end - alone.first == 1);
}
