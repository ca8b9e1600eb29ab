#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/ratio.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

// What is known of how a fabric is made.

/// Vertices on one side of a cut that the structure of a fabric suggests (natural_cuts).
struct CutSet {
  std::string name;                 ///< "node 3", "leaf 0", "half"
  std::vector<VertexRange> inside;  ///< the vertices on this side
  bool half = false;                ///< splits the whole in two: what bisection is measured on
};

/// One layer of switches of a network.
struct TierSummary {
  std::string name;  ///< "leaf", "spine", "core"
  std::uint32_t switches = 0;
  Ratio oversubscription{
      1, 1};  ///< line rate towards endpoints / line rate upwards, of a fully used switch; 0 / 1 at the top
};

/// Where a picture puts the switches of a fabric, or its positions where they forward themselves, in the order of their
/// vertices. Layouts, each with the sizes that it takes:
///  - layers: by the number of cables to the nearest endpoint; no sizes;
///  - grid: positions in each dimension, neighbours joined. Closed: a single dimension is a ring;
///  - box: switches along each dimension, all along one joined; a single dimension is a ring;
///  - groups: groups and switches of each, as rings on a ring; or groups, leaves and spines of each, as arcs, the
///  leaves
///    of all groups before the spines;
///  - sheets: rows of sheets, sheets in a row, columns of each, devices in a column.
struct PictureHint {
  std::string layout = "layers";
  std::vector<std::uint32_t> sizes;
  bool closed = true;
};

/// One of several networks side by side.
struct NetworkSummary {
  std::string name;
  std::string kind;                 ///< "fat tree of 2 tiers"
  std::vector<std::uint32_t> nics;  ///< of every node, those that are on it; empty: the hosts themselves
  bool used = false;                ///< by ranks
};

}  // namespace athanor
