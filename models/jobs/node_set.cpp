#include "models/jobs/node_set.hpp"

#include <bit>

namespace athanor {

namespace {

/// The lowest bit from `from` on of a word.
std::optional<std::uint32_t> lowest(std::uint64_t word, std::uint32_t from) {
  if (from >= 64) { return {}; }
  const std::uint64_t rest = word >> from << from;
  if (rest == 0) { return {}; }
  return static_cast<std::uint32_t>(std::countr_zero(rest));
}

}  // namespace

void NodeSet::add(NodeId node) {
  const std::uint32_t word = node.value / 64;
  words_[word] |= std::uint64_t{1} << (node.value % 64);
  summary_[word / 64] |= std::uint64_t{1} << (word % 64);
}

void NodeSet::remove(NodeId node) {
  const std::uint32_t word = node.value / 64;
  words_[word] &= ~(std::uint64_t{1} << (node.value % 64));
  if (words_[word] == 0) { summary_[word / 64] &= ~(std::uint64_t{1} << (word % 64)); }
}

std::optional<NodeId> NodeSet::next(NodeId from) const {
  std::uint32_t word = from.value / 64;
  if (word >= words_.size()) { return {}; }
  if (const auto bit = lowest(words_[word], from.value % 64)) { return NodeId{word * 64 + *bit}; }
  ++word;
  for (std::uint32_t group = word / 64; group < summary_.size(); ++group) {
    const auto found = lowest(summary_[group], group == word / 64 ? word % 64 : 0);
    if (!found) { continue; }
    const std::uint32_t filled = group * 64 + *found;
    return NodeId{filled * 64 + static_cast<std::uint32_t>(std::countr_zero(words_[filled]))};
  }
  return {};
}

}  // namespace athanor
