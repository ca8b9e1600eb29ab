#include "sim/config/fields.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/config/text.hpp"
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

json toy_schema() {
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
  const json schema = toy_schema();
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
  const json schema = toy_schema();
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
  const json patch = patch_schema(toy_schema());
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
    fields.elsewhere("cases", "Variants", [] { return json{{"type", "array"}}; });
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
  const json schema = describe_schema("Costs", read_costs);
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
  CHECK(describe_schema("Pair", read_pair)["required"] == json{"ranks"});
}

namespace {

/// As athanor's own settings are: each with a visit.
struct Buffer {
  Bytes size = 1_MiB;
  Bytes reserve = 1_MiB;  ///< as `size` where it is not said
};
void visit(Fields& fields, Buffer& buffer) {
  fields.optional("size", buffer.size, "Of all ports");
  fields.optional_or("reserve", buffer.reserve, buffer.size, "Of it");
}

struct Version {
  int number = 1;
};

struct Machine {
  std::string name;
  Bandwidth rate;
  Time latency = 500_ns;
  Bandwidth limit = Bandwidth::max();
  std::optional<std::uint32_t> channels;
  std::vector<std::uint32_t> sides;
  Level level = Level::flow;
  Ratio efficiency{1, 1};
  Version version;
  Buffer buffer;
  std::optional<Buffer> second;
  std::vector<Buffer> more;
  bool grid = false;
  std::uint32_t radix = 4;
};
void visit(Fields& fields, Machine& machine) {
  fields.required("name", machine.name, "For reports");
  fields.required("rate", machine.rate, "Of a port");
  fields.optional("latency", machine.latency, "Of a port");
  fields.optional("limit", machine.limit, "Of a flow");
  fields.optional("channels", machine.channels, "Side by side", {1, 32});
  fields.optional("sides", machine.sides, "Of a grid", {1});
  fields.optional("level", machine.level, "Detail", {{"ideal", Level::ideal}, {"flow", Level::flow}});
  fields.optional("efficiency", machine.efficiency, "Of a port");
  fields.optional_value("version", "As \"v1\"", [&](FieldValue& value) {
    const auto parse = [](const std::string& text) -> Parsed<Version> {
      if (text.starts_with("v")) { return {Version{std::stoi(text.substr(1))}, {}}; }
      return {std::nullopt, {"wrong-version", "no version", "write v1"}};
    };
    value.text(machine.version, parse, [](Version version) { return "v" + std::to_string(version.number); });
  });
  fields.optional_object("buffer", machine.buffer, "Of a switch");
  fields.optional_object("second", machine.second, "Another one");
  fields.optional_list("more", machine.more, "Still others");
  fields.choice("kind", "The fabric",
                {{"star", "one switch", [&](Fields&) { machine.grid = false; }, !machine.grid},
                 {"grid", "neighbours",
                  [&](Fields& grid) {
                    machine.grid = true;
                    grid.optional("radix", machine.radix, "Ports", {2});
                  },
                  machine.grid}},
                "star");
}

Machine machine_of(const std::string& text) {
  Machine machine;
  Problems problems;
  read_document(Document::parse(text, "m.json"), problems, [&](Fields& fields) { visit(fields, machine); });
  problems.throw_if_any();
  return machine;
}

/// Every field differs from its default.
Machine unusual_machine() {
  Machine machine{.name = "m", .rate = 400_Gbps, .latency = Time{1'500'001}, .limit = 10_GBps, .channels = 3};
  machine.sides = {4, 2};
  machine.level = Level::ideal;
  machine.efficiency = {97, 100};
  machine.version = {7};
  machine.buffer = {2_MiB, 1_MiB};
  machine.second = Buffer{3_MiB, 3_MiB};
  machine.more = {Buffer{1_MiB, 1_MiB}, Buffer{5_B, 4_B}};
  machine.grid = true;
  machine.radix = 8;
  return machine;
}

}  // namespace

TEST_CASE("what is written reads back to the same settings, whether complete or brief") {
  for (const Machine& machine : {unusual_machine(), Machine{.name = "plain", .rate = 1_GBps}}) {
    for (const Detail detail : {Detail::complete, Detail::brief}) {
      const std::string text = text_of(json_of(machine, detail));
      CAPTURE(text);
      const Machine read = machine_of(text);
      CHECK(text_of(json_of(read, detail)) == text);
      CHECK(text_of(json_of(read, Detail::complete)) == text_of(json_of(machine, Detail::complete)));
    }
  }
}

TEST_CASE("a field is written in the form in which people write it") {
  const JsonValue json = json_of(unusual_machine());
  CHECK(json["rate"] == JsonValue("50GB/s"));
  CHECK(json["latency"] == JsonValue("1.500001us"));
  CHECK(json["channels"] == JsonValue(3));
  CHECK(json["level"] == JsonValue("ideal"));
  CHECK(json["efficiency"] == JsonValue(0.97));
  CHECK(json["version"] == JsonValue("v7"));
  CHECK(json["kind"] == JsonValue("grid"));
  CHECK(json["buffer"] == JsonValue{{"size", "2MiB"}, {"reserve", "1MiB"}});
  CHECK(json["more"].elements().at(0) == JsonValue::object());
}

TEST_CASE("in brief only what differs from its default is written, and what must be there") {
  CHECK(text_of(json_of(Machine{.name = "", .rate = 1_GBps})) == R"({"name":"","rate":"1GB/s"})");
}

TEST_CASE("what only absence says is never written") {
  const JsonValue json = json_of(Machine{.name = "m", .rate = 1_GBps}, Detail::complete);
  for (const char* key : {"channels", "sides", "second", "more"}) { CHECK_FALSE(json.contains(key)); }
  CHECK(json.contains("latency"));
}

TEST_CASE("a resolved document has the defaults of what it leaves out, and is its own resolved form") {
  const auto resolved = [](const std::string& text) {
    Machine machine;
    Problems problems;
    JsonValue json =
        resolved_document(Document::parse(text, "m.json"), problems, [&](Fields& fields) { visit(fields, machine); });
    CHECK(problems.empty());
    return json;
  };
  const JsonValue json =
      resolved(R"({"name": "m", "rate": "0.1 TB/s", "second": {"size": "1024 KiB"}, "version": "v3"})");
  CHECK(json["rate"] == JsonValue("100GB/s"));
  CHECK(json["latency"] == JsonValue("500ns"));
  CHECK(json["kind"] == JsonValue("star"));
  CHECK(json["version"] == JsonValue("v3"));
  CHECK(json["buffer"] == JsonValue{{"size", "1MiB"}});
  CHECK(json["second"] == JsonValue{{"size", "1MiB"}});
  CHECK_FALSE(json.contains("channels"));
  CHECK(text_of(resolved(text_of(json))) == text_of(json));
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
  const json schema = describe_schema("x", [&](Fields& fields) { fields.renamed("hosts", "nodes"); });
  CHECK_FALSE(schema["properties"].contains("hosts"));
}
