#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace athanor {

/// One value that two documents do not share.
struct Difference {
  std::string pointer;
  std::string first;  ///< as JSON; "" where the document has nothing there
  std::string second;
};

/// In the order of the pointers. Names, comments on measurements and the like are left out: what does not change
/// results.
std::vector<Difference> differences(const nlohmann::json& first, const nlohmann::json& second);

}  // namespace athanor
