#include "algorithms/proof/rounds.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "tests/algorithms/rounds.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

using enum CollectiveKind;

Rounds rounds(CollectiveKind kind, std::string_view name, std::uint32_t ranks, std::int64_t count,
              const Layout& layout = {}) {
  return rounds_of(*find(kind, name).make(sample(kind, ranks, count), layout));
}

}  // namespace

TEST_CASE("the rounds and the traffic of every algorithm are those of its closed form") {
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 6U, 8U, 11U}) {
      CAPTURE(std::string(algorithm.name));
      CAPTURE(ranks);
      const Collective collective = sample(algorithm.kind, ranks, 48, ranks / 3);
      const Rounds found = rounds_of(*algorithm.make(collective, {}));
      CHECK(found.rounds == algorithm.cost(collective).steps);
      std::map<std::uint32_t, Elements> sent;
      Elements most;
      for (const RoundMessage& message : found.messages) {
        CHECK(message.round >= 1);
        CHECK(message.round <= found.rounds);
        CHECK(message.part < found.parts);
        if (message.from.value >= ranks) { continue; }
        sent[message.from.value] += message.count;
        most = std::max(most, sent[message.from.value]);
      }
      CHECK(most == algorithm.cost(collective).sent);
    }
  }
}

TEST_CASE("a ring's messages carry one piece each, with one term more in every round until the sum is whole") {
  const std::uint32_t ranks = 5;
  const Rounds found = rounds(all_reduce, "ring", ranks, ranks);
  CHECK(found.parts == 1);
  CHECK(found.messages.size() == std::size_t{2} * (ranks - 1) * ranks);
  for (const RoundMessage& message : found.messages) {
    CHECK(message.to.value == (message.from.value + 1) % ranks);
    REQUIRE(message.carries.size() == 1);
    const Carried& carried = message.carries.front();
    CHECK(carried.terms == std::min(message.round, ranks));
    CHECK(carried.count == Elements{1});
    CHECK(carried.first.has_value());
    CHECK(carried.origin.has_value() == (carried.terms == 1));
    CHECK(message.added == (message.round < ranks));
  }
}

TEST_CASE("parts are what never waits for each other: channels, trees, the copies on a torus") {
  Layout three;
  three.channels = 3;
  CHECK(rounds(all_reduce, "ring", 4, 12, three).parts == 3);
  CHECK(rounds(all_reduce, "double_binary_tree", 6, 12).parts == 2);
  CHECK(rounds(all_reduce, "torus_2d", 9, 36).parts == 4);
  CHECK(rounds(all_reduce, "recursive_doubling", 8, 1).parts == 1);
}

TEST_CASE("blocks keep their origin where nothing is added up, and a barrier carries nothing") {
  for (const RoundMessage& message : rounds(all_gather, "bruck", 8, 8).messages) {
    CHECK_FALSE(message.added);
    for (const Carried& carried : message.carries) {
      CHECK(carried.origin.has_value());
      CHECK(carried.terms == 1);
    }
  }
  for (const RoundMessage& message : rounds(barrier, "dissemination", 8, 0).messages) {
    CHECK(message.carries.empty());
  }
}

}  // namespace athanor
