#include <fmt/core.h>

#include "topologies/scenario/read_text.hpp"

namespace athanor {

namespace {

void read_vertex(ObjectReader& reader, GraphText::Vertex& vertex) {
  reader.required("name", vertex.name, "Its name, used by links and reports");
  Names<VertexKind> kinds = {};
  for (std::uint32_t kind = 0; kind < kVertexKinds; ++kind) {
    kinds.named.push_back({name(static_cast<VertexKind>(kind)), static_cast<VertexKind>(kind)});
  }
  reader.optional("kind", vertex.kind, "Ranks are placed on gpus, or on hosts where there is no gpu", kinds);
  if (!reader.describing()) { vertex.place = reader.place("name"); }
}

void read_graph_link(ObjectReader& reader, GraphText::Link& link) {
  reader.required("between", link.between, "The names of the two vertices");
  reader.required("rate", link.rate, "Line rate, each direction");
  reader.optional("usable", link.usable, "Payload rate; default: the line rate");
  reader.optional("latency", link.latency, "From end to end");
  Names<LinkKind> kinds = {};
  for (std::uint32_t kind = 0; kind < kLinkKinds; ++kind) {
    kinds.named.push_back({name(static_cast<LinkKind>(kind)), static_cast<LinkKind>(kind)});
  }
  reader.optional("kind", link.kind, "What it is", kinds);
  if (reader.describing()) { return; }
  link.place = reader.place("between");
  if (link.usable.value_or(link.rate) > link.rate) {
    reader.problem("usable", "out-of-range", "the usable rate is above the line rate");
  }
}

}  // namespace

void read_graph(ObjectReader& reader, GraphText& graph) {
  graph.place = reader.describing() ? Place{} : reader.place();
  reader.required_objects("vertices", "All devices", [&](ObjectReader& fields) {
    GraphText::Vertex vertex;
    read_vertex(fields, vertex);
    graph.vertices.push_back(std::move(vertex));
  });
  reader.optional_objects("links", "All links, each both ways", [&](ObjectReader& fields) {
    GraphText::Link link;
    read_graph_link(fields, link);
    graph.links.push_back(std::move(link));
  });
}

void read_node_graph(ObjectReader& reader, NodeText& node) {
  reader.optional("name", node.name, "As reports call the node; default: its preset");
  reader.optional_object("graph", "All devices inside and their links, in place of all keys that describe them",
                         [&](ObjectReader& fields) {
                           GraphText graph;
                           read_graph(fields, graph);
                           if (!fields.describing()) { node.graph = std::move(graph); }
                         });
  reader.optional_object("port", "Of every NIC of a \"graph\", to the network; or name a preset by \"nic\"",
                         [&](ObjectReader& fields) {
                           NetworkLinkText port;
                           read_network_link(fields, port);
                           if (!fields.describing()) { node.port = port; }
                         });
  if (reader.describing()) { return; }
  for (const char* key : {"preset", "gpu", "gpus", "scale_up", "sockets", "socket_link", "pcie_link", "c2c_link",
                          "memory_link", "pcie", "nics"}) {
    if (!node.graph || !reader.has(key)) { continue; }
    reader.problem(key, "conflict", "a node that is written out as a \"graph\" has all devices and links in it",
                   fmt::format("leave out \"{}\"", key));
  }
  if (node.port && !node.graph) {
    reader.problem("port", "conflict", "\"port\" belongs to a \"graph\"", "name a NIC preset by \"nic\"");
  }
  if (node.port && reader.has("nic")) {
    reader.problem("port", "conflict", "\"port\" and \"nic\" say the same", "leave out one of them");
  }
}

}  // namespace athanor
