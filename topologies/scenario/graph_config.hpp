#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "sim/units.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

class Fields;

/// Devices and links written out: a whole cluster, or the inside of a node.
struct GraphConfig {
  struct Vertex {
    std::string name;
    VertexKind kind = VertexKind::custom;
    SourceLocation place;
  };
  struct Link {
    std::vector<std::string> between;
    Bandwidth rate;
    std::optional<Bandwidth> usable;
    Time latency;
    LinkKind kind = LinkKind::network;
    SourceLocation place;
  };
  std::vector<Vertex> vertices;
  std::vector<Link> links;
  SourceLocation place;
};
/// "vertices" and "links".
void visit(Fields& fields, GraphConfig& graph);

}  // namespace athanor
