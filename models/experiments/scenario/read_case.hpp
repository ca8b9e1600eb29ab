#pragma once

#include <vector>

#include "models/experiments/scenario/experiment_reader.hpp"

namespace athanor {

/// Reads one case from a document in which its patch has been applied, or describes what it may hold.
/// What is varied (nothing, where the document does not say) becomes `sweep`.
void read_case(Fields& fields, ReadingContext& context, Case& scenario_case, std::vector<SweepAxis>& sweep);

}  // namespace athanor
