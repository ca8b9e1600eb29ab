#pragma once

#include <string>
#include <vector>

#include "sim/config/json_value.hpp"

namespace athanor {

enum class Side { left, right };  ///< numbers stand on the right

struct ColumnHead {
  std::string title;
  Side side = Side::left;
};

/// A table under its titles: columns as wide as their widest cell, two blanks apart. A line with fewer cells than there
/// are columns ends with a text that goes on over the rest.
std::string in_columns(const std::vector<ColumnHead>& heads, const std::vector<std::vector<std::string>>& lines);
/// The same without titles, all to the left. Requires as many cells in each line.
std::string in_columns(const std::vector<std::vector<std::string>>& lines);

/// A list's strings, with commas between; "": none.
std::string words_of(const JsonValue& list);

}  // namespace athanor
