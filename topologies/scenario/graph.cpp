#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "topologies/scenario/graph_config.hpp"
#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

void visit_vertex(Fields& fields, GraphConfig::Vertex& vertex) {
  fields.required("name", vertex.name, "Its name, used by links and reports");
  Names<VertexKind> kinds = {};
  for (std::uint32_t kind = 0; kind < kVertexKinds; ++kind) {
    if (static_cast<VertexKind>(kind) == VertexKind::process) { continue; }  // a host of a graph takes ranks
    kinds.named.push_back({name(static_cast<VertexKind>(kind)), static_cast<VertexKind>(kind)});
  }
  fields.optional("kind", vertex.kind, "Ranks are placed on gpus, or on hosts where there is no gpu", kinds);
  vertex.place = fields.place("name");
}

void visit_link(Fields& fields, GraphConfig::Link& link) {
  fields.required("between", link.between, "The names of the two vertices");
  fields.required("rate", link.rate, "Line rate, each direction");
  fields.optional("usable", link.usable, "Payload rate; default: the line rate");
  fields.optional("latency", link.latency, "From end to end");
  Names<LinkKind> kinds = {};
  for (std::uint32_t kind = 0; kind < kLinkKinds; ++kind) {
    kinds.named.push_back({name(static_cast<LinkKind>(kind)), static_cast<LinkKind>(kind)});
  }
  fields.optional("kind", link.kind, "What it is", kinds);
  link.place = fields.place("between");
  if (link.usable.value_or(link.rate) > link.rate) {
    fields.problem("usable", "out-of-range", "the usable rate is above the line rate");
  }
}

std::optional<std::uint32_t> vertex_of(const std::map<std::string, std::uint32_t>& numbers, const std::string& name,
                                       const SourceLocation& place, Problems& problems) {
  const auto found = numbers.find(name);
  if (found != numbers.end()) { return found->second; }
  std::vector<std::string> names;
  for (const auto& [known, number] : numbers) { names.push_back(known); }
  const std::string close = nearest(name, names);
  problems.add({"unknown-vertex", fmt::format("a link names \"{}\", which is no vertex", name), place,
                close.empty() ? "add it to \"vertices\"" : fmt::format("did you mean \"{}\"?", close)});
  return std::nullopt;
}

void add_link(const GraphConfig::Link& link, const std::map<std::string, std::uint32_t>& numbers, ExplicitGraph& graph,
              Problems& problems) {
  if (link.between.size() != 2 || link.between[0] == link.between[1]) {
    problems.add({"link-ends", "a link is between two different vertices", link.place, R"("between": ["a", "b"])"});
    return;
  }
  const auto a = vertex_of(numbers, link.between[0], link.place, problems);
  const auto b = vertex_of(numbers, link.between[1], link.place, problems);
  if (!a || !b) { return; }
  graph.cables.push_back({*a, *b, {link.rate, link.usable.value_or(link.rate), link.latency, link.kind}});
}

}  // namespace

void visit(Fields& fields, GraphConfig& graph) {
  graph.place = fields.place();
  fields.required_list("vertices", graph.vertices, "All devices", visit_vertex);
  fields.optional_list("links", graph.links, "All links, each both ways", visit_link);
}

std::optional<ExplicitGraph> make_explicit_graph(const GraphConfig& config, Problems& problems) {
  const std::size_t before = problems.size();
  ExplicitGraph graph;
  std::map<std::string, std::uint32_t> numbers;
  for (const GraphConfig::Vertex& vertex : config.vertices) {
    if (!numbers.emplace(vertex.name, static_cast<std::uint32_t>(graph.devices.size())).second) {
      problems.add({"duplicate-name", fmt::format("two vertices are called \"{}\"", vertex.name), vertex.place,
                    "give each a name of its own"});
    }
    graph.devices.push_back({vertex.name, vertex.kind});
  }
  for (const GraphConfig::Link& link : config.links) { add_link(link, numbers, graph, problems); }
  if (problems.size() > before) { return std::nullopt; }
  return graph;
}

std::optional<NodeGraph> make_node_graph(const GraphConfig& config, Problems& problems) {
  const std::optional<ExplicitGraph> graph = make_explicit_graph(config, problems);
  if (!graph) { return std::nullopt; }
  std::vector<std::uint32_t> order(graph->devices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](std::uint32_t device) {
    const VertexKind kind = graph->devices[device].kind;
    return kind == VertexKind::gpu ? 0 : kind == VertexKind::nic ? 2 : 1;
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return place(a) < place(b); });
  NodeGraph node;
  std::vector<std::uint32_t> number(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    number[order[i]] = i;
    node.devices.push_back(graph->devices[order[i]].kind);
  }
  for (const ExplicitGraph::Cable& cable : graph->cables) {
    node.cables.push_back({number[cable.a], number[cable.b], cable.link});
  }
  return node;
}

}  // namespace athanor
