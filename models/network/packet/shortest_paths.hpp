#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topologies/fabric.hpp"

namespace athanor {

/// All shortest paths from one switch to another over network links that are up and switches in between, as switches
/// that balance load have them in their tables.
class ShortestPaths {
 public:
  using Path = std::vector<LinkId>;
  /// Of more paths than this, so many that are spread evenly.
  static constexpr std::size_t kMostPaths = 256;

  /// Borrows the fabric.
  explicit ShortestPaths(const Fabric& fabric) : fabric_(fabric) {}

  /// In the order of their links, so that paths that begin alike stand together; none where the two are not joined.
  /// Remembers what was asked before.
  const std::vector<Path>& between(VertexId from, VertexId to);

  /// May load be balanced there: is it a switch of the network?
  static bool balances(VertexKind kind);

 private:
  std::vector<std::uint32_t> distances(VertexId to) const;
  void extend(Path& path, VertexId at, const std::vector<std::uint32_t>& distance, std::vector<Path>& found) const;

  const Fabric& fabric_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Path>> known_;
};

}  // namespace athanor
