#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/scenario/library.hpp"

namespace athanor {

/// The models that scenarios may name: parameters, those of one token, layers and sizes, and where they come from.
nlohmann::ordered_json models_json(const Library& library);
/// The same for people, without sources unless `verbose`.
std::string models_text(const nlohmann::ordered_json& models, bool verbose);

}  // namespace athanor
