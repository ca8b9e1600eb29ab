#include <charconv>

#include <fmt/core.h>

#include "models/traces/chakra/node.hpp"
#include "sim/config/json_parser.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

[[noreturn]] void fail(const ByteSource& source, std::string what, std::string pointer) {
  throw ScenarioError(Problem{"wrong-type", std::move(what), {source.path(), 0, 0, std::move(pointer)}, ""});
}

/// Of a number that may have a fraction; none where it is beyond 64 bits.
std::optional<std::int64_t> whole(double number) {
  constexpr double kEnd = 9.2e18;
  if (!(number > -kEnd && number < kEnd)) { return std::nullopt; }
  return static_cast<std::int64_t>(number);
}

/// Writers put numbers, booleans and texts of numbers.
std::optional<std::int64_t> whole(const JsonValue& value) {
  if (value.is_boolean()) { return value.boolean() ? 1 : 0; }
  if (value.is_floating()) { return whole(value.number()); }
  if (value.is_number()) { return value.whole(); }
  if (!value.is_string()) { return std::nullopt; }
  const auto& text = value.string();
  if (text == "true" || text == "True") { return 1; }
  if (text == "false" || text == "False") { return 0; }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all ? std::optional(number) : std::nullopt;
}

ChakraNode node_of(const ByteSource& source, const JsonValue& json, const std::string& pointer) {
  ChakraNode node;
  if (!json.is_object()) { fail(source, "a node is an object", pointer); }
  const auto number = [&](const char* key) -> std::int64_t {
    const JsonValue* found = json.find(key);
    if (found == nullptr) { fail(source, std::string("a node needs the key '") + key + "'", pointer); }
    const auto value = whole(*found);
    if (!value) { fail(source, "a whole number is expected", pointer + "/" + key); }
    return *value;
  };
  node.id = static_cast<std::uint64_t>(number("Id"));
  node.name = json.string_at("Name");
  const std::int64_t type = number("NodeType");
  if (type < 0 || type > UINT32_MAX) { fail(source, fmt::format("there is no type {}", type), pointer + "/NodeType"); }
  node.type = static_cast<std::uint32_t>(type);
  if (json.contains("runtime")) {
    const std::int64_t runtime = number("runtime");
    if (runtime < 0) { fail(source, fmt::format("a node cannot last {} us", runtime), pointer + "/runtime"); }
    node.duration_us = static_cast<std::uint64_t>(runtime);
  }
  for (const char* key : {"data_deps", "ctrl_deps"}) {
    if (!json.contains(key)) { continue; }
    if (!json[key].is_list()) { fail(source, "a list of ids is expected", pointer + "/" + key); }
    for (const JsonValue& id : json[key].elements()) {
      const auto value = whole(id);
      if (!value) { fail(source, "an id is a whole number", pointer + "/" + key); }
      node.waits_for.push_back(static_cast<std::uint64_t>(*value));
    }
  }
  for (const auto& [key, value] : json.members()) {
    if (key == "pg_name") {
      node.group = value.is_string() ? value.string() : text_of(value);
    } else if (key == "inputs") {
      node.inputs = value.is_string() ? value.string() : text_of(value);
    } else if (const auto meant = whole(value)) {
      node.set(key, *meant);
    }
  }
  return node;
}

}  // namespace

void read_chakra_json(ByteSource& source, const TakeChakraNode& take) {
  const JsonValue json = parse_json(source.rest(), source.path());
  if (!json.contains("workload_graph") || !json["workload_graph"].is_list()) {
    fail(source, "the JSON form of a Chakra trace is an object with a list 'workload_graph'", "");
  }
  std::size_t index = 0;
  for (const JsonValue& each : json["workload_graph"].elements()) {
    ChakraNode node = node_of(source, each, "/workload_graph/" + std::to_string(index++));
    take(node);
  }
}

}  // namespace athanor
