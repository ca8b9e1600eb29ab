#include "sim/config/document.hpp"

#include <cstdio>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/file.hpp"
#include "tests/json_text.hpp"

using namespace athanor;
using nlohmann::json;

namespace {

Problem syntax_problem(const std::string& text) {
  CAPTURE(text);
  try {
    Document::parse(text, "bad.json");
  } catch (const ScenarioError& error) { return error.problems().at(0); }
  FAIL("the text was accepted");
  return {};
}

std::string usage_error(Document document, const std::string& assignment) {
  CAPTURE(assignment);
  try {
    document.set(assignment);
  } catch (const UsageError& error) { return error.what(); }
  FAIL("the assignment was accepted");
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every value and key is found at its line and column, through comments and nesting") {
  const std::string text =
      "{ // \"a\": 1,\n  \"a\": [10, {\"b/c\": true}], /* \"x\": { */\n  \"te~xt\" : \"say \\\"}\\\"\",\n  \"last\": "
      "null }";
  const Document document = Document::parse(text, "f.json");
  const auto at = [&](const std::string& pointer) {
    const SourceLocation place = document.place(pointer);
    CHECK(place.file == "f.json");
    CHECK(place.pointer == pointer);
    return std::pair(place.line, place.column);
  };
  CHECK(at("") == std::pair(1, 1));
  CHECK(at("/a") == std::pair(2, 8));
  CHECK(at("/a/0") == std::pair(2, 9));
  CHECK(at("/a/1") == std::pair(2, 13));
  CHECK(at("/a/1/b~1c") == std::pair(2, 21));
  CHECK(at("/te~0xt") == std::pair(3, 13));
  CHECK(at("/last") == std::pair(4, 11));
  CHECK(document.key_place("/last").column == 3);
  CHECK(document.key_place("/a/1/b~1c").column == 14);
}

TEST_CASE("the place of what is not there is that of the nearest value around it") {
  const Document document = Document::parse("{\n \"a\": {\n \"b\": 1}}", "f.json");
  CHECK(document.place("/a/x/y").line == 2);
  CHECK(document.place("/z").line == 1);
}

TEST_CASE("a syntax error names its place, what was found and what was expected") {
  const Problem missing_comma = syntax_problem("{\"a\": 1\n \"b\": 2}");
  CHECK(missing_comma.code == "syntax");
  CHECK(missing_comma.place.line == 2);
  CHECK(missing_comma.place.column == 2);
  CHECK(holds(missing_comma.message, "found string literal, expected '}'"));
  CHECK(holds(missing_comma.hint, "comma"));
  const Problem trailing = syntax_problem("{\"a\": 1,\n}");
  CHECK(trailing.place.line == 2);
  CHECK(trailing.place.column == 1);
  CHECK(holds(trailing.hint, "remove the comma"));
  const Problem single = syntax_problem("{'a': 1}");
  CHECK(single.place.column == 2);
  CHECK(holds(single.hint, "double quotes"));
  CHECK(syntax_problem("{\"a\": tru}").place.line == 1);
  CHECK(syntax_problem("{\"a\": 1} x").place.line == 1);
}

TEST_CASE("a text cut short anywhere is refused at its end") {
  const std::string whole = "{\"a\": [1, {\"b\": \"c\"}],\n \"d\": true}";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Problem problem = syntax_problem(whole.substr(0, length));
    CAPTURE(length);
    CHECK(problem.code == "syntax");
    CHECK(problem.place.line == (length > whole.find('\n') ? 2 : 1));
    CHECK_FALSE(problem.message.empty());
  }
  CHECK(holds(syntax_problem("{\"a\": ").message, "end of input"));
  CHECK(holds(syntax_problem("{\"a\": ").hint, "ends too early"));
}

TEST_CASE("a key that stands twice in an object is refused, each of its repetitions with its place") {
  try {
    Document::parse("{\"a\": 1, \"b\": {\"a\": 2},\n \"a\": 3}", "f.json");
    FAIL("accepted");
  } catch (const ScenarioError& error) {
    REQUIRE(error.problems().size() == 1);
    CHECK(error.problems()[0].code == "duplicate-key");
    CHECK(error.problems()[0].place.line == 2);
    CHECK(error.problems()[0].place.pointer == "/a");
  }
}

TEST_CASE("a file that is not there is an error of the file") {
  CHECK_THROWS_AS(Document::load(FileReader(), "no/such/file.json"), FileError);
  CHECK_THROWS_AS(Document::load(FileReader(), "."), FileError);
}

TEST_CASE("a value set from the command line is JSON where it can be, else text, and says where it is from") {
  Document document = Document::parse(R"({"a": {"b": 1}, "list": [1, 2]})", "f.json");
  document.set("/a/b=4");
  document.set("/a/new=4us");
  document.set("/a/text=x=y");
  document.set("/list/1={\"c\": [true]}");
  CHECK(tree_of(document.root()) ==
        json_from(R"({"a": {"b": 4, "new": "4us", "text": "x=y"}, "list": [1, {"c": [true]}]})"));
  CHECK(document.place("/a/b").file == "--set");
  CHECK(document.place("/a/b").line == 0);
  CHECK(document.place("/list/1/c/0").file == "--set");
  CHECK(document.place("/list/1/c/0").pointer == "/list/1/c/0");
  CHECK(document.place("/list/0").file == "f.json");
  CHECK(document.place("/a").file == "f.json");
}

TEST_CASE("an assignment makes the objects on its way, and null takes out what is there") {
  Document document = Document::parse(R"({"a": {"b": 1, "c": 2}, "list": [1, 2, 3]})", "f.json");
  document.set("/extra/y/z=4");
  document.set("/a/b=null");
  document.set("/list/1=null");
  document.set("/never/there=null");
  CHECK(tree_of(document.root()) == json_from(R"({"a": {"c": 2}, "list": [1, 3], "extra": {"y": {"z": 4}}})"));
  CHECK(document.place("/extra/y/z").file == "--set");
  document.set("/a=null");
  CHECK_FALSE(document.root().contains("a"));
}

TEST_CASE("an assignment that fits nowhere is a usage error that names the nearest key") {
  const Document document = Document::parse(R"({"collective": {"channels": 1}, "list": [1, 2]})", "f.json");
  CHECK(holds(usage_error(document, "/colective/channels=4"), "did you mean '/collective'"));
  CHECK(holds(usage_error(document, "/colective/channels=null"), "did you mean '/collective'"));
  CHECK(holds(usage_error(document, "/list/2=null"), "a list of 2"));
  CHECK(holds(usage_error(document, "/list/2=4"), "a list of 2"));
  CHECK(holds(usage_error(document, "/list/x=4"), "a list of 2"));
  CHECK(holds(usage_error(document, "/collective/channels/x=4"), "'x'"));
  for (const char* malformed : {"", "=", "/=", "/a", "a=1", "/a~2=1"}) {
    CHECK(holds(usage_error(document, malformed), "--set"));
  }
}

TEST_CASE("a case changes the rest of the document as RFC 7396 says") {
  const Document document = Document::parse(R"({"a": {"b": 1, "c": 2}, "d": [1, 2], "e": 5, "cases": [
    {}, {"a": {"b": null, "x": {"y": null, "z": 1}}, "d": [3], "e": {"f": null, "g": 1}, "new": "n"}]})",
                                            "f.json");
  CHECK(tree_of(document.patched("cases", 0).root()) == json_from(R"({"a": {"b": 1, "c": 2}, "d": [1, 2], "e": 5})"));
  const json base = json_from(R"({"a": {"b": 1, "c": 2}, "d": [1, 2], "e": 5})");
  json expected = base;
  expected.merge_patch(tree_of(document.root())["cases"][1]);
  CHECK(tree_of(document.patched("cases", 1).root()) == expected);
  CHECK_FALSE(expected.contains("cases"));
}

TEST_CASE("values of a case are found where the case was written, all others where they stand") {
  const Document document = Document::parse(
      "{\"a\": {\"b\": 1,\n \"c\": {\"d\": 2}},\n \"cases\": [\n {\"a\": {\"c\": {\"d\": 3}}, \"n\": [7]}]}", "f.json");
  Document patched = document.patched("cases", 0);
  CHECK(patched.place("/a/b").line == 1);
  CHECK(patched.place("/a/c").line == 2);
  CHECK(patched.place("/a/c/d").line == 4);
  CHECK(patched.place("/a/c/d").pointer == "/cases/0/a/c/d");
  CHECK(patched.place("/n/0").pointer == "/cases/0/n/0");
  CHECK(patched.key_place("/n").line == 4);
  patched.set("/n/0=8");
  CHECK(patched.place("/n/0").file == "--set");
}

TEST_CASE("a number that nothing can hold is refused with its place") {
  for (const std::string number : {"1e400", "-1e999"}) {
    try {
      Document::parse("{\n  \"nodes\": " + number + "\n}", "s.json");
      FAIL("read");
    } catch (const ScenarioError& error) {
      const Problem& problem = error.problems().at(0);
      CHECK(problem.code == "out-of-range");
      CHECK(problem.message.find(number) != std::string::npos);
      CHECK(problem.place.line == 2);
    }
  }
}

TEST_CASE("nesting is refused at the bracket that is too deep, however deep the file goes") {
  const auto lists = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  const std::string before = "{ // [[[{\n /* [ */ \"a[\\\"[\": ";
  CHECK_NOTHROW(Document::parse(lists(100), "deep.json"));
  CHECK_NOTHROW(Document::parse(before + lists(99) + "}", "deep.json"));
  for (const std::size_t depth : {std::size_t{100}, std::size_t{50'000}, std::size_t{1'000'000}}) {
    const Problem problem = syntax_problem(before + lists(depth) + "}");
    CHECK(problem.code == "too-deep");
    CHECK(problem.place.line == 2);
    CHECK(problem.place.column == static_cast<int>(before.size() - before.find('\n')) - 1 + 100);
  }
  std::string objects;
  for (int depth = 0; depth < 100'000; ++depth) { objects += "{\"a\":"; }
  CHECK(syntax_problem(objects).code == "too-deep");
}
