#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/failures/failure_process.hpp"
#include "models/jobs/speed.hpp"
#include "sim/id_vector.hpp"

namespace athanor {

/// Nodes that are slow at present, and by which parts.
class SlowNodes {
 public:
  /// The slowest of a job's nodes, at whose speed it works.
  struct Slowest {
    Speed speed;  ///< as a share of that of others
    std::uint32_t source = 0;
  };

  /// Borrows both.
  SlowNodes(const FailureRules& rules, const NodeList& nodes) : rules_(rules), nodes_(nodes), by_node_(nodes.count()) {}

  /// Nothing has been slow so far.
  bool never() const { return parts_.empty(); }
  /// A part begins to slow its nodes down. Events of these orders end that, and find it.
  void begin(const FailureProcess::Failure& slow, std::uint64_t end, std::uint64_t found);
  /// Whether an event of that order still holds for a part.
  bool is_end(std::uint32_t part, std::uint64_t order) const { return live(part) && parts_[part].end == order; }
  bool is_found(std::uint32_t part, std::uint64_t order) const { return live(part) && parts_[part].found == order; }
  /// The nodes that a part slows down; none: it does not, any more.
  std::vector<NodeId> nodes(std::uint32_t part) const {
    return live(part) ? parts_[part].nodes : std::vector<NodeId>{};
  }
  /// The source of a part that slows nodes down.
  std::uint32_t source(std::uint32_t part) const { return parts_[part].source; }
  /// A part slows nothing down any more.
  void end(std::uint32_t part);
  /// The sources that slow a node down.
  std::vector<std::uint32_t> sources(NodeId node) const;
  /// Nothing slows a node down any more: it is being repaired. Parts that slow no node down any more.
  std::vector<std::uint32_t> end_on(NodeId node);

  Slowest slowest(const Allocation& where) const;

 private:
  struct Slow {
    std::uint32_t source = 0;
    std::vector<NodeId> nodes;
    std::uint64_t end = 0;
    std::uint64_t found = 0;
  };
  bool live(std::uint32_t part) const { return part < parts_.size() && !parts_[part].nodes.empty(); }
  /// At full speed 2^32.
  Slowest speed(NodeId node) const;

  const FailureRules& rules_;
  const NodeList& nodes_;
  std::vector<Slow> parts_;                               ///< of each part that has been slow
  IdVector<NodeId, std::vector<std::uint32_t>> by_node_;  ///< the parts that slow it down
  std::size_t slow_ = 0;                                  ///< parts
};

}  // namespace athanor
