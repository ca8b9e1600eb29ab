#include "models/experiments/scenario/sweep/values.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

namespace athanor {

namespace {

using Texts = std::vector<std::string>;

TEST_CASE("a range goes by factors or by steps, up to its end") {
  CHECK(expand({.from = "8", .to = "64", .step = "", .factor = 2}) == Texts{"8", "16", "32", "64"});
  CHECK(expand({.from = "8", .to = "63", .step = "", .factor = 2}) == Texts{"8", "16", "32"});
  CHECK(expand({.from = "0.5", .to = "0.8", .step = "0.1"}) == Texts{"0.5", "0.6", "0.7", "0.8"});
  CHECK(expand({.from = "-2", .to = "2", .step = "2"}) == Texts{"-2", "0", "2"});
  CHECK(expand({.from = "5", .to = "5", .step = "", .factor = 2}) == Texts{"5"});
}

TEST_CASE("quantities keep their unit, and take the base unit where units differ") {
  CHECK(expand({.from = "100Gb/s", .to = "400Gb/s", .step = "", .factor = 2}) ==
        Texts{"\"100Gb/s\"", "\"200Gb/s\"", "\"400Gb/s\""});
  CHECK(expand({.from = "512KiB", .to = "2MiB", .step = "", .factor = 2}) ==
        Texts{"\"524288B\"", "\"1048576B\"", "\"2097152B\""});
  CHECK(expand({.from = "500ns", .to = "1.5us", .step = "500ns"}) ==
        Texts{"\"500000ps\"", "\"1000000ps\"", "\"1500000ps\""});
}

TEST_CASE("ranges that are none are told apart") {
  const auto why = [](const ValueRange& range) -> std::string {
    try {
      expand(range);
    } catch (const std::invalid_argument& error) { return error.what(); }
    return "";
  };
  CHECK(why({.from = "64", .to = "8", .step = ""}) == "the range 64..8 is empty; write the smaller one first");
  CHECK(why({.from = "0", .to = "8", .step = ""}) == "a range of powers starts above 0; give it a step instead");
  CHECK(why({.from = "1", .to = "8", .step = "0"}) == "the step of a range is above 0");
  CHECK(why({.from = "1", .to = "8", .step = "", .factor = 1}) == "the factor of a range is above 1");
  CHECK(why({.from = "1", .to = "1e12", .step = "1"}) == "a range of more than 1000000 values");
  CHECK(why({.from = "1us", .to = "1GiB", .step = ""}) ==
        "'1us' and '1GiB' are of different kinds; give both the same unit");
  CHECK(why({.from = "one", .to = "8", .step = ""}) == "'one' is neither a number nor a quantity");
  CHECK(why({.from = "1 parsec", .to = "8 parsec", .step = ""}) == "'1 parsec' has no unit of sizes, times or rates");
}

TEST_CASE("a command line writes values as lists and ranges") {
  CHECK(parse_values("1,2,4") == Texts{"1", "2", "4"});
  CHECK(parse_values("8..32,100") == Texts{"8", "16", "32", "100"});
  CHECK(parse_values("1..1000*10") == Texts{"1", "10", "100", "1000"});
  CHECK(parse_values("1..7+3") == Texts{"1", "4", "7"});
  CHECK(parse_values("ring,tree") == Texts{"\"ring\"", "\"tree\""});
  CHECK(parse_values("true,\"a,b\"") == Texts{"true", "\"a,b\""});
  CHECK(parse_values(R"({"kind":"star","x":[1,2]},null)") == Texts{R"({"kind":"star","x":[1,2]})", "null"});
  CHECK_THROWS_WITH_AS(parse_values("1,,2"), "a value is missing", std::invalid_argument);
  CHECK_THROWS_WITH_AS(parse_values("1..8*x"), "'x' is no factor", std::invalid_argument);
}

}  // namespace

}  // namespace athanor
