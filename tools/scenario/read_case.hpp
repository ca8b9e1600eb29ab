#pragma once

#include <string>

#include "sim/json/object_reader.hpp"
#include "tools/scenario/algorithm_choice.hpp"
#include "tools/scenario/cluster_section.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// What the cases of one scenario share while they are read.
struct ReadingContext {
  std::string directory;  ///< of the scenario file
  const Library& library;
  const ScenarioChanges& changes;
  Problems& problems;
  ClusterWorkshop& workshop;
  ImportShelf& imports;
  TraceShelf& traces;
};

/// Reads one case from a document in which its patch has been applied, or describes what it may hold.
/// What is varied (nothing, where the document does not say) becomes `sweep`.
void read_case(ObjectReader& reader, ReadingContext& context, Case& scenario_case, std::vector<SweepAxis>& sweep);

}  // namespace athanor
