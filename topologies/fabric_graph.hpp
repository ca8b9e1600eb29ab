#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>

#include "topologies/fabric.hpp"

namespace athanor {

/// The graph inside a Fabric. Vertex descriptors are vertex ids, edge indices are link ids.
struct FabricGraph : boost::compressed_sparse_row_graph<boost::directedS, Vertex, Link, boost::no_property,
                                                        std::uint32_t, std::uint32_t> {
  using Base = boost::compressed_sparse_row_graph<boost::directedS, Vertex, Link, boost::no_property, std::uint32_t,
                                                  std::uint32_t>;
  using Base::Base;
};

}  // namespace athanor
