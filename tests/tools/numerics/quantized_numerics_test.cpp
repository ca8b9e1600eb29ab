// `athanor numerics --quantize`.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/execution/quantized/quantized_numbers.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;
using Json = nlohmann::json;

namespace {

Ran ran(std::vector<std::string> options) {
  options.insert(options.begin(), {"numerics", "--algorithm", "ring"});
  return athanor_run(options);
}

std::vector<Json> rows(std::vector<std::string> options) {
  options.insert(options.end(), {"--json", "--quiet"});
  const Ran result = ran(options);
  CAPTURE(result.err);
  REQUIRE(result.code == 0);
  return result.json()["results"];
}

bool refused(const std::vector<std::string>& options, const std::string& because) {
  const Ran result = ran(options);
  CAPTURE(result.err);
  return result.code == 2 && result.err.find(because) != std::string::npos;
}

}  // namespace

TEST_CASE("every format is held against its bound, beside what ranks add in full") {
  for (const std::string distribution : {"normal", "uniform", "mixed_exponents", "cancelling"}) {
    CAPTURE(distribution);
    const std::vector<Json> all = rows({"--quantize", "all", "--ranks", "5", "--distribution", distribution});
    REQUIRE(all.size() == 1 + quantized_numbers().size());
    CHECK(all[0]["format"].is_null());
    CHECK(all[0]["error_bound"].is_null());
    for (std::size_t i = 1; i < all.size(); ++i) {
      CHECK(all[i]["format"] == std::string(name(quantized_numbers()[i - 1])));
      CHECK(all[i]["algorithm"] == "pairwise, then ring");
      CHECK(all[i]["share_of_bound"] <= 1);
      CHECK(all[i]["max_absolute_error"] <= all[i]["error_bound"]);
      CHECK(all[i]["max_absolute_error"] > all[0]["max_absolute_error"]);
      CHECK(all[i]["ranks_equal"] == true);
      CHECK(all[i]["runs_equal"] == true);
    }
  }
}

TEST_CASE("a scale for fewer numbers has a smaller error") {
  const auto error = [](const std::string& block) {
    return rows({"--quantize", "int8", "--block", block})[1]["mean_absolute_error"].get<double>();
  };
  CHECK(error("32") < error("2048"));
  CHECK(error("512") < error("2048"));
}

TEST_CASE("what cannot be quantised, and formats that there are not, are refused") {
  CHECK(refused({"--quantize", "int8", "--type", "float16"}, "an all_reduce of float32 is quantised"));
  CHECK(refused({"--quantize", "int8", "--collective", "reduce_scatter"}, "an all_reduce of float32 is quantised"));
  CHECK(refused({"--quantize", "fp8"}, "fp8_e4m3"));
  CHECK(refused({"--block", "64"}, "--block is of --fixed-point and --quantize"));
}
