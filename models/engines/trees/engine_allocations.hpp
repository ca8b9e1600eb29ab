#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/engines/engine_limits.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// What one tree takes of engines.
struct AllocatedTree {
  std::uint32_t job = 0;
  bool streaming = false;
  std::vector<VertexId> switches;  ///< that aggregate, the top first
  std::vector<LinkId> ports;       ///< ports of `switches` that the tree uses, each once
};

/// Who holds what of the engines of a fabric. Whether a tree may be taken is for the caller to ask before.
class EngineAllocations {
 public:
  /// Borrows both.
  EngineAllocations(const Fabric& fabric, const EngineLimits& limits) : fabric_(fabric), limits_(limits) {}

  void take(const AllocatedTree& tree);
  /// Requires that it is held.
  void give_back(const AllocatedTree& tree);

  /// Is there no room for one more tree of that job: in the fabric, in a switch, at a port of one?
  bool full(bool streaming) const;
  bool full(VertexId at, std::uint32_t job, bool streaming) const;
  bool full(LinkId port, bool streaming) const;
  /// Why there is no room for one more tree, in words that say who holds it.
  std::string why(bool streaming) const;
  std::string why(VertexId at, std::uint32_t job, bool streaming) const;
  std::string why(LinkId port, std::uint32_t job) const;

  /// Trees of any kind that have this switch as a node, and as their top.
  std::uint32_t trees(VertexId at) const;
  std::uint32_t tops(VertexId at) const;

 private:
  /// A job as often as it holds it, in the order of taking.
  using Holders = std::vector<std::uint32_t>;
  bool streams_full(VertexId at) const;

  const Fabric& fabric_;
  const EngineLimits& limits_;
  Holders trees_;    ///< of low latency
  Holders streams_;  ///< streaming trees
  std::map<VertexId, Holders> at_switch_;
  std::map<VertexId, Holders> streams_at_switch_;
  std::map<LinkId, Holders> streams_at_port_;
  std::map<VertexId, std::uint32_t> tops_;
};

}  // namespace athanor
