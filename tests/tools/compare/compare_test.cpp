#include <cmath>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/error.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/compare/comparison.hpp"
#include "tools/compare/difference.hpp"
#include "tools/compare/text.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// Results whose time is `scale` x size ^ `power`, at sizes of 1, 16, 256 ... KiB.
ComparedInput results(const std::string& label, double scale, double power, int sizes = 4) {
  ComparedInput input{label, {}};
  for (int i = 0; i < sizes; ++i) {
    const double bytes = 1024 * std::pow(16, i);
    input.records.push_back({{"case", ""},
                             {"collective", "all_reduce"},
                             {"algorithm", "ring"},
                             {"bytes", static_cast<std::int64_t>(bytes)},
                             {"time_us", scale * std::pow(bytes, power)},
                             {"busbw_gbps", 1 / (scale * std::pow(bytes, power))}});
  }
  return input;
}

TEST_CASE("the winner of each size, mean ratios, and the size at which two lines cross") {
  // 1 x s^0.75 and 100 x s^0.25 are equal where s^0.5 = 100, at 10,000 bytes; straight in logarithms, so exact.
  const Comparison both = compared({results("steep", 1, 0.75), results("flat", 100, 0.25)}, {});
  CHECK(both.by == "input");
  CHECK(both.alternatives == std::vector<std::string>{"steep", "flat"});
  REQUIRE(both.lines.size() == 4);
  CHECK(both.lines[0].winners == std::vector<std::size_t>{0});
  CHECK(both.lines[1].winners == std::vector<std::size_t>{1});
  CHECK(both.wins() == std::vector<std::size_t>{1, 3});
  REQUIRE(both.crossovers().size() == 1);
  CHECK(both.crossovers()[0].before == 0);
  CHECK(both.crossovers()[0].from == 1024);
  CHECK(both.crossovers()[0].at == doctest::Approx(10'000));
  // Mean of log(100 x s^-0.5) over sizes of 2^10 x 16^i, i = 0..3: s^-0.5 is 2^-5 x 4^-i, so 100 x 2^-5 x 4^-1.5.
  CHECK(both.mean_ratio(1) == doctest::Approx(100.0 / 32 / 8));
}

TEST_CASE("a Pareto front is what nothing beats in both") {
  ComparedInput inputs{"all", {}};
  const std::vector<std::tuple<const char*, double, double>> points{
      {"fast", 1, 9}, {"cheap", 4, 1}, {"between", 2, 3}, {"beaten", 2, 4}, {"worst", 5, 9}, {"like between", 2, 3}};
  for (const auto& [name, time, usd] : points) {
    inputs.records.push_back({{"case", name}, {"bytes", 1024}, {"time_us", time}, {"bill_usd", usd}});
  }
  inputs.records.push_back({{"case", "no price"}, {"bytes", 1024}, {"time_us", 0.5}});
  const Comparison priced = compared({inputs}, {"", "", "", "bill_usd"});
  std::vector<std::string> names;
  for (const std::size_t each : priced.front(priced.lines[0])) { names.push_back(priced.alternatives[each]); }
  CHECK(names == std::vector<std::string>{"fast", "cheap", "between", "like between"});
}

TEST_CASE("prices are told in full, from the least to the most where conditions change them") {
  ComparedInput inputs{"all", {}};
  for (const auto& [name, nodes, usd] : std::vector<std::tuple<const char*, int, double>>{
           {"a", 8, 2'500'000}, {"a", 16, 11'050'400}, {"b", 8, 1'000.5}, {"b", 16, 1'000.5}}) {
    inputs.records.push_back({{"case", name}, {"ranks", nodes}, {"bytes", 1024}, {"time_us", 1}, {"bill_usd", usd}});
  }
  const std::string text = comparison_text(compared({inputs}, {"case", "", "", "bill_usd"}));
  CHECK(text.find("# A: bill_usd 2500000 to 11050400\n") != std::string::npos);
  CHECK(text.find("# B: bill_usd 1000.5\n") != std::string::npos);
}

TEST_CASE("two that are equally fast share a win, and none overtakes the other") {
  const Comparison three = compared({results("a", 1, 1), results("b", 1, 1), results("slow", 2, 1)}, {});
  CHECK(three.lines[0].winners == std::vector<std::size_t>{0, 1});
  CHECK(three.wins() == std::vector<std::size_t>{4, 4, 0});
  CHECK(three.crossovers().empty());
}

TEST_CASE("of bandwidths the larger wins") {
  const Comparison both = compared({results("steep", 1, 0.75), results("flat", 100, 0.25)}, {"", "", "busbw_gbps", ""});
  CHECK(both.more_is_better);
  CHECK(both.wins() == std::vector<std::size_t>{1, 3});
}

TEST_CASE("equal results have no winner, and sizes that one has alone are left out") {
  const Comparison both = compared({results("a", 1, 1, 4), results("b", 1, 1, 2)}, {});
  CHECK(both.lines.size() == 2);
  CHECK(both.unmatched == 2);
  CHECK(both.lines[0].winners.empty());
  CHECK(both.crossovers().empty());
}

TEST_CASE("a sweep is compared by what it varies first, or by what is asked") {
  ComparedInput sweep{"sweep", {}};
  for (const char* fabric : {"star", "torus"}) {
    for (const char* ranks : {"8", "16"}) {
      for (Json record : results("", fabric[0] == 's' ? 1 : 2, 1).records) {
        record["parameters"] = {{"fabric", fabric}, {"ranks", ranks}};
        record["ranks"] = std::stoi(ranks);
        sweep.records.push_back(record);
      }
    }
  }
  const Comparison first = compared({sweep}, {});
  CHECK(first.by == "fabric");
  CHECK(first.conditions == std::vector<std::string>{"ranks", "bytes"});
  CHECK(first.mean_ratio(1) == doctest::Approx(2));
  const Comparison asked = compared({sweep}, {"ranks", "16", "", ""});
  CHECK(asked.alternatives[asked.base] == "16");
  CHECK(asked.lines.size() == 8);
}

TEST_CASE("a sweep over collectives is compared by them, and names them once") {
  ComparedInput sweep{"sweep", {}};
  for (const char* kind : {"all_reduce", "all_to_all"}) {
    for (Json record : results("", kind[4] == 'r' ? 1 : 2, 1).records) {
      record["collective"] = kind;
      record["parameters"] = {{"kind", kind}};
      sweep.records.push_back(record);
    }
  }
  const Comparison kinds = compared({sweep}, {});
  CHECK(kinds.by == "kind");
  CHECK(kinds.conditions == std::vector<std::string>{"bytes"});
  CHECK(kinds.mean_ratio(1) == doctest::Approx(2));
}

TEST_CASE("what cannot be compared says why") {
  const auto why = [](const std::vector<ComparedInput>& inputs, const ComparisonRequest& request) -> std::string {
    try {
      compared(inputs, request);
    } catch (const UsageError& error) { return error.what(); }
    return "";
  };
  const std::vector<ComparedInput> two{results("a", 1, 1), results("b", 2, 1)};
  CHECK(why({results("a", 1, 1)}, {}).find("one alternative alone") != std::string::npos);
  CHECK(why(two, {"rails", "", "", ""}).find("no result has 'rails'") != std::string::npos);
  CHECK(why(two, {"", "c", "", ""}).find("there is no 'c'; there are a, b") != std::string::npos);
  CHECK(why(two, {"", "", "mfu", ""}).find("no result has a number 'mfu'") != std::string::npos);
  CHECK(why({{"a", {}}, {"b", {}}}, {}).find("there are no results") != std::string::npos);
  ComparedInput twice = two[0];
  twice.records.insert(twice.records.end(), two[0].records.begin(), two[0].records.end());
  CHECK(why({twice, two[1]}, {}).find("does not tell alternatives apart") != std::string::npos);
}

TEST_CASE("a price that nobody knows leaves the comparison, and says where to give it") {
  const std::vector<ComparedInput> two{results("a", 1, 1), results("b", 2, 1)};
  const std::string text = comparison_text(compared(two, {"", "", "", "bill_usd"}));
  CHECK(text.find("A: best at 4 of 4") != std::string::npos);
  CHECK(text.find("A: bill_usd not known") != std::string::npos);
  CHECK(text.find("athanor describe names it") != std::string::npos);
  CHECK_THROWS_WITH_AS(compared(two, {"", "", "", "gold"}),
                       "compare: no result has a number 'gold'; the first one has bytes, time_us, busbw_gbps",
                       UsageError);
}

TEST_CASE("results that are extrapolated are counted for each alternative") {
  std::vector<ComparedInput> two{results("a", 1, 1), results("b", 2, 1)};
  two[1].records[2]["extrapolated"] = true;
  const Comparison both = compared(two, {});
  CHECK(both.extrapolated == std::vector<std::size_t>{0, 1});
  CHECK(comparison_text(both).find("; 1 results extrapolated") != std::string::npos);
}

TEST_CASE("differences of scenarios are told in order, without names") {
  const JsonValue a = json_value_of(R"({"name": "a", "cluster": {"nodes": 2, "fabric": {"kind": "star"}}})").value();
  const JsonValue b =
      json_value_of(R"({"name": "b", "cluster": {"nodes": 4, "fabric": {"kind": "star", "x": 1}}})").value();
  const std::vector<Difference> found = differences(a, b);
  REQUIRE(found.size() == 2);
  CHECK(found[0].pointer == "/cluster/fabric/x");
  CHECK(found[0].first.empty());
  CHECK(found[1].pointer == "/cluster/nodes");
  CHECK(found[1].second == "4");
}

/// Two results of one case each, of which measured times are expected between half and four times the simulated one.
std::vector<ComparedInput> expected() {
  std::vector<ComparedInput> inputs;
  for (const auto& [name, time] : {std::pair("a", 100.0), std::pair("b", 110.0)}) {
    ComparedInput input{name, {}};
    input.records.push_back({{"case", ""},
                             {"bytes", 1024},
                             {"time_us", time},
                             {"busbw_gbps", 1 / time},
                             {"efficiency", 50 / time},
                             {"bill_usd", 7},
                             {"time_low_us", time / 2},
                             {"time_high_us", time * 4}});
    inputs.push_back(input);
  }
  return inputs;
}

TEST_CASE("a figure has the interval of its time, a rate that in inverse proportion, and all else has none") {
  for (const auto& [figure, low, high] : {std::tuple("", 50.0, 400.0), std::tuple("busbw_gbps", 1 / 400.0, 1 / 50.0),
                                          std::tuple("efficiency", 0.125, 1.0)}) {
    CAPTURE(figure);
    const Comparison both = compared(expected(), {"", "", figure, ""});
    REQUIRE(both.lines.size() == 1);
    const ComparisonEntry& entry = *both.lines.front().entries.front();
    REQUIRE(entry.interval);
    CHECK(entry.interval->first == doctest::Approx(low));
    CHECK(entry.interval->second == doctest::Approx(high));
    REQUIRE(both.lines.front().certainty);
    const Json intervals = comparison_json(both)["lines"].elements().front()["intervals"];
    CHECK(intervals.elements().front().elements().back().number() == doctest::Approx(high));
  }
  ComparedInput cheaper = expected()[1];
  cheaper.records.front()["bill_usd"] = 6;
  const Comparison costs = compared({expected()[0], cheaper}, {"", "", "bill_usd", ""});
  CHECK_FALSE(costs.lines.front().entries.front()->interval);
  CHECK_FALSE(costs.lines.front().certainty);  // how sure times are says nothing of prices
  CHECK(comparison_json(costs)["lines"].elements().front()["intervals"].elements().front().is_null());
}

TEST_CASE("a time without software can lose to one with it, and not win") {
  std::vector<ComparedInput> inputs = expected();
  inputs[0].records.front()["profile"] = "nccl";
  inputs[1].records.front() = {{"case", ""}, {"bytes", 1024}, {"time_us", 50.0}, {"profile", "ideal"}};
  const auto line = [&](double time) {
    inputs[1].records.front()["time_us"] = time;
    const Comparison both = compared(inputs, {});
    CHECK(both.without_software() == std::vector<std::size_t>{1});
    CHECK(comparison_text(both).find("# B: no software is counted, of others it is") != std::string::npos);
    return both.lines.front();
  };
  const ComparisonLine faster = line(50);
  CHECK(faster.winners.empty());
  CHECK_FALSE(faster.certainty);
  const ComparisonLine slower = line(1000);
  CHECK(slower.winners == std::vector<std::size_t>{0});
  REQUIRE(slower.certainty);
  CHECK(*slower.certainty > kCertain);
  inputs[0].records.front()["profile"] = "ideal";
  CHECK(compared(inputs, {}).without_software().empty());
  CHECK(compared(inputs, {}).lines.front().winners.size() == 1);
}

TEST_CASE("one that nothing is known of leaves the others as certain as they are") {
  std::vector<ComparedInput> inputs = expected();
  inputs[1].records.front() = inputs[0].records.front();
  inputs[1].records.front()["time_us"] = 1000.0;
  inputs[1].records.front()["time_low_us"] = 500.0;
  inputs[1].records.front()["time_high_us"] = 4000.0;
  const std::optional<double> of_two = compared(inputs, {}).lines.front().certainty;
  REQUIRE(of_two);
  inputs.push_back({"c", {{{"case", ""}, {"bytes", 1024}, {"time_us", 200.0}}}});
  CHECK(compared(inputs, {}).lines.front().certainty == of_two);
}

TEST_CASE("athanor compare takes scenarios, results and sweeps") {
  const Folder folder;
  const std::string slow = folder.write("slow.json", small_with("10GB/s", "5GB/s"));
  const std::string fast = folder.write("fast.json", kSmall);
  const std::string results = folder.path("results.json");
  const std::string sweep = folder.path("sweep.sqlite");
  REQUIRE(athanor_run({"run", fast, "--json=" + results}).code == 0);
  REQUIRE(athanor_run({"sweep", fast, "-q", "--vary", "/cluster/fabric/link/rate=10GB/s,5GB/s", "-o", sweep}).code ==
          0);
  const Ran ran = athanor_run({"compare", results, slow, "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["wins"] == nlohmann::json({3, 0}));
  CHECK(ran.json()["differences"][0].get<std::string>().find(
            R"(/cluster/fabric/link/rate is "5GB/s", of the base "10GB/s")") != std::string::npos);
  const Ran swept = athanor_run({"compare", sweep, "--json"});
  CHECK(swept.json()["by"] == "rate");
  CHECK(swept.json()["mean_ratios"][1] == ran.json()["mean_ratios"][1]);
  const Ran text = athanor_run({"compare", fast, slow});
  CHECK(text.says("B = " + slow));
  CHECK(text.says("A: best at 3 of 3"));
  const std::string odd = folder.write(
      "odd.json",
      small_with("\"name\"", R"("cases": [{"name": "a,\"b\""}, {"name": "c", "cluster": {"nodes": 8}}], "name")"));
  const Ran csv = athanor_run({"compare", odd, "--csv", "--pareto", "bill_cables", "--sizes", "4KiB"});
  CHECK(csv.says("bytes,\"a,\"\"b\"\"\",c,winner,certainty,\"a,\"\"b\"\" bill_cables\",c bill_cables,front\n4096,"));
  CHECK(csv.out.ends_with(",4.0,8.0,\"a,\"\"b\"\"\"\n"));
  CHECK(athanor_run({"compare", fast}).code == 2);
  CHECK(athanor_run({"compare", fast, folder.write("empty.sqlite", "")}).says("empty.sqlite is empty"));
  CHECK(athanor_run({"compare", fast, folder.path("none.json")}).code == 4);
}

constexpr const char* kHosts = R"({
  "name": "hosts", "profile": "ideal",
  "cluster": {"nodes": 16, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
  "collective": {"kind": "all_reduce", "sizes": ["1MiB", "64MiB"]}})";

TEST_CASE("compare --with tells what a change would bring: engines by name, anything else as --set has it") {
  const Folder folder;
  const std::string file = folder.write("hosts.json", kHosts);
  const Ran engine = athanor_run({"compare", file, "--with", "ideal", "--json"});
  REQUIRE_MESSAGE(engine.code == 0, engine.err);
  CHECK(engine.json()["alternatives"] == nlohmann::json({"as it is", "with ideal"}));
  const Ran by_hand = athanor_run({"compare", file, "--with", "/network/aggregation/engine=ideal", "--json"});
  CHECK(by_hand.json()["mean_ratios"] == engine.json()["mean_ratios"]);
  CHECK(engine.json()["mean_ratios"][1].get<double>() < 1);
  const Ran linked = athanor_run(
      {"compare", file, "--with", "/cluster/fabric/link/rate=20GB/s;/cluster/fabric/link/latency=250ns", "--json"});
  CHECK(linked.json()["mean_ratios"][1].get<double>() == doctest::Approx(0.5).epsilon(0.01));
  const Ran slip = athanor_run({"compare", file, "--with", "sharp3"});
  CHECK(slip.code == 2);
  CHECK(slip.says("'sharp3' is neither /POINTER=VALUE nor an engine in switches (did you mean 'sharp_v3'?)"));
  const std::string results = folder.path("results.json");
  REQUIRE(athanor_run({"run", file, "--json=" + results}).code == 0);
  CHECK(athanor_run({"compare", results, "--with", "ideal"}).says("--with changes scenarios, and " + results));
}

TEST_CASE("compare --with an engine that NCCL drives turns its CollNet on") {
  const Folder folder;
  const std::string file = folder.write("nccl.json", R"({
    "name": "nccl", "profile": "nccl-h100-nvswitch",
    "cluster": {"node": "DGX-H100", "nodes": 4, "fabric": {"kind": "rail_optimized", "switch": "QM9700"}},
    "collective": {"kind": "all_reduce", "sizes": ["256MiB"]}})");
  const Ran ran = athanor_run({"compare", file, "--with", "sharp_v3", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["mean_ratios"][1].get<double>() < 0.95);
}

TEST_CASE("compare --with an engine wants cases that NCCL runs all, or none") {
  const Folder folder;
  const std::string file = folder.write("mixed.json", R"({
    "name": "mixed", "cluster": {"node": "DGX-H100", "nodes": 4, "fabric": {"kind": "rail_optimized", "switch": "QM9700"}},
    "collective": {"kind": "all_reduce", "sizes": ["256MiB"]},
    "cases": [{"name": "nccl", "profile": "nccl-h100-nvswitch"}, {"name": "ideal", "profile": "ideal"}]})");
  CHECK(athanor_run({"compare", file, "--with", "sharp_v3"}).says("choose by --case"));
}

}  // namespace

}  // namespace athanor
