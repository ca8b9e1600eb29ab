#include <algorithm>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/proof/prove.hpp"
#include "sim/words.hpp"
#include "tests/algorithms/sample.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

// With a sanitizer everything takes ten times as long, and it looks for something else: fewer ranks do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t kFewRanks = 5;
constexpr std::uint32_t kSomeRanks = 9;
constexpr std::uint64_t kLeastProofs = 100;
const std::vector<std::uint32_t> kManyRanks{};
#else
constexpr std::uint32_t kFewRanks = 9;
constexpr std::uint32_t kSomeRanks = 33;
constexpr std::uint64_t kLeastProofs = 900;
const std::vector<std::uint32_t> kManyRanks{64, 65, 100, 128, 255};
#endif
constexpr std::size_t kPayloadsInTurn = 3;  ///< with each layout of some ranks, where there is no root
constexpr std::size_t kLayoutsInTurn = 3;   ///< for many ranks

/// Nothing, less than one element per rank, one, one too few or too many, a prime, uneven.
std::set<std::int64_t> counts(std::int64_t ranks) {
  const std::set<std::int64_t> all{0, 1, ranks / 2, ranks - 1, ranks, ranks + 1, 97, 7 * ranks + 3};
  return ranks <= kSomeRanks ? all : std::set<std::int64_t>{ranks / 2, ranks - 1, ranks + 1};
}

/// The ranks as a grid of at most four prime sides, the last of which takes what is left.
Dimensions grid_of(std::uint32_t ranks) {
  Dimensions sides{};
  std::size_t count = 0;
  for (std::uint32_t prime = 2; ranks > 1 && count < 3; ++prime) {
    for (; ranks % prime == 0 && count < 3; ranks /= prime) { sides.at(count++) = prime; }
  }
  sides.at(count) = ranks;
  return sides;
}

std::uint32_t group_of(std::uint32_t ranks) {
  std::uint32_t group = 1;
  for (const std::uint32_t divisor : {2U, 3U, 4U, 5U, 8U}) {
    if (ranks % divisor == 0) { group = divisor; }
  }
  return group;
}

/// One loop, several channels, several loops, slices, grains, rotated orders, all of them, grids and windows, cycles,
/// orders that a library found, rounds of messages in parts.
std::vector<Layout> layouts(std::uint32_t ranks) {
  return {
      Layout{},
      Layout{.channels = 3},
      Layout{.chunk = Elements{2}},
      Layout{.slices = 2},
      Layout{.slices = 3, .grain = Elements{2}},
      Layout{.channels = 3, .rotation = 1, .group = group_of(ranks)},
      Layout{.channels = 2, .chunk = Elements{4}, .slices = 2, .grain = Elements{2}, .rotation = 1},
      Layout{.chunk = Elements{3}, .shape = GridShape{grid_of(ranks)}},
      Layout{.chunk = Elements{3}, .shape = EngineTreeShape{.outstanding = 2}},
      Layout{.channels = 2, .shape = GridShape{{ranks}, 2}},
      Layout{.channels = 4,
             .chunk = Elements{6},
             .slices = 2,
             .group = group_of(ranks),
             .orders = sample_orders(group_of(ranks)),
             .least_slice = Elements{4}},
      Layout{.channels = 4,
             .chunk = Elements{3},
             .group = group_of(ranks),
             .shape = PeerRoundShape{.parts = 2, .peers_at_once = 3}},
  };
}

std::string text(const Algorithm& algorithm, const Collective& collective, const Layout& layout) {
  const auto& [dimensions, rings] = layout.as<GridShape>();
  const auto& rounds = layout.as<PeerRoundShape>();
  return fmt::format(
      "{} {} of {} elements over {} ranks, root {}, in place {}; {} channels, chunk {}, {} slices, grain {}, "
      "rotation {} in groups of {}, {} paths through them, dimensions {}, {} rings, {} outstanding, "
      "{} parts for {} peers at once",
      algorithm.name, name(collective.kind), collective.count.count(), collective.ranks, collective.root,
      collective.in_place, layout.channels, layout.chunk.count(), layout.slices, layout.grain.count(), layout.rotation,
      layout.group, layout.orders == nullptr ? 0 : layout.orders->even.size(), joined(dimensions, " x "), rings,
      layout.as<EngineTreeShape>().outstanding, rounds.parts, rounds.peers_at_once);
}

/// Proves an algorithm. Few ranks: every layout with every root, payload and place (in or out of place). Some ranks:
/// every layout with every root, and of payloads and places some in turn. Many ranks: of all of them some in turn.
class Sweep {
 public:
  explicit Sweep(const Algorithm& algorithm) : algorithm_(algorithm) {}

  void over(std::uint32_t ranks) {
    const std::vector<Layout> all = layouts(ranks);
    const std::uint32_t roots = has_root(algorithm_.kind) ? ranks : 1;
    if (ranks > kSomeRanks) {
      for (std::size_t i = 0; i < kLayoutsInTurn; ++i, ++layouts_) {
        over(ranks, all[layouts_ % all.size()], static_cast<std::uint32_t>(layouts_ * 37 % roots), 1);
      }
      return;
    }
    const std::size_t most = ranks <= kFewRanks ? SIZE_MAX : roots > 1 ? 1 : kPayloadsInTurn;
    for (const Layout& layout : all) {
      for (std::uint32_t root = 0; root < roots; ++root) { over(ranks, layout, root, most); }
    }
  }

  std::uint64_t proofs() const { return proofs_; }

 private:
  void over(std::uint32_t ranks, const Layout& layout, std::uint32_t root, std::size_t most) {
    std::set<std::int64_t> sizes = counts(ranks);
    sizes.insert(algorithm_.granule(sample(algorithm_.kind, ranks, 1, root), layout).count());
    const std::vector<std::int64_t> payloads(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < std::min(most, 2 * payloads.size()); ++i, ++turn_) {
      const std::int64_t count = payloads[turn_ / 2 % payloads.size()];
      prove_one(sample(algorithm_.kind, ranks, count, root, turn_ % 2 == 1), layout);
    }
  }

  void prove_one(const Collective& collective, const Layout& layout) {
    if (algorithm_.refuses(collective, layout)) { return; }
    ++proofs_;
    const auto schedule = algorithm_.make(collective, layout);
    const bool even =
        collective.sizes == nullptr && collective.count % algorithm_.granule(collective, layout) == Elements::zero();
    const auto violation = prove(*schedule, collective, {8, even});
    if (violation) {
      FAIL_CHECK(text(algorithm_, collective, layout), ": ", explain(schedule->agent_count(), *violation));
    }
  }

  const Algorithm& algorithm_;
  std::uint64_t layouts_ = 0;  ///< which layout comes next for many ranks
  std::uint64_t turn_ = 0;     ///< which payload and place comes next
  std::uint64_t proofs_ = 0;
};

void prove_all(CollectiveKind first, CollectiveKind last) {
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind < first || algorithm.kind > last) { continue; }
    CAPTURE(algorithm.name);
    Sweep sweep(algorithm);
    for (std::uint32_t ranks = 1; ranks <= kSomeRanks; ++ranks) { sweep.over(ranks); }
    for (const std::uint32_t ranks : kManyRanks) { sweep.over(ranks); }
    CHECK(sweep.proofs() >= kLeastProofs);
  }
}

}  // namespace

// Two cases, so that two cores share the work: each is a test of its own (meson.build).
TEST_CASE("every all-reduce of the catalog is proven") {
  prove_all(CollectiveKind::all_reduce, CollectiveKind::all_reduce);
}

TEST_CASE("every other algorithm of the catalog is proven") {
  prove_all(CollectiveKind::reduce_scatter, CollectiveKind::send_receive);
}

TEST_CASE("an operand, a store or a finish lost or added anywhere in an algorithm of the catalog is found") {
  for (const Algorithm& algorithm : catalog()) {
    const Collective collective = sample(algorithm.kind, 5, 38, 2);
    const toys::Table whole = toys::tabulate(*algorithm.make(collective, Layout{.channels = 2}));
    const auto damage = [&](std::uint32_t agent, std::uint32_t lane, std::uint64_t index, auto change) {
      toys::Table damaged = whole;
      damaged.separate_programs();
      change(damaged.primitive(agent, lane, index));
      CAPTURE(text(algorithm, collective, Layout{}));
      CAPTURE(lane);
      CAPTURE(index);
      CHECK(prove(damaged, collective).has_value());
    };
    whole.each_primitive([&](std::uint32_t agent, std::uint32_t lane, std::uint64_t index, const Primitive& primitive) {
      const bool has_effect = primitive.store || primitive.sends.count > 0;
      if (primitive.count == Elements::zero() || !has_effect) { return; }
      if (primitive.operands[0]) {
        damage(agent, lane, index, [](Primitive& p) { p.operands[0].reset(); });
        damage(agent, lane, index, [](Primitive& p) { p.operands[1] = p.operands[0]; });
      }
      if (primitive.store) {
        damage(agent, lane, index, [](Primitive& p) { p.store.reset(); });
      }
      damage(agent, lane, index, [](Primitive& p) { p.finish = !p.finish; });
    });
  }
}
