#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topologies/fabric.hpp"

namespace athanor {

/// All shortest ways from one switch to another over network links that are up and switches in between, as switches
/// that balance load have them in their tables.
class ShortestWays {
 public:
  using Way = std::vector<LinkId>;
  /// Of more ways than this, so many that are spread evenly.
  static constexpr std::size_t kMostWays = 256;

  /// Borrows the fabric.
  explicit ShortestWays(const Fabric& fabric) : fabric_(fabric) {}

  /// In the order of their links, so that ways that begin alike stand together; none where the two are not joined.
  /// Remembers what was asked before.
  const std::vector<Way>& between(VertexId from, VertexId to);

  /// May load be balanced there: is it a switch of the network?
  static bool balances(VertexKind kind);

 private:
  std::vector<std::uint32_t> distances(VertexId to) const;
  void extend(Way& way, VertexId at, const std::vector<std::uint32_t>& distance, std::vector<Way>& found) const;

  const Fabric& fabric_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Way>> known_;
};

}  // namespace athanor
