#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/execution/element_values.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/numerics/comparison.hpp"
#include "tools/numerics/numbers.hpp"

using namespace athanor;
using Json = nlohmann::json;

namespace {

Ran ran(std::vector<std::string> options, int interrupted_after = -1) {
  options.insert(options.begin(), "numerics");
  return athanor_with(options, interrupted_after);
}

/// The rows of a run that succeeds.
std::vector<Json> rows(std::vector<std::string> options) {
  options.insert(options.end(), {"--json", "--quiet"});
  const Ran result = ran(options);
  CAPTURE(result.err);
  REQUIRE(result.code == 0);
  return result.json()["results"];
}

std::vector<double> drawn(NumberDistribution distribution, DataType type, std::uint32_t rank, std::uint32_t ranks = 2,
                          std::uint64_t seed = 1) {
  const std::vector<std::byte> bytes = drawn_elements(distribution, type, seed, rank, ranks, 20'000);
  std::vector<double> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += element_size(type)) {
    numbers.push_back(element_value(type, &bytes[at]));
  }
  return numbers;
}

double mean(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) { sum += number; }
  return sum / static_cast<double>(numbers.size());
}

double mean_square(std::vector<double> numbers) {
  for (double& number : numbers) { number *= number; }
  return mean(numbers);
}

}  // namespace

TEST_CASE("numbers are spread as their distribution says, differ between ranks and seeds, and are drawn again alike") {
  for (const NumberDistribution distribution : number_distributions()) {
    CAPTURE(name(distribution));
    const auto numbers = drawn(distribution, DataType::float64, 0);
    CHECK(drawn(distribution, DataType::float64, 0) == numbers);
    CHECK(drawn(distribution, DataType::float64, 1) != numbers);
    CHECK(drawn(distribution, DataType::float64, 0, 2, 2) != numbers);
  }
  const auto normal = drawn(NumberDistribution::normal, DataType::float64, 0);
  CHECK(std::fabs(mean(normal)) < 0.03);
  CHECK(std::fabs(mean_square(normal) - 1) < 0.03);
  const auto uniform = drawn(NumberDistribution::uniform, DataType::float64, 0);
  CHECK(std::fabs(mean(uniform) - 0.5) < 0.01);
  CHECK(std::all_of(uniform.begin(), uniform.end(), [](double number) { return number >= 0 && number < 1; }));
  std::set<int> exponents;
  std::set<bool> signs;
  for (const double number : drawn(NumberDistribution::mixed_exponents, DataType::float64, 0)) {
    exponents.insert(std::ilogb(number));
    signs.insert(std::signbit(number));
  }
  CHECK(exponents.size() == 16);
  CHECK(*exponents.begin() == -16);
  CHECK(*exponents.rbegin() == -1);
  CHECK(signs.size() == 2);
}

TEST_CASE("what cancels leaves 2^-8 of a normal number of each pair") {
  const auto even = drawn(NumberDistribution::cancelling, DataType::float64, 4, 6);
  const auto odd = drawn(NumberDistribution::cancelling, DataType::float64, 5, 6);
  std::vector<double> left;
  for (std::size_t i = 0; i < even.size(); ++i) { left.push_back((even[i] + odd[i]) * 256); }
  CHECK(std::fabs(mean_square(left) - 1) < 0.03);
  CHECK(mean_square(even) > 0.9);
}

TEST_CASE("integers use much of their range, and their sum does not leave it") {
  for (const DataType type : {DataType::int8, DataType::int32, DataType::int64}) {
    for (const std::uint32_t ranks : {1U, 2U, 8U}) {
      const double limit = std::ldexp(1.0, std::min(40, 8 * static_cast<int>(element_size(type)) - 1));
      for (const NumberDistribution distribution : number_distributions()) {
        CAPTURE(name(type));
        CAPTURE(name(distribution));
        double greatest = 0;
        for (const double number : drawn(distribution, type, 0, ranks)) {
          greatest = std::max(greatest, std::fabs(number));
        }
        CHECK(greatest * ranks < limit);
        CHECK(greatest * ranks * 32 > limit / 2);
      }
    }
  }
}

TEST_CASE("integers come out exactly and with the same bits whoever adds them, in whatever order") {
  for (const char* type : {"int8", "int32", "int64"}) {
    for (const Json& row : rows({"--type", type, "--ranks", "6", "--size", "8KiB", "--order", "all"})) {
      CAPTURE(row.dump());
      CHECK(row["max_absolute_error"] == 0);
      CHECK(row["correctly_rounded"] == 1);
      CHECK(row["bits"] == "A");
      CHECK(row["runs_equal"] == true);
    }
  }
}

TEST_CASE("integers that wrap are held against a sum that wraps") {
  for (const Json& row : rows({"--type", "int8", "--ranks", "200", "--size", "4KiB", "--algorithm", "ring,nvls"})) {
    CHECK(row["max_absolute_error"] == 0);
  }
}

TEST_CASE("a wide accumulator in one engine rounds every element correctly, the data's own type does not") {
  std::map<std::string, Json> by_accumulator;
  for (const Json& row : rows({"--algorithm", "aggregation_tree", "--type", "bfloat16", "--distribution", "uniform",
                               "--accumulator", "all", "--ranks", "8"})) {
    by_accumulator[row["accumulator"]] = row;
  }
  REQUIRE(by_accumulator.size() == 3);
  CHECK(by_accumulator["data"]["correctly_rounded"] < 0.9);
  CHECK(by_accumulator["data"]["max_error_ulp"] > 0.5);
  for (const char* wide : {"float32", "float64"}) {
    CHECK(by_accumulator[wide]["correctly_rounded"] == 1);
    CHECK(by_accumulator[wide]["max_error_ulp"] <= 0.5);
  }
  CHECK(by_accumulator["float32"]["bits"] == by_accumulator["float64"]["bits"]);
  CHECK(by_accumulator["float32"]["bits"] != by_accumulator["data"]["bits"]);
}

TEST_CASE("with 64 ranks a ring of halves loses more than a tree of engines") {
  const auto both = rows({"--algorithm", "ring,aggregation_tree", "--type", "float16", "--distribution", "uniform",
                          "--ranks", "64", "--accumulator", "float32"});
  REQUIRE(both.size() == 2);
  CHECK(both[0]["accumulator"] == "ranks");
  CHECK(both[0]["mean_error_ulp"] > 2 * both[1]["mean_error_ulp"].get<double>());
  CHECK(both[1]["max_relative_error"] <= std::expm1(2 * std::log1p(0x1p-11)));  // two levels, a rounding each
}

TEST_CASE("switches of 64 ports add 64 ranks at once and round once, those of two ports six times") {
  for (const auto& [radix, levels] : std::map<std::string, int>{{"64", 1}, {"8", 2}, {"4", 3}, {"2", 6}}) {
    const Json row = rows({"--algorithm", "aggregation_tree", "--type", "float16", "--distribution", "uniform",
                           "--ranks", "64", "--accumulator", "float64", "--radix", radix})[0];
    CHECK(row["max_relative_error"] <= std::expm1(levels * std::log1p(0x1p-11)));
    CHECK((row["correctly_rounded"] == 1) == (levels == 1));
  }
}

TEST_CASE("trees for the heads of nodes, and engines in nodes, add what one tree adds") {
  std::set<std::string> bits;
  int engines = 0;
  for (const Json& row :
       rows({"--ranks", "24", "--group", "4", "--size", "4800B", "--type", "int32", "--radix", "3"})) {
    bits.insert(row["bits"]);
    engines += row["engine"] == "none" ? 0 : 1;
  }
  CHECK(bits.size() == 1);
  CHECK(engines >= 3);
}

TEST_CASE("an order of arrival gives every run bits of its own, but to fixed point and to what is added exactly") {
  const auto all = rows({"--algorithm", "nvls", "--type", "float16", "--distribution", "uniform", "--accumulator",
                         "data,float32", "--order", "all", "--fixed-point", "--block", "32"});
  REQUIRE(all.size() == 6);
  for (const Json& row : all) {
    CAPTURE(row.dump());
    CHECK(row["runs_equal"] == !(row["accumulator"] == "data" && row["order"] == "arrival"));
    CHECK(row["ranks_equal"] == true);
    CHECK(row["block"] == (row["accumulator"] == "int32" ? Json(32) : Json(nullptr)));
  }
  CHECK(all[0]["bits"] != all[1]["bits"]);
  CHECK(all[2]["bits"] == all[3]["bits"]);
  CHECK(all[4]["bits"] == all[5]["bits"]);
}

TEST_CASE("algorithms that add in the same order have equal bits, and ranks that do not are told") {
  std::map<std::string, Json> by_name;
  for (const Json& row : rows({"--ranks", "8", "--size", "8KiB"})) { by_name[row["algorithm"]] = row; }
  CHECK(by_name["recursive_doubling"]["bits"] == by_name["halving_doubling"]["bits"]);
  CHECK(by_name["parameter_server"]["bits"] == by_name["parameter_server_dedicated"]["bits"]);
  CHECK(by_name["ring"]["bits"] != by_name["recursive_doubling"]["bits"]);
  CHECK(by_name["ring"]["ranks_equal"] == true);
  CHECK(by_name["direct_one_shot"]["ranks_equal"] == false);  // each adds its own first
}

TEST_CASE("a reduce is read at its root and a reduce-scatter in its parts") {
  for (const char* collective : {"reduce", "reduce_scatter"}) {
    for (const std::string ranks : {"1", "2", "5"}) {
      for (const Json& row : rows({"--collective", collective, "--ranks", ranks, "--size", "1000B", "--type", "float64",
                                   "--distribution", "uniform", "--repetitions", "1"})) {
        CAPTURE(row.dump());
        CHECK(row["ranks_equal"] == nullptr);
        CHECK(row["max_error_ulp"] <= (ranks == "5" ? 2 : ranks == "2" ? 0.5 : 0));
      }
    }
  }
}

TEST_CASE("keys of results are stable, as JSON, as CSV and in files") {
  const std::vector<std::string> keys{"collective",
                                      "algorithm",
                                      "engine",
                                      "ranks",
                                      "bytes",
                                      "type",
                                      "distribution",
                                      "seed",
                                      "accumulator",
                                      "order",
                                      "block",
                                      "format",
                                      "max_absolute_error",
                                      "mean_absolute_error",
                                      "max_relative_error",
                                      "mean_relative_error",
                                      "max_error_ulp",
                                      "mean_error_ulp",
                                      "correctly_rounded",
                                      "error_bound",
                                      "share_of_bound",
                                      "ranks_equal",
                                      "runs_equal",
                                      "repetitions",
                                      "bits"};
  const Json row = rows({"--algorithm", "ring", "--ranks", "2"})[0];
  CHECK(row.size() == keys.size());
  for (const std::string& key : keys) { CHECK(row.contains(key)); }
  const Ran csv = ran({"--algorithm", "ring", "--ranks", "2", "--csv"});
  CHECK(csv.out.starts_with(fmt::format("{},{},", keys[0], keys[1])));
  const Folder folder;
  const Ran table = ran({"--algorithm", "ring", "--ranks", "2", "--json=" + folder.path("r.json")});
  CHECK(table.says("# collective   all_reduce of 64 KiB over 2 ranks: 16384 elements of float32"));
  CHECK(Json::parse(read_text_file(folder.path("r.json")))["manifest"]["seeds"][0] == 1);
}

TEST_CASE("an interrupted comparison prints what there is") {
  const Ran stopped = ran({"--ranks", "4", "--json"}, 2);
  CHECK(stopped.code == 130);
  CHECK(stopped.json()["results"].size() == 2);
  CHECK(stopped.json()["manifest"]["interrupted"] == true);
}

TEST_CASE("what cannot be compared is refused with what to write instead") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> slips = {
      {{"--ranks", "0"}, "--ranks '0' is not a whole number from 1 on"},
      {{"--repetitions", "0"}, "--repetitions '0' is not"},
      {{"--type", "float23"}, "did you mean 'float32'?"},
      {{"--distribution", "gaussian"}, "choose from normal, uniform, mixed_exponents, cancelling"},
      {{"--accumulator", "flaot64"}, "did you mean 'float64'?"},
      {{"--order", "port"}, "there is no order 'port'; did you mean 'ports'?"},
      {{"--type", "int32", "--fixed-point"}, "--fixed-point: int32 needs no fixed point"},
      {{"--type", "int8", "--accumulator", "float32"}, "use the accumulator data"},
      {{"--type", "float64", "--accumulator", "float32"}, "use data or float64"},
      {{"--algorithm", "ring", "--order", "arrival"}, "--order is for engines"},
      {{"--algorithm", "ring,recursive_doubling", "--fixed-point"}, "--fixed-point is for engines"},
      {{"--radix", "1"}, "--radix '1' is not a whole number from 2 on"},
      {{"--algorithm", "ring", "--radix", "4"}, "--radix is for engines"},
      {{"--block", "64"}, "--block is of --fixed-point"},
      {{"--fixed-point", "--block", "0"}, "--block '0'"},
      {{"--collective", "broadcast"}, "nothing is added up in broadcast; choose from all_reduce"},
      {{"--collective", "barrier"}, "nothing is added up in barrier"},
      {{"--size", "3B"}, "3 B is no whole number of float32 elements of 4 B"},
      {{"--size", "0B"}, "from 1 on"},
      {{"--size", "64"}, "has no unit"},
      {{"--group", "3"}, "groups of 3 do not divide 8 ranks"},
      {{"--ranks", "4000000000", "--size", "1GiB"}, "choose a smaller --size or fewer --ranks"},
      {{"--json", "--csv"}, "cannot share stdout"},
      {{"surplus"}, "one argument too many"}};
  for (const auto& slip : slips) {
    const Ran refused = ran(slip.first);
    CAPTURE(slip.first[0]);
    CAPTURE(refused.err);
    CHECK(refused.code == 2);
    CHECK(refused.says(slip.second));
  }
  const Ran unknown = ran({"--algorithm", "rnig"});
  CHECK(unknown.code == 3);
  CHECK(unknown.says("did you mean \"ring\"?"));
  const Ran unfit = ran({"--ranks", "300", "--size", "4B", "--algorithm", "direct_one_shot"});
  CHECK(unfit.code == 3);
  CHECK(unfit.says("these fit: ring"));
  CHECK(ran({"--ranks", "300", "--size", "4B"}).says("note: direct_one_shot is left out: "));
}
