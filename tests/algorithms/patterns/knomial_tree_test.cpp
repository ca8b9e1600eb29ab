#include "algorithms/patterns/knomial_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/patterns/binomial_tree.hpp"

using namespace athanor;

TEST_CASE("a k-nomial tree of radix 2 is the binomial tree") {
  for (std::uint32_t ranks = 2; ranks <= 70; ++ranks) {
    for (const std::uint32_t root : {0U, 1U, ranks - 1}) {
      const BinomialTree binomial(ranks, root);
      const KnomialTree tree(ranks, root, 2);
      CAPTURE(ranks);
      CHECK(tree.rounds() == binomial.rounds());
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        REQUIRE(tree.children(rank) == binomial.children(rank));
        for (std::uint32_t i = 0; i < tree.children(rank); ++i) {
          CHECK(tree.child(rank, i) == binomial.child(rank, i));
        }
        if (rank == root) { continue; }
        CHECK(tree.parent(rank) == binomial.parent(rank));
        CHECK(tree.index(rank) == binomial.index(rank));
      }
    }
  }
}

TEST_CASE("in a k-nomial tree every rank but the root is one child of its parent") {
  for (const std::uint32_t radix : {2U, 3U, 4U, 8U}) {
    for (std::uint32_t ranks = 2; ranks <= 130; ++ranks) {
      const std::uint32_t root = ranks / 3;
      const KnomialTree tree(ranks, root, radix);
      std::vector<std::uint32_t> seen(ranks, 0);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t i = 0; i < tree.children(rank); ++i) {
          const std::uint32_t child = tree.child(rank, i);
          REQUIRE(child < ranks);
          ++seen[child];
          CHECK(tree.parent(child) == rank);
          CHECK(tree.index(child) == i);
        }
      }
      seen[root] += 1;
      CHECK(std::all_of(seen.begin(), seen.end(), [](std::uint32_t times) { return times == 1; }));
    }
  }
}

TEST_CASE("the root of a tree of radix 4 over 16 ranks sends to 4, 8, 12, 1, 2 and 3, in this order") {
  const KnomialTree tree(16, 0, 4);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = tree.children(0); i-- > 0;) { order.push_back(tree.child(0, i)); }
  CHECK(order == std::vector<std::uint32_t>{4, 8, 12, 1, 2, 3});
  CHECK(tree.rounds() == 6);  // 12 has the payload in the third round, and 15 three later
}
