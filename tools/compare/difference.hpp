#pragma once

#include <string>
#include <vector>

#include "sim/config/json_value.hpp"

namespace athanor {

/// One value that two documents do not share.
struct Difference {
  std::string pointer;
  std::string first;  ///< as JSON; "" where the document has nothing there
  std::string second;
};

/// In the order of the pointers. Names, comments on measurements and the like are left out: what does not change
/// results.
std::vector<Difference> differences(const JsonValue& first, const JsonValue& second);

}  // namespace athanor
