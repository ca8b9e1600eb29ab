#include "sim/config/fields.hpp"
#include "topologies/scenario/graph_text.hpp"

namespace athanor {

namespace {

void visit_vertex(Fields& fields, GraphText::Vertex& vertex) {
  fields.required("name", vertex.name, "Its name, used by links and reports");
  Names<VertexKind> kinds = {};
  for (std::uint32_t kind = 0; kind < kVertexKinds; ++kind) {
    kinds.named.push_back({name(static_cast<VertexKind>(kind)), static_cast<VertexKind>(kind)});
  }
  fields.optional("kind", vertex.kind, "Ranks are placed on gpus, or on hosts where there is no gpu", kinds);
  vertex.place = fields.place("name");
}

void visit_link(Fields& fields, GraphText::Link& link) {
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

}  // namespace

void visit(Fields& fields, GraphText& graph) {
  graph.place = fields.place();
  fields.required_list("vertices", graph.vertices, "All devices", visit_vertex);
  fields.optional_list("links", graph.links, "All links, each both ways", visit_link);
}

}  // namespace athanor
