#include "tools/list/list_topologies.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/config/text.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/list/wrapped_text.hpp"
#include "topologies/kinds/catalog.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

Json topology_json(const Topology& topology) {
  Json routings = Json::array();
  for (const Routing routing : topology.routings) { routings.push_back(name(routing)); }
  return {{"name", topology.name},           {"title", topology.title},
          {"summary", topology.summary},     {"explanation", topology.explanation},
          {"keys", keys_of(topology)},       {"routings", routings},
          {"default_routing", routings[0]},  {"symbols", topology.symbols},
          {"endpoints", topology.endpoints}, {"switches", topology.switches},
          {"cables", topology.cables},       {"diameter", topology.diameter},
          {"bisection", topology.bisection}, {"source", topology.source}};
}

std::string details(const Json& topology) {
  std::string text;
  const auto line = [&](std::string_view title, const std::string& value) {
    if (!value.empty()) { text += fmt::format("    {:<11}{}\n", title, wrapped(value, 15)); }
  };
  line("what", topology["explanation"]);
  line("keys", fmt::format("{}", fmt::join(topology["keys"].get<std::vector<std::string>>(), ", ")));
  line("routings", fmt::format("{}", fmt::join(topology["routings"].get<std::vector<std::string>>(), ", ")));
  for (const char* key : {"symbols", "endpoints", "switches", "cables", "diameter", "bisection", "source"}) {
    line(key, topology[key]);
  }
  return text + "\n";
}

std::string table(const std::vector<Json>& topologies, bool verbose) {
  std::string text = verbose ? "" : "# --verbose: who builds each, its keys, closed forms and source\n";
  text += fmt::format("{:<16}  {:<15}  {}\n", "kind", "routing", "what it is");
  for (const Json& topology : topologies) {
    text += fmt::format("{:<16}  {:<15}  {}\n", topology["name"].get<std::string>(),
                        topology["default_routing"].get<std::string>(),
                        wrapped(topology["summary"].get<std::string>(), 35));
    if (verbose) { text += details(topology); }
  }
  return text;
}

}  // namespace

ExitCode list_topologies(const Invocation& invocation, const Streams& streams) {
  std::vector<Json> rows;
  for (const Topology& topology : topologies()) { rows.push_back(topology_json(topology)); }
  if (invocation.has("json")) {
    write_json(invocation, streams, text_of(Json{{"results", rows}}, 2));
  } else {
    streams.out(table(rows, invocation.verbose));
  }
  return ExitCode::ok;
}

}  // namespace athanor
