#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/library/library.hpp"
#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"
#include "sim/config/field_value.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// A model of presets/models.json.
struct ModelPreset {
  TrainedModel model;
  std::optional<Ratio> published_billions;  ///< of parameters, as far as its source tells, to the last digit
  std::string source;                       ///< "what (where)"
  std::vector<std::string> unverified;
  std::string note;
};

/// By name. `problems` takes what is wrong with the file. Throws FileError when it cannot be read.
std::map<std::string, ModelPreset> load_models(const Library& library, Problems& problems);

/// What a scenario says of its model.
struct ModelSection {
  TrainedModel model;
  std::optional<ParallelPlan> plan;  ///< of Megatron-LM's arguments
  std::vector<std::string> ignored;  ///< of them: arguments that change nothing here
};

/// A model may be the name of a preset; or an object that names where to begin ("preset", "huggingface" or "megatron",
/// none: from nothing) with fields of its own, which override; or one with a list of plain layers. `files` reads
/// those that it names. `problems` takes what is wrong with files that are named; the section's own mistakes are
/// reported at their place.
void read_model(FieldValue& value, const Library& library, const FileReader& files, Problems& problems,
                ModelSection& section);

}  // namespace athanor
