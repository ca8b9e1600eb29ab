#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/words.hpp"
#include "tools/list/listings.hpp"
#include "topologies/kinds/catalog.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

std::vector<std::string> routings_of(const Topology& topology) {
  std::vector<std::string> names;
  for (const Routing routing : topology.routings) { names.emplace_back(name(routing)); }
  return names;
}

Json topology_json(const Topology& topology) {
  return {{"name", topology.name},
          {"title", topology.title},
          {"summary", topology.summary},
          {"explanation", topology.explanation},
          {"keys", keys_of(topology)},
          {"routings", routings_of(topology)},
          {"default_routing", routings_of(topology).front()},
          {"symbols", topology.symbols},
          {"endpoints", topology.endpoints},
          {"switches", topology.switches},
          {"cables", topology.cables},
          {"diameter", topology.diameter},
          {"bisection", topology.bisection},
          {"source", topology.source}};
}

std::string details(const Topology& topology) {
  std::string text;
  const auto line = [&](std::string_view title, std::string_view value) {
    if (!value.empty()) { text += fmt::format("    {:<11}{}\n", title, wrapped(value, 15)); }
  };
  line("what", topology.explanation);
  line("keys", fmt::format("{}", joined(keys_of(topology), ", ")));
  line("routings", fmt::format("{}", joined(routings_of(topology), ", ")));
  line("symbols", topology.symbols);
  line("endpoints", topology.endpoints);
  line("switches", topology.switches);
  line("cables", topology.cables);
  line("diameter", topology.diameter);
  line("bisection", topology.bisection);
  line("source", topology.source);
  return text + "\n";
}

}  // namespace

Listing list_topologies(bool verbose) {
  std::vector<Json> rows;
  std::string text = verbose ? "" : "# --verbose: who builds each, its keys, closed forms and source\n";
  text += fmt::format("{:<16}  {:<15}  {}\n", "kind", "routing", "what it is");
  for (const Topology& topology : topologies()) {
    rows.push_back(topology_json(topology));
    text += fmt::format("{:<16}  {:<15}  {}\n", topology.name, routings_of(topology).front(),
                        wrapped(topology.summary, 35));
    if (verbose) { text += details(topology); }
  }
  return {rows, text};
}

}  // namespace athanor
