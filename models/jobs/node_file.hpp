#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/node_list.hpp"

namespace athanor {

/// A form in which others write down what the nodes of a cluster have.
struct NodeFormat {
  std::string_view name;
  std::string_view meaning;  ///< one line
  /// Nodes in the order of the file, without NICs and tiers. Throws FileError; ScenarioError with the line of a node
  /// that is none.
  NodeList (*read)(const std::string& path) = nullptr;
};

/// In the order of lists.
const std::vector<NodeFormat>& node_formats();

}  // namespace athanor
