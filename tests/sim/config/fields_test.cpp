#include "sim/config/fields.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/parse.hpp"
#include "tests/json_text.hpp"

using namespace athanor;
using namespace athanor::literals;
using nlohmann::json;

namespace {

enum class Level { ideal, flow };

struct Link {
  Bandwidth rate;
  Time latency = 500_ns;
};

struct Toy {
  std::uint32_t nodes = 0;
  bool rotate = true;
  std::string name;
  Level level = Level::flow;
  Bytes chunk = 2_MiB;
  Ratio efficiency{1, 1};
  std::optional<std::uint32_t> channels;
  std::vector<Bytes> sizes;
  std::string preset;
  Link link;
  std::vector<Link> more;
  std::uint32_t radix = 0;
  std::vector<std::uint32_t> dimensions;
};

void read_link(Fields& fields, Link& link) {
  fields.required("rate", link.rate, "What one direction carries");
  fields.optional("latency", link.latency, "From end to end", {.most = 1_ms});
}

void read_toy(Fields& fields, Toy& toy) {
  fields.required("nodes", toy.nodes, "Number of nodes", {1, 64});
  fields.optional("name", toy.name, "For reports");
  fields.optional("rotate", toy.rotate, "Rotate the rings");
  fields.optional("level", toy.level, "Detail", {{"ideal", Level::ideal}, {"flow", Level::flow}});
  fields.optional("chunk", toy.chunk, "Size of a chunk", {.least = 1_B});
  fields.optional("efficiency", toy.efficiency, "Of the protocol");
  fields.optional("channels", toy.channels, "Rings side by side", {1, 32});
  fields.optional("sizes", toy.sizes, "Payloads");
  fields.optional_value("link", "A preset or the link itself", [&](FieldValue& value) {
    value.one_of({{FieldValue::Form::Type::string,
                   [&](FieldValue& v) {
                     v.visit(toy.preset, {{"HDR", "NDR"}});
                   }},
                  {FieldValue::Form::Type::object,
                   [&](FieldValue& v) { v.object([&](Fields& inner) { read_link(inner, toy.link); }); }}});
  });
  fields.optional_objects("more", "Further links", [&](Fields& inner) { read_link(inner, toy.more.emplace_back()); });
  fields.choice("kind", "The fabric",
                {{"star", "one switch", [](Fields&) {}},
                 {"fat_tree", "tiers of switches",
                  [&](Fields& kind) { kind.required("radix", toy.radix, "Ports of a switch", {2}); }},
                 {"torus", "a grid that closes on itself",
                  [&](Fields& kind) { kind.required("dimensions", toy.dimensions, "Nodes each way", {1}); }}},
                "star");
}

struct Outcome {
  Toy toy;
  std::vector<Problem> problems;
};

Outcome read(const std::string& text) {
  Outcome outcome;
  Problems problems;
  read_document(Document::parse(text, "toy.json"), problems, [&](Fields& r) { read_toy(r, outcome.toy); });
  outcome.problems = problems.list();
  return outcome;
}

/// The only problem with {"nodes": 1, <field>}.
Problem problem_of(const std::string& field) {
  const Outcome outcome = read("{\"nodes\": 1, " + field + "}");
  CAPTURE(field);
  REQUIRE(outcome.problems.size() == 1);
  return outcome.problems.front();
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

JsonValue toy_schema() {
  Toy toy;
  return describe_schema("Toy", [&](Fields& fields) { read_toy(fields, toy); });
}

}  // namespace

TEST_CASE("what is written is read, and what is not written keeps its default") {
  const Outcome outcome = read(R"({ // a comment
    "nodes": 4, "name": "four", "level": "ideal", "efficiency": 0.95, "sizes": ["8B", "1 GiB"],
    "link": {"rate": "400Gb/s"}, "more": [{"rate": "50GB/s", "latency": "1.5us"}],
    "kind": "torus", "dimensions": [4, 2] })");
  CHECK(outcome.problems.empty());
  const Toy& toy = outcome.toy;
  CHECK(toy.nodes == 4);
  CHECK(toy.rotate);
  CHECK(toy.level == Level::ideal);
  CHECK(toy.chunk == 2_MiB);
  CHECK(toy.efficiency == Ratio{95, 100});
  CHECK_FALSE(toy.channels.has_value());
  CHECK(toy.sizes == std::vector<Bytes>{8_B, 1_GiB});
  CHECK(toy.link.rate == 50_GBps);
  CHECK(toy.link.latency == 500_ns);
  CHECK(toy.more.at(0).latency == 1500_ns);
  CHECK(toy.dimensions == std::vector<std::uint32_t>{4, 2});
}

TEST_CASE("a value may take another form") {
  CHECK(read(R"({"nodes": 1, "link": "NDR"})").toy.preset == "NDR");
  CHECK(problem_of(R"("link": "NDRR")").code == "unknown-name");
  CHECK(holds(problem_of(R"("link": 3)").message, "a string or an object"));
}

TEST_CASE("a count may be written in any spelling of a whole number") {
  for (const std::string spelling : {"12", "12.0", "1.2e1", "120e-1", "0.12E2"}) {
    CAPTURE(spelling);
    const Outcome outcome = read(R"({"nodes": 1, "channels": )" + spelling + "}");
    CHECK(outcome.problems.empty());
    CHECK(outcome.toy.channels == 12);
  }
  CHECK(problem_of(R"("channels": 1e30)").code == "out-of-range");
  CHECK(problem_of(R"("channels": 1.25e1)").code == "wrong-type");
}

TEST_CASE("of a number beyond all bits the most is told, where no limit is, too") {
  Problems problems;
  read_document(Document::parse(R"({"seed": 1e30})", "here"), problems, [](Fields& fields) {
    std::uint64_t seed = 0;
    fields.optional("seed", seed, "Seed");
  });
  REQUIRE(problems.size() == 1);
  CHECK(problems.list()[0].hint == "expected from 0 to 9223372036854775807");
}

TEST_CASE("a bad value is reported with what was found, what is expected, and its place") {
  struct Case {
    std::string field, code, found, expected;
  };
  const std::vector<Case> cases = {
      {R"("chnk": "1MiB")", "unknown-key", "chnk", "'chunk'"},
      {R"("radix": 4)", "unknown-key", "radix", "keys are"},
      {R"("chunk": 4096)", "missing-unit", "4096", "4096B"},
      {R"("chunk": "4096")", "missing-unit", "4096", "4096B"},
      {R"("chunk": "4Mib")", "wrong-unit", "Mib", "4MiB"},
      {R"("chunk": "4us")", "wrong-unit", "us", "KiB"},
      {R"("chunk": true)", "wrong-type", "true", "256MiB"},
      {R"("chunk": "many")", "wrong-type", "many", "256MiB"},
      {R"("chunk": "-1B")", "out-of-range", "-1B", "at least 1 B"},
      {R"("chunk": "0B")", "out-of-range", "0B", "at least 1 B"},
      {R"("chunk": "0.5B")", "out-of-range", "0.5B", "fewer digits"},
      {R"("link": {"rate": "0Gb/s"})", "out-of-range", "0Gb/s", "at least 1 B/s"},
      {R"("link": {"rate": "-5GB/s"})", "out-of-range", "-5GB/s", "at least"},
      {R"("link": {"rate": "400"})", "missing-unit", "400", "400Gb/s"},
      {R"("link": {"rate": "1GB/s", "latency": "2ms"})", "out-of-range", "2ms", "from 0 ps to 1 ms"},
      {R"("link": {})", "missing-key", "rate", "What one direction carries"},
      {R"("channels": 33)", "out-of-range", "33", "from 1 to 32"},
      {R"("channels": 18446744073709551615)", "out-of-range", "18446744073709551615", "from 1 to 32"},
      {R"("channels": 1.5)", "wrong-type", "1.5", ""},
      {R"("channels": "4")", "wrong-type", "\"4\"", ""},
      {R"("efficiency": 1.01)", "out-of-range", "1.01", "from 0 to 1"},
      {R"("efficiency": -0.1)", "out-of-range", "-0.1", "from 0 to 1"},
      {R"("efficiency": "all")", "wrong-type", "all", ""},
      {R"("rotate": 1)", "wrong-type", "1", ""},
      {R"("name": [])", "wrong-type", "a list", ""},
      {R"("name": 2.20)", "wrong-type", "2.2", "quotes"},
      {R"("level": "flwo")", "unknown-name", "flwo", "'flow'"},
      {R"("level": 2)", "wrong-type", "2", ""},
      {R"("sizes": [])", "out-of-range", "0 elements", "at least 1"},
      {R"("sizes": "8B")", "wrong-type", "8B", ""},
      {R"("sizes": ["8B", 8])", "missing-unit", "8", "8B"},
      {R"("more": {})", "wrong-type", "an object", ""},
      {R"("kind": "fattree")", "unknown-name", "fattree", "'fat_tree'"},
      {R"("kind": "fat_tree")", "missing-key", "radix", "Ports"},
      {R"("kind": 1)", "wrong-type", "1", ""},
  };
  for (const Case& bad : cases) {
    const Problem problem = problem_of(bad.field);
    CAPTURE(describe(problem));
    CHECK(problem.code == bad.code);
    CHECK(holds(problem.message, bad.found));
    CHECK(holds(problem.message + problem.hint, bad.expected));
    CHECK(problem.place.file == "toy.json");
    CHECK(problem.place.line == 1);
  }
}

TEST_CASE("all problems of a file are found in one pass and thrown in the order of the file") {
  const std::string text = "{\n  \"kind\": \"star\",\n  \"nodes\": 0,\n  \"chunk\": 5,\n  \"nme\": 1\n}";
  Toy toy;
  Problems problems;
  read_document(Document::parse(text, "toy.json"), problems, [&](Fields& fields) { read_toy(fields, toy); });
  try {
    problems.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const ScenarioError& error) {
    REQUIRE(error.problems().size() == 3);
    CHECK(error.problems()[0].place.pointer == "/nodes");
    CHECK(error.problems()[0].place.line == 3);
    CHECK(error.problems()[0].place.column == 12);
    CHECK(error.problems()[1].place.pointer == "/chunk");
    CHECK(error.problems()[2].place.pointer == "/nme");
    CHECK(error.problems()[2].place.line == 5);
    CHECK(error.problems()[2].place.column == 3);
  }
  CHECK(toy.nodes == 0);
  CHECK(toy.chunk == 2_MiB);
}

TEST_CASE("a root that is no object is refused") {
  REQUIRE(read("[]").problems.size() == 1);
  CHECK(read("[]").problems[0].code == "wrong-type");
}

TEST_CASE("the schema knows types, ranges, units, names, defaults and meanings") {
  const json schema = tree_of(toy_schema());
  CHECK(schema["$schema"] == "http://json-schema.org/draft-07/schema#");
  REQUIRE(schema["anyOf"].size() == 3);
  for (const json& kind : schema["anyOf"]) {
    CHECK(kind["additionalProperties"] == false);
    CHECK(kind["properties"]["nodes"] ==
          json{{"type", "integer"}, {"minimum", 1}, {"maximum", 64}, {"description", "Number of nodes"}});
  }
  const json& star = schema["anyOf"][0];
  CHECK(star["required"] == json{"nodes"});
  CHECK(star["properties"]["level"] ==
        json{{"enum", {"ideal", "flow"}}, {"default", "flow"}, {"description", "Detail"}});
  CHECK(star["properties"]["chunk"]["default"] == "2 MiB");
  CHECK(star["properties"]["chunk"]["description"] == "Size of a chunk (at least 1 B)");
  CHECK(star["properties"]["efficiency"]["maximum"] == 1.0);
  CHECK_FALSE(star["properties"]["channels"].contains("default"));
  CHECK(star["properties"]["sizes"]["items"]["type"] == "string");
  CHECK(star["properties"]["link"]["anyOf"][0]["enum"] == json{"HDR", "NDR"});
  CHECK(star["properties"]["link"]["anyOf"][1]["required"] == json{"rate"});
  CHECK(star["properties"]["more"]["items"]["properties"].contains("latency"));
  const json& torus = schema["anyOf"][2];
  CHECK(torus["properties"]["kind"]["const"] == "torus");
  CHECK(torus["required"] == json{"kind", "dimensions", "nodes"});
}

TEST_CASE("the schema's keys are the keys that are accepted") {
  const json schema = tree_of(toy_schema());
  for (const json& kind : schema["anyOf"]) {
    const std::string name = kind["properties"]["kind"]["const"];
    json everything = {{"surplus", 1}};
    for (const auto& item : kind["properties"].items()) { everything[item.key()] = nullptr; }
    everything["kind"] = name;
    std::vector<std::string> refused;
    for (const Problem& problem : read(text_of(everything)).problems) {
      if (problem.code == "unknown-key") { refused.push_back(problem.place.pointer); }
    }
    CHECK(refused == std::vector<std::string>{"/surplus"});
    for (const json& key : kind["required"]) {
      json without = everything;
      without.erase(key.get<std::string>());
      if (key == "kind") { continue; }
      const std::vector<Problem> problems = read(text_of(without)).problems;
      CHECK(std::any_of(problems.begin(), problems.end(), [](const Problem& p) { return p.code == "missing-key"; }));
    }
  }
}

TEST_CASE("a patch of a document requires nothing and keeps the keys") {
  const json patch = tree_of(patch_schema(toy_schema()));
  for (const json& kind : patch["anyOf"]) {
    CHECK_FALSE(kind.contains("required"));
    CHECK(kind["properties"].contains("nodes"));
    CHECK(kind["properties"]["nodes"]["type"] == json({"integer", "null"}));  // which takes it out
    CHECK(kind["properties"]["level"]["enum"].back().is_null());
  }
}

TEST_CASE("entries take the keys that nobody declared, and elsewhere leaves a key to others") {
  std::vector<std::string> names;
  Time sum;
  std::string title;
  const auto read_costs = [&](Fields& fields) {
    fields.optional("title", title, "For reports");
    fields.elsewhere("cases", "Variants", [] { return JsonValue{{"type", "array"}}; });
    fields.entries("Cost by name", [&](const std::string& key, FieldValue& value) {
      Time cost;
      value.visit(cost);
      sum += cost;
      names.push_back(key);
    });
  };
  Problems problems;
  const std::string text = R"({"title": "t", "cases": [1], "a": "1us", "b": "2us", "c": "3"})";
  read_document(Document::parse(text, "x"), problems, read_costs);
  CHECK(sum == 3_us);
  CHECK(names == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(problems.size() == 1);
  CHECK(problems.list()[0].place.pointer == "/c");
  const json schema = tree_of(describe_schema("Costs", read_costs));
  CHECK(schema["additionalProperties"]["type"] == "string");
  CHECK(schema["properties"]["cases"]["type"] == "array");
}

TEST_CASE("a reading function reports rules between fields at the place of the field") {
  Problems problems;
  const auto read_pair = [](Fields& fields) {
    std::uint32_t ranks = 0;
    std::uint32_t root = 0;
    fields.required("ranks", ranks, "Ranks");
    fields.optional("root", root, "Root");
    if (root >= ranks) { fields.problem("root", "out-of-range", "no such rank", "at most ranks - 1"); }
  };
  read_document(Document::parse("{\"ranks\": 4,\n \"root\": 4}", "x"), problems, read_pair);
  REQUIRE(problems.size() == 1);
  CHECK(problems.list()[0].place.line == 2);
  CHECK(tree_of(describe_schema("Pair", read_pair))["required"] == json{"ranks"});
}

TEST_CASE("the former name of a key is an error where it stands, which names the new one and nothing else") {
  std::uint32_t nodes = 4;
  Problems problems;
  read_document(Document::parse(R"({"hosts": 2})", "here"), problems, [&](Fields& fields) {
    fields.renamed("hosts", "nodes");
    fields.optional("nodes", nodes, "Number of nodes", {1, 64});
  });
  REQUIRE(problems.list().size() == 1);
  CHECK(problems.list()[0].code == "renamed-key");
  CHECK(problems.list()[0].place.pointer == "/hosts");
  CHECK(problems.list()[0].hint.find("\"nodes\"") != std::string::npos);
  CHECK(nodes == 4);
  const json schema = tree_of(describe_schema("x", [&](Fields& fields) { fields.renamed("hosts", "nodes"); }));
  CHECK_FALSE(schema["properties"].contains("hosts"));
}
