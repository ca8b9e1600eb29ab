#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "models/traces/trace_options.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// Reads the project's own JSON, in which any workload can be written down.
void read_trace_json(const std::string& file, const TraceOptions& options, WorkloadDraft& draft);

/// Writes a workload as this JSON, an operation a line. What is read again is the same workload, but for the numbers of
/// labels and of equal calls.
void write_trace_json(const Workload& workload, const std::function<void(std::string_view)>& write);

}  // namespace athanor
