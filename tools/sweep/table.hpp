#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/sweep/database.hpp"

namespace athanor {

/// The results of a sweep as a table for people: what is varied, the case where there are several, and the main figures
/// of each result, as its kind of experiment names them. At most `most` lines, and behind them how many there are.
/// Throws FileError.
std::string sweep_table(SweepDatabase& database, std::size_t most);

/// One JSON object a line: {"point", "parameters": {title: label}, "error"} for points that failed, else the same with
/// all keys of the result. In the order of the points.
void sweep_records(SweepDatabase& database, const std::function<void(const JsonValue&)>& see);
/// All of the sweep in a file.
std::vector<JsonValue> sweep_records(const std::string& path);

}  // namespace athanor
