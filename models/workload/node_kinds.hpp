#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topologies/fabric.hpp"

namespace athanor {

/// Which nodes of a fabric look alike: their devices have links of the same figures to the same devices of the node, or
/// out of it, in one order. One slower link makes a kind of its own. Nodes are looked at when they are asked for.
class NodeKinds {
 public:
  /// Borrows the fabric.
  explicit NodeKinds(const Fabric& fabric) : fabric_(fabric) {}

  /// Equal for nodes that look alike, and for no others. Requires a node of the fabric.
  std::uint32_t kind_of(std::uint32_t node);

  /// The link of this node that stands where `link` stands in one that looks alike.
  LinkId same_link(LinkId link, std::uint32_t node);

 private:
  using Devices = std::map<std::pair<VertexKind, std::uint32_t>, VertexId>;  ///< by kind and index

  const Devices& devices(std::uint32_t node);
  std::vector<std::int64_t> looks(std::uint32_t node);

  const Fabric& fabric_;
  std::map<std::uint32_t, Devices> devices_;  ///< by node; filled when first asked for
  std::map<std::vector<std::int64_t>, std::uint32_t> kinds_;
  std::map<std::uint32_t, std::uint32_t> kind_of_;  ///< by node
};

}  // namespace athanor
