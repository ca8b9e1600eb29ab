#include "sim/config/object_reader.hpp"
#include "topologies/scenario/graph_text.hpp"

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

void read_link(ObjectReader& reader, GraphText::Link& link) {
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

void read(ObjectReader& reader, GraphText& graph) {
  graph.place = reader.describing() ? Place{} : reader.place();
  reader.required_objects("vertices", "All devices", [&](ObjectReader& fields) {
    GraphText::Vertex vertex;
    read_vertex(fields, vertex);
    graph.vertices.push_back(std::move(vertex));
  });
  reader.optional_objects("links", "All links, each both ways", [&](ObjectReader& fields) {
    GraphText::Link link;
    read_link(fields, link);
    graph.links.push_back(std::move(link));
  });
}

}  // namespace athanor
