#pragma once

#include <string>
#include <vector>

#include "models/traces/trace_options.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

/// Reads a trace. `patterns`: its files, or one with '*' in the place of the rank (trace_files.hpp). What is wrong is
/// added to `problems`, with the file, the rank and the node of the first of each kind and how many more there are;
/// then the result is not to be used. Throws FileError for files that cannot be read.
ImportedTrace read_trace(const std::vector<std::string>& patterns, const TraceOptions& options, Problems& problems);

}  // namespace athanor
