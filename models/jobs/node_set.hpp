#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/node_list.hpp"

namespace athanor {

/// Nodes, of which the lowest is found at once among a million: a bit for each, and a bit for each word of them.
class NodeSet {
 public:
  explicit NodeSet(std::uint32_t nodes) : words_((nodes + 63) / 64), summary_((words_.size() + 63) / 64) {}

  void add(NodeId node);
  void remove(NodeId node);
  bool has(NodeId node) const { return (words_[node.value / 64] >> (node.value % 64) & 1U) != 0; }
  /// The lowest from `from` on.
  std::optional<NodeId> next(NodeId from = {}) const;

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> summary_;  ///< which words are not 0
};

}  // namespace athanor
