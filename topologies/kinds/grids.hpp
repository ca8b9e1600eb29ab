#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topologies/generators/direct/router_graph.hpp"
#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

/// A grid of positions, each joined to its neighbours by one cable in each dimension.
struct LatticeShape {
  std::vector<std::uint32_t> dimensions;  ///< member number = position, the last dimension varies fastest

  /// By dimension: no cable leads from its last position back to its first. Empty: all close on themselves.
  std::vector<bool> open;

  /// twists[i][j]: who passes the end of dimension i is shifted by so many positions in dimension j. Empty: by none.
  /// Only closed dimensions twist and are twisted, and none itself through others.
  std::vector<std::vector<std::uint32_t>> twists;
};

/// The twists of TPU v4 slices: every dimension of the least length k shifts those of 2k by k. Others stay as they are.
/// k x k x 2k and k x 2k x 2k become lattices in which all dimensions are alike (Camara et al., "Twisted torus
/// topologies for enhanced interconnection networks", IEEE TPDS 2010; Jouppi et al., "TPU v4", ISCA 2023).
std::vector<std::vector<std::uint32_t>> tpu_v4_twists(const std::vector<std::uint32_t>& dimensions);

/// Throws ScenarioError("does-not-fit", "too-large") unless the shape is one; `what` names it: "a torus".
void check_grid(const std::string& what, const LatticeShape& shape);

/// Mesh, torus, twisted torus, and mixtures: some dimensions open, some closed. For n dimensions of k_i positions,
/// N in all (Dally & Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5):
///
///              cables                     diameter         half along dimension i
///   open       N (k_i - 1) / k_i each     k_i - 1 each     N / k_i cables, k_i even
///   closed     N each; N/2 for k_i = 2    k_i / 2 each     2 N / k_i cables, k_i even; N / 2 for k_i = 2
///
/// The half of the longest dimension is the bisection where there is no twist and its length is even. Twisted:
/// k x k x 2k has 4 k^2 cables along either k, where the untwisted one has 2 k^2.
///
/// Routes take the dimensions in order, each by as many steps as a shortest path has of it: open ones straight, closed
/// ones the shorter way round; of two equal ones positions of even number take that towards + and others that towards
/// -, so that both carry half of what all send (Dally & Towles, chapter 8, split them evenly). Twisted ones: the least
/// sum of steps among all ways round, of equal ones that with the fewest steps in the dimensions that shift others.
/// They are shortest paths.
///
/// Ports: for each dimension the one towards + and the one towards -, where there are such; where both lead to the
/// same position, there is one cable for both.
class GridGraph : public RouterGraph {
 public:
  /// `name`: "torus"; begins the title. Requires a shape that check_grid accepts.
  GridGraph(std::string name, const LatticeShape& shape);

  std::string title() const override;
  PictureHint picture() const override { return {"grid", shape_.dimensions, is_vertex_transitive()}; }
  std::array<std::uint32_t, 6> sides() const override;

  std::uint32_t routers() const override { return box_.positions(); }
  std::uint32_t ports(std::uint32_t router) const override;
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override;
  std::vector<Routing> routings() const override { return {Routing::dimension_order}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const override;
  std::vector<RouterSet> cut_sets() const override { return box_.halves(); }
  bool is_vertex_transitive() const override;

 private:
  enum class Direction : std::int8_t { forward = 1, back = -1 };
  using Steps = std::array<std::int64_t, kMostDimensions>;
  class Search;

  bool has(std::uint32_t router, std::uint32_t d, Direction direction) const;
  std::uint32_t port(std::uint32_t router, std::uint32_t d, Direction direction) const;
  /// One step, past an end too.
  std::uint32_t moved(std::uint32_t router, std::uint32_t d, Direction direction) const;
  /// The position that coordinates beyond the ends mean.
  std::uint32_t position(Steps coordinates) const;
  bool twists(std::uint32_t d) const { return !shape_.twists.empty() && twisting_[d]; }
  Steps steps(std::uint32_t from, std::uint32_t to) const;

  std::string name_;
  LatticeShape shape_;
  Coordinates box_;
  std::vector<bool> twisting_;         // by dimension: shifts another
  std::vector<std::uint32_t> order_;   // dimensions, each before those that it shifts
  std::vector<std::uint32_t> cables_;  // by closed dimension: 0, 1 or 2 ports
};

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
