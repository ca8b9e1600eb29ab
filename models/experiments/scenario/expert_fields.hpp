#pragma once

#include "models/experts/expert_settings.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// The keys that say how tokens get to experts, in whatever section they stand.
void visit(Fields& fields, ExpertSettings& settings);

}  // namespace athanor
