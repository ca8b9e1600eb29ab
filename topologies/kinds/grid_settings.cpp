#include "topologies/kinds/grid_settings.hpp"

#include "sim/config/fields.hpp"
#include "topologies/generators/direct/direct_network.hpp"

namespace athanor {

void read_positions(Fields& fields, VertexKind& positions) {
  fields.optional("positions", positions, "What stands at a position where there are no nodes",
                  {{"host", VertexKind::host}, {"gpu", VertexKind::gpu}});
}

void visit(Fields& fields, GridSettings& grid) {
  fields.required("dimensions", grid.dimensions, "Positions in each dimension", kPositionRange);
  fields.required_object("link", grid.switching.link.emplace(), "From a position to its neighbour");
  read_positions(fields, grid.positions);
}

std::shared_ptr<NetworkTopology> GridSettings::build(const FabricSite& site, const std::string& name,
                                                     const LatticeShape& shape) const {
  check_grid("a " + name, shape);
  return std::make_shared<DirectNetwork>(site.population, std::make_shared<GridGraph>(name, shape),
                                         DirectSpec{{}, {}, site.nic_cable, site.cable, site.cable});
}

}  // namespace athanor
