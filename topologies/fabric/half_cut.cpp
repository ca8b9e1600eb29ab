#include "topologies/fabric/half_cut.hpp"

#include <limits>

#if defined(__GNUC__) && !defined(__clang__)  // a false alarm of g++ 12 on an optional pair of iterators in Boost.Graph
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct Device {
  boost::default_color_type colour = boost::white_color;
  Traits::edge_descriptor predecessor;
  long distance = 0;
};
struct Pipe {
  std::int64_t capacity = 0;
  std::int64_t left = 0;
  Traits::edge_descriptor back;
};
using FlowGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Device, Pipe>;

void add_pipe(FlowGraph& graph, std::size_t from, std::size_t to, std::int64_t capacity) {
  const auto forth = boost::add_edge(from, to, graph).first;
  const auto back = boost::add_edge(to, from, graph).first;
  graph[forth] = {capacity, 0, back};
  graph[back] = {0, 0, forth};
}

}  // namespace

std::vector<VertexId> near_side(const Fabric& fabric, const std::vector<VertexId>& near,
                                const std::vector<VertexId>& far) {
  require(!near.empty() && !far.empty(), "a cut between {} and {} endpoints", near.size(), far.size());
  const std::size_t source = fabric.vertices();
  const std::size_t sink = source + 1;
  constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;
  FlowGraph graph(sink + 1);
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    add_pipe(graph, fabric.source(LinkId{l}).value, fabric.target(LinkId{l}).value,
             fabric.link(LinkId{l}).rate.count());
  }
  for (const VertexId v : near) { add_pipe(graph, source, v.value, kUnlimited); }
  for (const VertexId v : far) { add_pipe(graph, v.value, sink, kUnlimited); }
  boost::boykov_kolmogorov_max_flow(graph, boost::get(&Pipe::capacity, graph), boost::get(&Pipe::left, graph),
                                    boost::get(&Pipe::back, graph), boost::get(&Device::predecessor, graph),
                                    boost::get(&Device::colour, graph), boost::get(&Device::distance, graph),
                                    boost::get(boost::vertex_index, graph), source, sink);
  std::vector<VertexId> inside;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    if (graph[v].colour == boost::black_color) { inside.emplace_back(v); }
  }
  return inside;
}

}  // namespace athanor
