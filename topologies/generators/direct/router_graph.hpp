#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/random.hpp"
#include "topologies/cluster.hpp"
#include "topologies/fabric/router.hpp"

namespace athanor {

/// Numbers that depend on a flow alone: equal flows draw alike.
class FlowDraws {
 public:
  explicit FlowDraws(std::uint64_t hash) : hash_(hash) {}

  /// Evenly in [0, count). Requires count > 0.
  std::uint32_t below(std::uint32_t count) {
    hash_ = join_hash(hash_, 1);
    return static_cast<std::uint32_t>(scale_hash(hash_, count));
  }

 private:
  std::uint64_t hash_;
};

/// The vertices that routers are: the first so many are bare devices that forward for themselves, and these are the
/// first vertices of a fabric; the others stand one after the other where their network begins.
struct RouterVertices {
  std::uint32_t bare = 0;
  std::uint32_t first_own = 0;  ///< vertex of router number `bare`

  VertexId of(std::uint32_t router) const { return VertexId{router < bare ? router : first_own + router - bare}; }
};

/// Appends the links of a route from router to router to `path`.
class PathBuilder {
 public:
  PathBuilder(const Fabric& fabric, const RouterVertices& routers, std::vector<LinkId>& path)
      : fabric_(fabric), routers_(routers), path_(path) {}

  void take(std::uint32_t router, std::uint32_t port) {
    path_.push_back(LinkId{fabric_.out(routers_.of(router)).first + port});
  }

 private:
  const Fabric& fabric_;
  const RouterVertices& routers_;
  std::vector<LinkId>& path_;
};

/// Routers on one side of a cut.
struct RouterSet {
  std::string name;
  std::vector<VertexRange> routers;  ///< by number, not vertices
  bool half = false;                 ///< splits the network in two
};

/// How the routers of a direct network are joined with each other, and the paths between them, all computed from
/// coordinates. Routers are numbered from 0; the ports of one, from 0, lead to other routers. Immutable.
class RouterGraph {
 public:
  virtual ~RouterGraph() = default;

  /// "torus of 4 x 4": ends the description of a cluster.
  virtual std::string title() const = 0;
  virtual PictureHint picture() const = 0;
  /// The sides of a grid, the last varying fastest; of another graph, or of more sides than fit: all zero.
  virtual std::array<std::uint32_t, 6> sides() const { return {}; }

  virtual std::uint32_t routers() const = 0;
  /// Attachments are on the first so many routers, on each of them equally many; where members are routers themselves,
  /// these are they.
  virtual std::uint32_t hosting() const { return routers(); }
  /// What a router that is a switch of its own is called.
  virtual VertexKind kind(std::uint32_t /*router*/) const { return VertexKind::router; }

  virtual std::uint32_t ports(std::uint32_t router) const = 0;
  /// Requires port < ports(router). Every cable has a port at both ends.
  virtual std::uint32_t neighbour(std::uint32_t router, std::uint32_t port) const = 0;
  /// Whether the cable leads to another group, where a network has groups.
  virtual bool is_global(std::uint32_t /*router*/, std::uint32_t /*port*/) const { return false; }

  /// What of Routing makes sense here, the default first.
  virtual std::vector<Routing> routings() const = 0;
  /// Takes the ports of a path from one router to another, different one. `routing` is one of routings(). A path may
  /// come to a router twice; whoever asks cuts such loops out (cut_loops).
  virtual void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to,
                    PathBuilder& path) const = 0;

  /// The sets of routers that the structure suggests to cut off, halves last.
  virtual std::vector<RouterSet> cut_sets() const = 0;
  /// Whether the routes from one router look like those from any other.
  virtual bool is_vertex_transitive() const { return false; }
};

/// A graph that is routed directly, or by `valiant`: directly to a router that the flow draws, and from there.
class ValiantGraph : public RouterGraph {
 public:
  std::vector<Routing> routings() const override { return {Routing::minimal, Routing::valiant}; }
  void walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const final;

 private:
  /// Takes the ports of a direct path, if the routers are not the same one.
  virtual void walk_directly(FlowDraws& draws, std::uint32_t from, std::uint32_t to, PathBuilder& path) const = 0;
};

/// Cuts out of a path, from link number `begin` on, what leads back to where it has been.
void cut_loops(const Fabric& fabric, std::size_t begin, std::vector<LinkId>& path);

/// Positions of a box by number and by coordinates; the last dimension varies fastest.
class Coordinates {
 public:
  /// Requires sizes that check_box accepts.
  explicit Coordinates(std::vector<std::uint32_t> sizes);

  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(sizes_.size()); }
  std::uint32_t positions() const { return positions_; }
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }
  std::uint32_t size(std::uint32_t d) const { return sizes_[d]; }
  std::uint32_t stride(std::uint32_t d) const { return strides_[d]; }
  std::uint32_t at(std::uint32_t position, std::uint32_t d) const { return position / strides_[d] % sizes_[d]; }
  /// The position with coordinate d replaced.
  std::uint32_t with(std::uint32_t position, std::uint32_t d, std::uint32_t coordinate) const {
    return position - at(position, d) * strides_[d] + coordinate * strides_[d];
  }
  /// For each dimension of two or more the positions in the lower half of it.
  std::vector<RouterSet> halves() const;

 private:
  std::vector<std::uint32_t> sizes_;
  std::vector<std::uint32_t> strides_;
  std::uint32_t positions_ = 1;
};

/// The most routers that a network is built of.
constexpr std::uint32_t kMostRouters = 1U << 27U;
/// The most dimensions that a network has.
constexpr std::uint32_t kMostDimensions = 32;

/// Throws ScenarioError("does-not-fit") when a dimension has no position, or the box more than kMostRouters or more
/// than kMostDimensions; `what` names it: "a torus".
void check_box(const std::string& what, const std::vector<std::uint32_t>& sizes);

}  // namespace athanor
