#pragma once

#include <map>
#include <string>

#include "models/library/library.hpp"
#include "models/training/framework.hpp"
#include "sim/config/field_value.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// What frameworks.json of the presets holds, by name; nothing where the library has no such file.
std::map<std::string, Framework> load_frameworks(const Library& library, Problems& problems);

/// A name of these.
void read_framework(FieldValue& value, const Library& library, Problems& problems, FrameworkUse& use);

/// What a rule sets, as the file of frameworks has it.
JsonValue defaults_json(const PlanDefaults& defaults);

/// What is in a plan as its framework has it, of what acts there: results tell what was assumed.
JsonValue assumed_json(const FrameworkUse& use, const ParallelPlan& plan);

}  // namespace athanor
