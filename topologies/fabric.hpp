#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>

#include "sim/ids.hpp"
#include "sim/units.hpp"

namespace athanor {

using VertexId = Id<struct VertexTag>;
using LinkId = Id<struct LinkTag>;

enum class VertexKind : std::uint8_t { gpu, cpu, memory, pcie_switch, nvswitch, nic, host, leaf, spine, core, custom };
enum class LinkKind : std::uint8_t { nvlink, c2c, pcie, socket, network };

std::string_view name(VertexKind kind);
std::string_view name(LinkKind kind);

constexpr std::uint32_t kNoNode = 0xffffffff;

/// A device. `index` counts devices of its kind within its node, or in the fabric where `node` is kNoNode.
struct Vertex {
  VertexKind kind = VertexKind::custom;
  std::uint32_t node = kNoNode;
  std::uint32_t index = 0;
};

/// One direction of a cable or bus. Parallel lanes between the same two devices are one link of their total rate.
struct Link {
  Bandwidth rate;    ///< line rate, what the hardware bound counts with
  Bandwidth usable;  ///< payload rate after framing and protocol, at most `rate`; what simulations count with
  Time latency;      ///< propagation, and the forwarding of the device at its source
  LinkKind kind = LinkKind::network;
};

/// What is connected to what: an immutable directed graph. Link ids are edge indices, ordered by source vertex.
class Fabric {
 public:
  using Graph = boost::compressed_sparse_row_graph<boost::directedS, Vertex, Link, boost::no_property, std::uint32_t,
                                                   std::uint32_t>;

  std::uint32_t vertices() const;
  std::uint32_t links() const;
  const Vertex& vertex(VertexId v) const;
  const Link& link(LinkId l) const;
  VertexId source(LinkId l) const;
  VertexId target(LinkId l) const;
  /// The links that leave v are [first, first + count).
  struct OutLinks {
    std::uint32_t first, count;
  };
  OutLinks out(VertexId v) const;
  /// "node3/gpu5", "leaf12", or the name given in an explicit list.
  std::string name(VertexId v) const;
  /// "node3/gpu5 -> node3/nvswitch0".
  std::string name(LinkId l) const;
  const Graph& graph() const { return graph_; }

 private:
  friend class FabricBuilder;
  Graph graph_;
  std::vector<std::uint32_t> sources_;     // by link
  std::vector<std::string> custom_names_;  // by vertex index, only for explicit lists
};

}  // namespace athanor
