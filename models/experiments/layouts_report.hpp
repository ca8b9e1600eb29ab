#pragma once

#include "models/experiments/record.hpp"
#include "models/layouts/layout_plan.hpp"

namespace athanor {

/// Puts conversions and chosen layouts as lists, and each conversion as a line that explains it: what, why, what it
/// takes and what plain gathering would.
void put_inserted(const LayoutPlan& plan, const LayoutTask& task, Record& record);

/// "all-gather over data x tensor".
std::string text_of(const LayoutStep& step, const DeviceMesh& mesh);

/// Why it is there, in a sentence.
std::string reason_of(const InsertedConversion& inserted, const DeviceMesh& mesh);

}  // namespace athanor
