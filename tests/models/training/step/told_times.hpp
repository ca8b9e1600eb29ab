#pragma once

#include <functional>

#include "models/workload/run_workload.hpp"

namespace athanor {

/// Runs a workload whose calls take what they are told to, by what is called, and whose messages of 1000 B take
/// nothing.
WorkloadResult run_with(const Workload& workload, const std::function<Time(const Workload::Call&)>& time_of_call);

}  // namespace athanor
