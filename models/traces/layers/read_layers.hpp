#pragma once

#include <string>

#include "models/traces/trace_options.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// Reads the text of ASTRA-sim 1. Needs TraceOptions::unit and ranks, and model_ranks for hybrid policies.
void read_astra(const std::string& file, const TraceOptions& options, WorkloadDraft& draft);

/// Reads the text of SimAI, whose first line says how ranks are divided. Times are nanoseconds unless options.unit says
/// something else.
void read_simai(const std::string& file, const TraceOptions& options, WorkloadDraft& draft);

}  // namespace athanor
