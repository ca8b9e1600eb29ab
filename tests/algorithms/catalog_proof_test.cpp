#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "algorithms/catalog.hpp"
#include "algorithms/check/prove.hpp"
#include "tests/algorithms/sample.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

/// All for few ranks; the ends and the middle for many.
std::set<std::uint32_t> roots(CollectiveKind kind, std::uint32_t ranks) {
  if (!has_root(kind)) { return {0}; }
  std::set<std::uint32_t> chosen{0, ranks / 2, ranks - 1};
  for (std::uint32_t root = 0; ranks <= 9 && root < ranks; ++root) { chosen.insert(root); }
  return chosen;
}

/// Nothing, less than one element per rank, one, one too few or too many, uneven.
std::set<std::int64_t> counts(std::int64_t ranks) { return {0, 1, ranks - 1, ranks, ranks + 1, 7 * ranks + 3}; }

/// One loop, several channels, several loops, slices, grains, rotated orders, and all of them.
std::vector<Layout> layouts(std::uint32_t ranks) {
  std::uint32_t group = 1;
  for (const std::uint32_t divisor : {2U, 3U, 4U, 8U}) {
    if (ranks % divisor == 0) { group = divisor; }
  }
  return {
      Layout{},
      Layout{.channels = 3},
      Layout{.chunk = Elements{2}},
      Layout{.slices = 2},
      Layout{.slices = 3, .grain = Elements{2}},
      Layout{.channels = 3, .rotation = 1, .group = group},
      Layout{.channels = 2, .chunk = Elements{4}, .slices = 2, .grain = Elements{2}, .rotation = 1},
  };
}

std::string text(const Algorithm& algorithm, const Collective& collective, const Layout& layout) {
  return fmt::format(
      "{} {} of {} elements over {} ranks, root {}, in place {}; {} channels, chunk {}, {} slices, grain {}, "
      "rotation {} in groups of {}",
      algorithm.name, name(collective.kind), collective.count.count(), collective.ranks, collective.root,
      collective.in_place, layout.channels, layout.chunk.count(), layout.slices, layout.grain.count(), layout.rotation,
      layout.group);
}

/// Every case for few ranks, every `thinning`-th for many.
class Sweep {
 public:
  explicit Sweep(const Algorithm& algorithm) : algorithm_(algorithm) {}

  void over(std::uint32_t ranks, std::uint32_t thinning) {
    for (const Layout& layout : layouts(ranks)) {
      for (const std::uint32_t root : roots(algorithm_.kind, ranks)) {
        std::set<std::int64_t> sizes = counts(ranks);
        sizes.insert(algorithm_.granule(sample(algorithm_.kind, ranks, 1, root), layout).count());
        for (const std::int64_t count : sizes) {
          for (const bool in_place : {false, true}) {
            if (++cases_ % thinning != 0) { continue; }
            prove_one(sample(algorithm_.kind, ranks, count, root, in_place), layout);
          }
        }
      }
    }
  }

  std::uint64_t proofs() const { return proofs_; }

 private:
  void prove_one(const Collective& collective, const Layout& layout) {
    if (algorithm_.refuses(collective, layout)) { return; }
    ++proofs_;
    const auto schedule = algorithm_.make(collective, layout);
    const bool even =
        collective.sizes == nullptr && collective.count % algorithm_.granule(collective, layout) == Elements::zero();
    const auto violation = prove(*schedule, collective, {8, even});
    if (violation) { FAIL_CHECK(text(algorithm_, collective, layout), ": ", explain(schedule->roster(), *violation)); }
  }

  const Algorithm& algorithm_;
  std::uint64_t cases_ = 0;
  std::uint64_t proofs_ = 0;
};

}  // namespace

TEST_CASE("every algorithm of the catalog is proven") {
  for (const Algorithm& algorithm : catalog()) {
    CAPTURE(algorithm.name);
    Sweep sweep(algorithm);
    for (std::uint32_t ranks = 1; ranks <= 12; ++ranks) { sweep.over(ranks, 1); }
    for (std::uint32_t ranks = 13; ranks <= 33; ++ranks) { sweep.over(ranks, 7); }
    for (const std::uint32_t ranks : {64U, 65U}) { sweep.over(ranks, 41); }
    CHECK(sweep.proofs() > 0);
  }
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
