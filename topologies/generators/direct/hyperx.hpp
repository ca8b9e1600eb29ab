#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topologies/generators/direct/coordinates.hpp"

namespace athanor {

/// Switches at the positions of a box, each joined to all that differ from it in one dimension only.
struct HyperXShape {
  std::vector<std::uint32_t> dimensions;  ///< S_i: switches along each
  std::vector<std::uint32_t> cables;      ///< K_i: between two switches, by dimension; empty: one
};

/// HyperX (Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: topology, routing, and packaging of efficient large-scale
/// networks", SC'09); of one dimension a full mesh, of two a "2D full mesh", of sides of 2 a hypercube. For L
/// dimensions of S_i switches, N = S_1 ... S_L in all, K_i cables between two switches, T endpoints on each:
///   endpoints  N T
///   switches   N, of radix T + sum K_i (S_i - 1)
///   cables     N / 2 sum K_i (S_i - 1) between switches
///   diameter   L between switches, L + 2 between endpoints
///   bisection  min over i of K_i N / S_i floor(S_i / 2) ceil(S_i / 2) cables: for even S_i  K_i S_i N / 4
///
/// Routing `dimension_order`: one hop in each dimension in which two differ, which is a shortest path. `valiant`: the
/// same to a switch drawn by the flow, and on from there; at most 2 L hops. Of parallel cables one is drawn.
///
/// Ports: for each dimension those to the other switches along it in ascending order, K_i side by side.
class HyperX : public RouterGraph {
 public:
  /// `name`: "HyperX", for errors. Throws ScenarioError("does-not-fit", "too-large") where the shape is none.
  HyperX(const std::string& name, std::string title, const HyperXShape& shape);

  std::string title() const override { return title_; }
  PictureHint picture() const override { return {"box", box_.sizes()}; }

  std::uint32_t routers() const override { return box_.positions(); }
  std::uint32_t ports(std::uint32_t /*router*/) const override { return first_port_.back(); }
  std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const override;
  std::vector<Routing> routings() const override { return {Routing::dimension_order, Routing::valiant}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const override;
  std::vector<RouterSet> cut_sets() const override { return box_.halves(); }
  bool is_vertex_transitive() const override { return true; }

 private:
  void straight(FlowDraws& draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const;

  std::string title_;
  Coordinates box_;
  std::vector<std::uint32_t> cables_;
  std::vector<std::uint32_t> first_port_;  // by dimension, and one more at the end
};

}  // namespace athanor
