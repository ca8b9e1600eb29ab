#include "algorithms/schedule/layout.hpp"

#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

std::vector<Layout> layouts() {
  std::vector<Layout> result;
  for (const std::uint32_t channels : {1U, 2U, 5U}) {
    for (const std::int64_t chunk : {std::int64_t{1}, std::int64_t{7}, INT64_MAX}) {
      for (const std::uint32_t slices : {1U, 3U}) {
        for (const std::int64_t grain : {1, 4}) {
          result.push_back({channels, Elements{chunk}, slices, Elements{grain}});
          result.push_back({channels, Elements{chunk}, slices, Elements{grain}});
          result.back().least_slice = Elements{3};
        }
      }
    }
  }
  return result;
}

Layout rotated(std::uint32_t rotation, std::uint32_t group) {
  Layout layout;
  layout.rotation = rotation;
  layout.group = group;
  return layout;
}

}  // namespace

TEST_CASE("the slices of all channels, loops and pieces follow each other and fill the vector") {
  for (const Layout& layout : layouts()) {
    for (const std::uint32_t pieces : {1U, 2U, 7U}) {
      for (const std::int64_t count : {0, 1, 6, 64, 129}) {
        CAPTURE(pieces);
        CAPTURE(count);
        const VectorCut cut(Elements{count}, pieces, layout);
        Elements next;
        for (std::uint32_t channel = 0; channel < cut.channels(); ++channel) {
          for (std::uint64_t loop = 0; loop < cut.loops(channel); ++loop) {
            for (std::uint32_t piece = 0; piece < pieces; ++piece) {
              for (std::uint32_t slice = 0; slice < cut.slices(); ++slice) {
                const ElementRange range = cut.slice(channel, loop, piece, slice);
                CHECK(range.first == next);
                CHECK(range.count <= cut.message_limit());
                next += range.count;
              }
            }
          }
        }
        CHECK(next == Elements{count});
      }
    }
  }
}

TEST_CASE("the slices of all channels and loops follow each other and fill every block, however uneven") {
  for (const Layout& layout : layouts()) {
    for (const std::uint32_t blocks : {2U, 3U, 16U}) {
      for (const std::int64_t count : {0, 1, 5, 34, 64, 129}) {
        CAPTURE(blocks);
        CAPTURE(count);
        const BlockCut cut(Elements{count}, blocks, layout);
        for (std::uint32_t number = 0; number < blocks; ++number) {
          CHECK(ElementRange{cut.first(number), cut.length(number)} == block(Elements{count}, blocks, number));
          Elements next;
          for (std::uint32_t channel = 0; channel < cut.channels(); ++channel) {
            for (std::uint64_t loop = 0; loop < cut.loops(channel); ++loop) {
              for (std::uint32_t slice = 0; slice < cut.slices(); ++slice) {
                const ElementRange range = cut.slice(number, channel, loop, slice);
                CHECK(range.first == next);
                CHECK(range.count <= cut.message_limit());
                next += range.count;
              }
            }
          }
          CHECK(next == cut.length(number));
        }
      }
    }
  }
}

TEST_CASE("multiples of the granule are cut into pieces that are equal in each loop, in all channels") {
  for (const Layout& layout : layouts()) {
    for (const std::uint32_t pieces : {1U, 3U, 8U}) {
      const VectorCut vector(VectorCut::granule(pieces, layout) * 6, pieces, layout);
      const BlockCut blocks(BlockCut::granule(pieces, layout) * 6, pieces, layout);
      for (std::uint32_t channel = 0; channel < layout.channels; ++channel) {
        REQUIRE(vector.channels() == layout.channels);
        REQUIRE(blocks.channels() == layout.channels);
        CHECK(vector.shape(channel) == 0);
        CHECK(blocks.shape(channel) == 0);
        for (std::uint64_t loop = 0; loop < vector.loops(channel); ++loop) {
          for (std::uint32_t piece = 0; piece < pieces; ++piece) {
            CHECK(vector.piece(channel, loop, piece).count == vector.piece(0, loop, 0).count);
          }
        }
        for (std::uint64_t loop = 0; loop < blocks.loops(channel); ++loop) {
          for (std::uint32_t piece = 0; piece < pieces; ++piece) {
            CHECK(blocks.slice(piece, channel, loop, 0).count == blocks.slice(0, 0, loop, 0).count);
          }
        }
      }
    }
  }
}

TEST_CASE("the chunk of one channel and loop is the payload divided by the ranks, rounded up") {
  for (std::uint32_t ranks = 2; ranks <= 64; ++ranks) {
    for (const std::int64_t count : {1, 1000, 1 << 20}) {
      const VectorCut cut(Elements{count}, ranks, {});
      CHECK(cut.loops(0) == 1);
      CHECK(cut.piece(0, 0, 0).count == Elements{ceil_div(count, ranks)});
    }
  }
}

TEST_CASE("a ring order visits every rank once, and position is its inverse") {
  for (const std::uint32_t ranks : {1U, 2U, 8U, 24U}) {
    for (const std::uint32_t group : {0U, 1U, 2U, 8U}) {
      if (group != 0 && ranks % group != 0) { continue; }
      const RingOrder order(ranks, rotated(3, group));
      for (std::uint32_t channel = 0; channel < 9; ++channel) {
        std::set<std::uint32_t> visited;
        for (std::uint32_t position = 0; position < ranks; ++position) {
          const std::uint32_t rank = order.rank(channel, position);
          visited.insert(rank);
          CHECK(order.position(channel, rank) == position);
          CHECK(order.previous(channel, order.next(channel, rank)) == rank);
        }
        CHECK(visited.size() == ranks);
      }
    }
  }
}

TEST_CASE("with rotation one, channel c leaves every node from its GPU c and enters the next at GPU c + 1") {
  const RingOrder order(24, rotated(1, 8));
  for (std::uint32_t channel = 0; channel < 8; ++channel) {
    for (std::uint32_t node = 0; node < 3; ++node) {
      CHECK(order.next(channel, node * 8 + channel) == (node + 1) % 3 * 8 + (channel + 1) % 8);
    }
  }
  const RingOrder plain(24, rotated(0, 8));
  for (std::uint32_t rank = 0; rank < 24; ++rank) { CHECK(plain.next(5, rank) == (rank + 1) % 24); }
}

TEST_CASE("a ring follows its channel's path through groups of even and of odd number, at whatever rotation") {
  for (const std::uint32_t group : {1U, 2U, 3U, 8U}) {
    for (const std::uint32_t groups : {1U, 2U, 5U}) {
      CAPTURE(group);
      CAPTURE(groups);
      Layout layout = rotated(1, groups == 1 ? 0 : group);
      layout.orders = sample_orders(group);
      const RingOrder order(group * groups, layout);
      for (std::uint32_t channel = 0; channel < 7; ++channel) {
        for (std::uint32_t number = 0; number < groups; ++number) {
          const auto& way = (number % 2 == 0 ? layout.orders->even : layout.orders->odd)[channel % 3];
          for (std::uint32_t step = 0; step < group; ++step) {
            const std::uint32_t rank = number * group + way[step];
            const std::uint32_t position = number * group + step;
            CHECK(order.rank(channel, position) == rank);
            CHECK(order.position(channel, rank) == position);
            CHECK(order.next(channel, rank) == order.rank(channel, (position + 1) % (group * groups)));
            CHECK(order.previous(channel, order.next(channel, rank)) == rank);
          }
        }
      }
    }
  }
}

TEST_CASE("a slice has the least elements that are asked for, if its chunk has as many, and the others what is left") {
  for (const std::int64_t chunk : {4, 20, 40, 100}) {
    CAPTURE(chunk);
    const Layout layout{.slices = 3, .grain = Elements{4}, .least_slice = Elements{26}};
    const VectorCut cut(Elements{chunk * 2}, 2, layout);
    const BlockCut blocks(Elements{chunk * 2}, 2, layout);
    const std::int64_t first = std::min(chunk, ceil_div(std::max(std::int64_t{26}, ceil_div(chunk, 3)), 4) * 4);
    CHECK(cut.slice(0, 0, 0, 0).count == Elements{first});
    CHECK(blocks.slice(0, 0, 0, 0).count == Elements{first});
    CHECK(cut.slice(0, 0, 0, 1).count == Elements{std::min(first, chunk - first)});
  }
}

TEST_CASE("slices become chunks where messages do not depend on each other") {
  CHECK(slices_as_chunks({2, Elements{10}, 3, Elements{1}}).chunk == Elements{4});
  CHECK(slices_as_chunks({2, Elements{10}, 3, Elements{1}}).slices == 1);
  CHECK(slices_as_chunks({2, Elements::max(), 3, Elements{1}}).chunk == Elements::max());
}

}  // namespace athanor
