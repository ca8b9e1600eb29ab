#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sweep/database.hpp"

namespace athanor {

/// {"results": [...], "manifest": {...}}: the records of sweep_records().
std::string sweep_json(SweepDatabase& database, const std::vector<std::string>& command_line, bool interrupted);

/// RFC 4180 lines, a column for each parameter and each key of the results.
std::string sweep_csv(SweepDatabase& database);

/// One record a line, as they come: a sweep may be larger than the memory.
void sweep_lines(SweepDatabase& database, const std::function<void(std::string_view)>& write);
/// The same into a file. Throws FileError.
void write_sweep_lines(SweepDatabase& database, const std::string& path);

}  // namespace athanor
