#include "tools/import/fabric/draft.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "tools/import/imported_rows.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// Numbers of the devices that the first one reaches.
std::vector<bool> reached_from_first(const FabricDraft& draft) {
  std::vector<std::vector<std::uint32_t>> neighbours(draft.devices().size());
  for (const FabricDraft::Cable& cable : draft.cables()) {
    neighbours[cable.a].push_back(cable.b);
    neighbours[cable.b].push_back(cable.a);
  }
  std::vector<bool> reached(draft.devices().size(), false);
  std::vector<std::uint32_t> waiting{0};
  reached[0] = true;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    for (const std::uint32_t next : neighbours[waiting[i]]) {
      if (reached[next]) { continue; }
      reached[next] = true;
      waiting.push_back(next);
    }
  }
  return reached;
}

/// Other programs' names need not be UTF-8.
std::string in_one_line(const Json& json) { return text_of(json); }

bool is_structured(const Json& json) { return json.is_object() || json.is_list(); }

void append(const Json& json, std::size_t depth, std::string& text) {
  const std::string indent(depth * 2, ' ');
  const bool listed = json.is_list() && !json.empty() && is_structured(json.elements().front());
  if ((!json.is_object() && !listed) || json.empty()) {
    text += in_one_line(json);
    return;
  }
  text += listed ? "[\n" : "{\n";
  std::size_t left = json.size();
  const auto end_line = [&] { text += --left > 0 ? ",\n" : "\n"; };
  if (listed) {
    for (const Json& element : json.elements()) {
      text += indent + "  " + in_one_line(element);
      end_line();
    }
  } else {
    for (const auto& [key, value] : json.members()) {
      text += indent + "  " + in_one_line(key) + ": ";
      append(value, depth + 1, text);
      end_line();
    }
  }
  text += indent + (listed ? "]" : "}");
}

/// Most names need no escapes.
void append_quoted(const std::string& name, std::string& text) {
  const bool plain =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; });
  text += plain ? '"' + name + '"' : in_one_line(name);
}

Json link_figures(const Link& link) {
  Json json{{"rate", written(link.rate)}};
  if (link.usable != link.rate) { json["usable"] = written(link.usable); }
  json["latency"] = written(link.latency);
  if (link.kind != LinkKind::network) { json["kind"] = name(link.kind); }
  return json;
}

/// Without the braces.
std::string figures_of(const Link& link) {
  const std::string object = in_one_line(link_figures(link));
  return object.substr(1, object.size() - 2);
}

/// About so many, and room for what stands around: growing by doubling would need twice as much.
std::size_t text_bytes(const FabricDraft& draft, std::size_t depth) {
  constexpr std::size_t kBesideNames = 100;
  std::size_t bytes = 1U << 16U;
  for (const FabricDraft::Device& device : draft.devices()) { bytes += device.name.size() + 40 + 2 * depth; }
  for (const FabricDraft::Cable& cable : draft.cables()) {
    bytes += draft.devices()[cable.a].name.size() + draft.devices()[cable.b].name.size() + kBesideNames + 2 * depth;
  }
  return bytes;
}

bool same_figures(const Link& a, const Link& b) {
  return a.rate == b.rate && a.usable == b.usable && a.latency == b.latency && a.kind == b.kind;
}

}  // namespace

std::uint32_t FabricDraft::add(std::string name, VertexKind kind, int line) {
  const auto number = static_cast<std::uint32_t>(devices_.size());
  const auto [known, is_new] = numbers_.emplace(name, number);
  if (!is_new) {
    problem(line, "duplicate-device",
            fmt::format("{} comes a second time; it is on line {} already", name, devices_[known->second].line),
            "take one of them out");
    return known->second;
  }
  devices_.push_back({std::move(name), kind, line});
  return number;
}

std::optional<std::uint32_t> FabricDraft::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void FabricDraft::note(std::string text) { notes_.push_back(std::move(text)); }

void FabricDraft::problem(int line, std::string code, std::string message, std::string hint) {
  ++told_;
  if (told_ > ImportedRows::kMostProblems + 1) { return; }
  if (told_ == ImportedRows::kMostProblems + 1) {
    problems_.add({"more-problems", "there are more problems from here on", {file_, line, 1, ""}, ""});
    return;
  }
  problems_.add({std::move(code), std::move(message), {file_, line, 1, ""}, std::move(hint)});
}

void FabricDraft::check_connected(const std::string& hint) {
  if (devices_.empty()) { return; }
  const std::vector<bool> reached = reached_from_first(*this);
  const auto lost = std::find(reached.begin(), reached.end(), false);
  if (lost == reached.end()) { return; }
  const Device& device = devices_[static_cast<std::size_t>(lost - reached.begin())];
  problem(device.line, "not-connected",
          fmt::format("nothing joins {} to {}: {} of {} devices are on another island", devices_[0].name, device.name,
                      std::count(reached.begin(), reached.end(), false), devices_.size()),
          hint);
}

std::string graph_text(const FabricDraft& draft, std::size_t depth) {
  const std::string indent(depth * 2, ' ');
  std::string text;
  text.reserve(text_bytes(draft, depth));
  text += "{\n" + indent + "  \"vertices\": [";
  bool first = true;
  const auto begin_line = [&] {
    text += first ? "\n" : ",\n";
    text += indent + "    ";
    first = false;
  };
  for (const FabricDraft::Device& device : draft.devices()) {
    begin_line();
    text += "{\"name\":";
    append_quoted(device.name, text);
    fmt::format_to(std::back_inserter(text), ",\"kind\":\"{}\"}}", name(device.kind));
  }
  text += "\n" + indent + "  ],\n" + indent + "  \"links\": [";
  first = true;
  const Link* before = nullptr;
  std::string figures;  // of the link before: most are alike
  for (const FabricDraft::Cable& cable : draft.cables()) {
    begin_line();
    if (before == nullptr || !same_figures(*before, cable.link)) { figures = figures_of(cable.link); }
    before = &cable.link;
    text += "{\"between\":[";
    append_quoted(draft.devices()[cable.a].name, text);
    text += ',';
    append_quoted(draft.devices()[cable.b].name, text);
    text += "]," + figures + "}";
  }
  return text + (first ? "]\n" : "\n" + indent + "  ]\n") + indent + "}";
}

std::string readable_json(const Json& json) {
  std::string text;
  append(json, 0, text);
  return text + "\n";
}

}  // namespace athanor
