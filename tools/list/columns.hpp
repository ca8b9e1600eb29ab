#pragma once

#include <string>
#include <vector>

namespace athanor {

enum class Side { left, right };  ///< numbers stand on the right

struct ColumnHead {
  std::string title;
  Side side = Side::left;
};

/// A table under its titles: columns as wide as their widest cell, two blanks apart. A line with fewer cells than there
/// are columns ends with a text that goes on over the rest.
std::string in_columns(const std::vector<ColumnHead>& heads, const std::vector<std::vector<std::string>>& lines);

}  // namespace athanor
