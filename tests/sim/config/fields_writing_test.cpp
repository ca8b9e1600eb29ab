#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/config/fields.hpp"
#include "sim/parse.hpp"
#include "tests/json_text.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

enum class Level { ideal, flow };

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
  std::string name = {};
  Bandwidth rate = {};
  Time latency = 500_ns;
  Bandwidth limit = Bandwidth::max();
  std::optional<std::uint32_t> channels = {};
  std::vector<std::uint32_t> sides = {};
  Level level = Level::flow;
  Ratio efficiency{1, 1};
  Version version = {};
  Buffer buffer = {};
  std::optional<Buffer> second = {};
  std::vector<Buffer> more = {};
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
