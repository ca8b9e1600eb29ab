#include "models/execution/recurrence.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace athanor;

TEST_CASE("a recurrence says after how many looks a state comes back, once it does") {
  Recurrence recurrence;
  const auto look = [&](std::int64_t value) { return recurrence.look(std::vector<std::int64_t>{value, -value}); };
  for (const std::int64_t before : {100, 101, 102}) { CHECK_FALSE(look(before)); }
  for (std::int64_t k = 0; k < 5; ++k) { CHECK_FALSE(look(k)); }
  for (std::int64_t k = 0; k < 12; ++k) { CHECK(look(k % 5) == 5); }
  CHECK(recurrence.looks() == 20);
  recurrence.forget();
  CHECK_FALSE(look(1));
}

TEST_CASE("a recurrence tells states apart by order and by length") {
  Recurrence recurrence;
  CHECK_FALSE(recurrence.look(std::vector<std::int64_t>{}));
  CHECK_FALSE(recurrence.look(std::vector<std::int64_t>{0}));
  CHECK_FALSE(recurrence.look(std::vector<std::int64_t>{0, 0}));
  CHECK_FALSE(recurrence.look(std::vector<std::int64_t>{1, 2}));
  CHECK_FALSE(recurrence.look(std::vector<std::int64_t>{2, 1}));
  CHECK(recurrence.look(std::vector<std::int64_t>{0, 0}) == 3);
}
