#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace athanor {

/// Flows from one vertex to another, by blocking flows over layers (Dinic, Algorithm for solution of a problem of
/// maximum flow in networks with power estimation, 1970).
class MaxFlow {
 public:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;

  explicit MaxFlow(std::uint32_t vertices) : first_(vertices, kNone), level_(vertices), next_arc_(vertices) {}

  /// The number of the arc, by which its capacity is changed. Requires capacity >= 0.
  std::uint32_t add(std::uint32_t from, std::uint32_t to, std::int64_t capacity);
  void set_capacity(std::uint32_t arc, std::int64_t capacity) { capacity_[2 * arc] = capacity; }
  std::int64_t capacity(std::uint32_t arc) const { return capacity_[2 * arc]; }
  /// The most that goes from `source` to `sink`, or `limit` where that is less. Starts anew.
  std::int64_t flow(std::uint32_t source, std::uint32_t sink, std::int64_t limit = kUnlimited);
  /// After a flow below its limit: whether the vertex is on the source's side of the narrowest cut, of several that of
  /// fewest vertices.
  bool at_source(std::uint32_t vertex) const { return level_[vertex] != kNone; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  bool find_layers(std::uint32_t source, std::uint32_t sink);
  std::int64_t push(std::uint32_t from, std::uint32_t sink, std::int64_t most);

  std::vector<std::uint32_t> first_;     ///< by vertex, its last arc
  std::vector<std::uint32_t> other_;     ///< by arc, where it ends; arc ^ 1 is the way back
  std::vector<std::uint32_t> previous_;  ///< by arc, the one before it from the same vertex
  std::vector<std::int64_t> capacity_;   ///< by arc
  std::vector<std::int64_t> left_;       ///< by arc
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> next_arc_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace athanor
