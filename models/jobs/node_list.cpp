#include "models/jobs/node_list.hpp"

#include <fmt/core.h>

namespace athanor {

std::uint32_t NodeList::gpus() const {
  std::uint32_t sum = 0;
  for (const Node& node : nodes) { sum += node.gpus; }
  return sum;
}

std::string NodeList::name(NodeId node) const {
  return names.empty() ? fmt::format("node {}", node.value) : names[node.value];
}

}  // namespace athanor
