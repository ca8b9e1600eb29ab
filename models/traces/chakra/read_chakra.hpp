#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/traces/trace_options.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// Reads one file for each rank, in the order of ranks, into workers of the draft. `json`: their JSON form.
void read_chakra(const std::vector<std::string>& files, bool json, const TraceOptions& options, WorkloadDraft& draft);

}  // namespace athanor
