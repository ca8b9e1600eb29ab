#pragma once

#include <concepts>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/library/library.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "tests/test_files.hpp"
#include "tools/import/fabric/import_fabric.hpp"
#include "topologies/scenario/make_cluster.hpp"

namespace athanor::test {

inline const Presets& presets() {
  static const Presets kPresets = *load_presets(FileReader().in(std::string(ATHANOR_TEST_SCENARIOS) + "/presets"));
  return kPresets;
}

struct Import {
  ImportedFabric fabric;
  std::string problems;  ///< one a line; "" for none

  bool says(const std::string& text) const { return problems.find(text) != std::string::npos; }
  bool notes(const std::string& text) const {
    for (const std::string& note : fabric.notes) {
      if (note.find(text) != std::string::npos) { return true; }
    }
    return false;
  }
};

inline Import import_text(const std::string& text, FabricFormat format, const FabricHints& hints = {}) {
  Import result;
  Problems problems;
  try {
    result.fabric = import_fabric(text, "in.txt", format, hints, presets(), problems);
    if (!result.fabric.graph.empty()) {
      result.fabric.cluster = JsonValue{{"graph", json_value_of(result.fabric.graph).value()}};
    }
  } catch (const ScenarioError& error) {
    for (const Problem& problem : error.problems()) { problems.add(problem); }
  }
  for (const Problem& problem : problems.list()) { result.problems += describe(problem) + "\n"; }
  return result;
}

/// What a scenario makes of an imported cluster.
template <std::same_as<JsonValue> Value>
Cluster built(const Value& cluster) {
  const Document document = Document::parse(readable_json(JsonValue{{"cluster", cluster}}), "scenario.json");
  Problems problems;
  ClusterConfig config;
  read_document(document, problems, [&](Fields& fields) {
    fields.required_object("cluster", "", [&](Fields& inner) { visit(inner, config); });
  });
  problems.throw_if_any();
  std::optional<Cluster> made = make_cluster(config, presets(), {}, {}, problems);
  problems.throw_if_any();
  return std::move(*made);
}

inline Cluster built(const nlohmann::ordered_json& cluster) { return built(json_value_of(cluster.dump()).value()); }

inline FabricHints slurm_links() {
  using namespace literals;
  FabricHints hints;
  hints.links.rate = 50_GBps;
  hints.links.latency = Time{300'000};
  return hints;
}

/// The narrowest link of a route between two endpoints.
inline Bandwidth width(const Cluster& cluster, std::size_t from, std::size_t to) {
  std::vector<LinkId> path;
  cluster.router->route({cluster.endpoints[from], cluster.endpoints[to], 0}, path);
  Bandwidth least = Bandwidth::max();
  for (const LinkId link : path) { least = std::min(least, cluster.fabric->link(link).usable); }
  return least;
}

/// The kinds of the devices that a route passes, its ends included.
inline std::vector<VertexKind> passes(const Cluster& cluster, std::size_t from, std::size_t to) {
  std::vector<LinkId> path;
  cluster.router->route({cluster.endpoints[from], cluster.endpoints[to], 0}, path);
  std::vector<VertexKind> kinds{cluster.fabric->vertex(cluster.endpoints[from]).kind};
  for (const LinkId link : path) { kinds.push_back(cluster.fabric->vertex(cluster.fabric->target(link)).kind); }
  return kinds;
}

}  // namespace athanor::test
