#pragma once

#include <optional>
#include <string>

#include "models/training/pipeline/schedule.hpp"

namespace athanor::testing {

/// The replica that a micro-batch goes through.
std::uint32_t replica_of(const PipelineSchedule& schedule, std::uint32_t micro_batch);

/// What is wrong with a schedule; nothing: every micro-batch has its forward and its backward (whole, or of inputs and
/// then of weights) once at every place of its replica, and in these orders no task waits for ever.
std::optional<std::string> fault_in(const PipelineSchedule& schedule);

}  // namespace athanor::testing
