#include <doctest/doctest.h>

#include "models/experiments/table.hpp"

using namespace athanor;

TEST_CASE("a field of CSV is one line, quoted where it must be, and no formula of a spreadsheet") {
  CHECK(csv_field("ring") == "ring");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"a\"") == "\"say \"\"a\"\"\"");
  CHECK(csv_field("=1+1") == "'=1+1");
  CHECK(csv_field("a\nb\x1b[31m") == "a\\nb\\u001b[31m");
}
