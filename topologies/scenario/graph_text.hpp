#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// {"rate": "400Gb/s", "latency": "500ns", "efficiency": 0.97} of the network.
struct NetworkLinkText {
  Bandwidth rate;
  Time latency;
  Ratio efficiency{1, 1};
};

/// Devices and links written out: a whole cluster, or the inside of a node.
struct GraphText {
  struct Vertex {
    std::string name;
    VertexKind kind = VertexKind::custom;
    Place place;
  };
  struct Link {
    std::vector<std::string> between;
    Bandwidth rate;
    std::optional<Bandwidth> usable;
    Time latency;
    LinkKind kind = LinkKind::network;
    Place place;
  };
  std::vector<Vertex> vertices;
  std::vector<Link> links;
  Place place;
};

}  // namespace athanor
