#pragma once

#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/numerics/comparison.hpp"

namespace athanor {

/// What stands above the rows: what is added up, against what it is held, and the names of the columns.
std::string numerics_header(const NumericsRequest& request);
std::string numerics_line(const NumericsRow& row);
/// What the columns mean.
std::string numerics_footer();

/// Keys are stable. An error that is infinite is null.
JsonValue numerics_json(const NumericsRequest& request, const NumericsRow& row);

}  // namespace athanor
