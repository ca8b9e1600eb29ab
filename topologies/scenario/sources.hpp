#pragma once

#include <map>
#include <string>

#include "sim/config/object_reader.hpp"

namespace athanor {

/// What the figures of a file of presets come from, by the short names that presets use: "what (where)".
using Sources = std::map<std::string, std::string>;

void read_sources(ObjectReader& reader, Sources& sources);

}  // namespace athanor
