#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "topologies/generators/direct/grid.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

/// The keys that tori and meshes have.
struct GridSettings {
  Switching switching;  ///< its link alone
  std::vector<std::uint32_t> dimensions;
  VertexKind positions = VertexKind::host;  ///< where there are no nodes

  /// `name`: "torus"; begins the title. `shape` has the dimensions. Throws ScenarioError as check_grid does.
  std::shared_ptr<NetworkTopology> build(const FabricSite& site, const std::string& name,
                                         const LatticeShape& shape) const;
};
void visit(Fields& fields, GridSettings& grid);

/// "positions".
void read_positions(Fields& fields, VertexKind& positions);

}  // namespace athanor
