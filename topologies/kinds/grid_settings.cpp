#include "topologies/kinds/grid_settings.hpp"

#include "sim/config/object_reader.hpp"
#include "topologies/generators/direct/direct_network.hpp"

namespace athanor {

void read_positions(ObjectReader& reader, VertexKind& positions) {
  reader.optional("positions", positions, "What stands at a position where there are no nodes",
                  {{"host", VertexKind::host}, {"gpu", VertexKind::gpu}});
}

void read(ObjectReader& reader, GridSettings& grid) {
  reader.required("dimensions", grid.dimensions, "Positions in each dimension", kPositionRange);
  reader.required_object("link", "From a position to its neighbour", [&](ObjectReader& fields) {
    NetworkLink link;
    read(fields, link);
    if (!fields.describing()) { grid.switching.link = link; }
  });
  read_positions(reader, grid.positions);
}

std::shared_ptr<NetworkTopology> GridSettings::build(const FabricSite& site, const std::string& name,
                                                     const GridShape& shape) const {
  check_grid("a " + name, shape);
  return std::make_shared<DirectNetwork>(site.population, std::make_shared<GridGraph>(name, shape),
                                         DirectSpec{{}, {}, site.nic_cable, site.cable, site.cable});
}

}  // namespace athanor
