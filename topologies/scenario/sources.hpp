#pragma once

#include <map>
#include <string>

#include "sim/config/fields.hpp"

namespace athanor {

/// What the figures of a file of presets come from, by the short names that presets use: "what (where)".
using Sources = std::map<std::string, std::string>;

void read_sources(Fields& fields, Sources& sources);

}  // namespace athanor
