#include "tools/cli/read_results.hpp"

#include <doctest/doctest.h>

#include "sim/config/foreign.hpp"

namespace athanor {

namespace {

/// What is wrong with it, "" for nothing.
std::string mistake(const std::string& text) {
  try {
    read_results(text, "r.json");
    return "";
  } catch (const DocumentError& error) { return error.what(); }
}

std::string result_with(const std::string& fields) { return R"({"results": [{"case": "a", )" + fields + "}]}"; }

TEST_CASE("what a text is, is told by its first keys, also where it is damaged behind them") {
  CHECK(result_kind(R"({"results": [[[[)") == ResultKind::results);
  CHECK(result_kind(R"({"by": "case", "alternatives": 5})") == ResultKind::comparison);
  CHECK(result_kind("// a scenario\n{\"cluster\": {\"results\": 1}}") == ResultKind::other_object);
  CHECK(result_kind("[]") == ResultKind::no_object);
  CHECK(result_kind("") == ResultKind::no_object);
}

TEST_CASE("results keep the order of their keys and their parameters") {
  const ResultDocument document =
      read_results(result_with(R"("zeta": 1, "alpha": 2, "parameters": {"z": "1", "a": "2"})"), "r.json");
  REQUIRE(document.records.size() == 1);
  CHECK(document.records[0].members().front().first == "case");
  CHECK(document.records[0]["parameters"].members().front().first == "z");
  CHECK(document.manifest.empty());
}

TEST_CASE("each fact of a result has its type, and a mistake its place") {
  for (const char* good : {R"("time_us": 1.5)", R"("time_us": null)", R"("error": -0.02)",
                           R"("error": {"code": "x", "message": "y", "line": 3})", R"("notes": ["a"])", R"("root": -1)",
                           R"("trace": ["a", "b"])", R"("jobs": [{"time_us": 1}])", R"("seed": 18446744073709551615)",
                           R"("new key of a later version": {"a": [null]})"}) {
    CHECK_MESSAGE(mistake(result_with(good)).empty(), good);
  }
  for (const char* bad : {R"("time_us": [1])", R"("time_us": 1e300)", R"("bytes": -1)", R"("bytes": 1.5)",
                          R"("bytes": 9223372036854775807)", R"("error": {"message": 5})", R"("error": "x")",
                          R"("notes": [1])", R"("notes": "x")", R"("parameters": {"a": 1})", R"("parameters": [])",
                          R"("algorithm": {})", R"("extrapolated": "true")", R"("breakdown": {"a": "b"})",
                          R"("jobs": [{"bytes": "x"}])", R"("my_figure": 1e200)"}) {
    const std::string found = mistake(result_with(bad));
    CHECK_MESSAGE(found.find("r.json:1:") == 0, bad);
    CHECK_MESSAGE(found.find("(at /results/0/") != std::string::npos, bad);
  }
}

TEST_CASE("nesting and numbers of keys have limits") {
  const std::string brackets(200, '[');
  CHECK(mistake(result_with("\"x\": " + brackets)).find("stand within each other") != std::string::npos);
  std::string keys;
  for (int i = 0; i < 5000; ++i) { keys += "\"k" + std::to_string(i) + "\": 1, "; }
  CHECK(mistake(result_with("\"x\": {" + keys + "\"y\": 1}")).find("5001 keys (at /results/0/x)") != std::string::npos);
}

TEST_CASE("a comparison has a row of every kind for each alternative") {
  const std::string head = R"({"by": "case", "figure": "time_us", "against": "", "more_is_better": false,
      "alternatives": ["a", "b"], "base": "a", "mean_ratios": [1, 2], "wins": [1, 0], "extrapolated": [0, 0], "lines": [)";
  const std::string line = R"({"bytes": 8, "values": [1, null], "ratios": [1, null], "algorithms": ["ring", null],)";
  CHECK_NOTHROW(read_comparison(head + line + R"("winners": ["a"]}]})", "c.json"));
  CHECK_THROWS_AS(read_comparison(head + line + R"("winners": "a"}]})", "c.json"), DocumentError);
  CHECK_THROWS_AS(read_comparison(head + R"({"bytes": 8, "values": [1], "ratios": [1, 2], "algorithms": ["", ""],
      "winners": []}]})",
                                  "c.json"),
                  DocumentError);
  CHECK_THROWS_AS(read_comparison(head + "]}", "c.json"), DocumentError);
  std::string old = head + line + R"("winners": ["a"]}]})";
  old.replace(old.find("alternatives"), std::string("alternatives").size(), "contestants");
  CHECK(result_kind(old) == ResultKind::comparison);
  CHECK_THROWS_WITH_AS(read_comparison(old, "c.json"), doctest::Contains("alternatives"), DocumentError);
}

TEST_CASE("a time, a rate or a price below zero is no result") {
  CHECK(mistake(result_with("\"time_us\": -5")).find("below zero") != std::string::npos);
  CHECK(mistake(result_with("\"busbw_gbps\": -0.5")).find("below zero") != std::string::npos);
  CHECK(mistake(result_with("\"time_us\": 5, \"error\": -0.5")).empty());
}

}  // namespace

}  // namespace athanor
