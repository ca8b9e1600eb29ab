#pragma once

#include <string>

#include "models/library/library.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// The models that scenarios may name: parameters, those of one token, layers and sizes, and where they come from.
JsonValue models_json(const Library& library);
/// The same for people, without sources unless `verbose`.
std::string models_text(const JsonValue& models, bool verbose);

}  // namespace athanor
