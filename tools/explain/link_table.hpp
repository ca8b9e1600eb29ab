#pragma once

#include <string>
#include <vector>

#include "models/network/link_use.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// A line for each class of links that carried anything, and one that names the others, under the title "links";
/// nothing where none did. At most 120 columns, but for the last line.
std::string link_lines(const std::vector<LinkClassUse>& links);

/// [{"class", "links", "used", "mean_percent", "most_percent", "bytes"}], those that carried nothing as well.
JsonValue links_json(const std::vector<LinkClassUse>& links);

}  // namespace athanor
