#pragma once

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "topologies/scenario/make_cluster.hpp"

/// Clusters as scenarios write them, with what is wrong with them.
namespace athanor::test {

inline const Presets& presets() {
  static const Presets loaded = *load_presets(FileReader().in("scenarios/presets"));
  return loaded;
}

struct Outcome {
  std::optional<Cluster> cluster;
  Problems problems;
};

inline Outcome cluster_of(const std::string& text) {
  Outcome outcome;
  const Document document = Document::parse(text, "test.json");
  ClusterConfig cluster;
  RoutingRequest routing;
  SourceLocation routing_place;
  read_document(document, outcome.problems, [&](Fields& root) {
    root.required_object("cluster", "", [&](Fields& fields) { visit(fields, cluster); });
    root.optional("routing", routing.routing, "", routing_names());
    root.optional("pxn", routing.pxn, "");
    root.optional("fabric", routing.fabric, "");
    routing_place = root.place("routing");
  });
  if (outcome.problems.empty()) {
    outcome.cluster = make_cluster(cluster, presets(), routing, {routing_place, {}}, outcome.problems);
  }
  return outcome;
}

inline Cluster good(const std::string& text) {
  Outcome outcome = cluster_of(text);
  for (const Problem& problem : outcome.problems.list()) { FAIL_CHECK(describe(problem)); }
  REQUIRE(outcome.cluster);
  return std::move(*outcome.cluster);
}

/// The problems, each as "code@line: message; hint".
inline std::string bad(const std::string& text) {
  const Outcome outcome = cluster_of(text);
  CHECK_FALSE(outcome.cluster.has_value());
  std::string all;
  for (const Problem& problem : outcome.problems.list()) {
    all +=
        problem.code + "@" + std::to_string(problem.place.line) + ": " + problem.message + "; " + problem.hint + "\n";
  }
  return all;
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace athanor::test
