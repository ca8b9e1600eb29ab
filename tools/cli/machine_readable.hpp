#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/experiments/record.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "tools/cli/manifest.hpp"

namespace athanor {

/// {"results": [...], "manifest": {...}}, one result per line.
std::string json_document(const std::vector<JsonValue>& results, const Manifest& manifest);
/// The same with an object beside the results: what was done to find them.
std::string json_document(const std::vector<JsonValue>& results, std::string_view key, const JsonValue& beside,
                          const Manifest& manifest);
/// The same with lists beside the results, by key, an element a line.
std::string json_document(const std::vector<JsonValue>& results,
                          const std::vector<std::pair<std::string, std::vector<JsonValue>>>& lists,
                          const Manifest& manifest);

/// "manifest" of a json_document with these results.
JsonValue manifest_record(const Manifest& manifest, const std::vector<JsonValue>& results);

/// Objects of records.
std::vector<JsonValue> json_of(const std::vector<Record>& records);

/// {"code", "message", "file", "line", "column", "pointer", "hint"}.
JsonValue problem_record(const Problem& problem);

/// {"error": the first problem, "errors": all of them}, each a problem_record. Requires at least one problem.
std::string problems_json(const std::vector<Problem>& problems);

/// "# athanor 0.1.0 (commit)": what stands above the first table.
std::string version_line();
/// What stands below a table that is not complete.
std::string interruption_line();

}  // namespace athanor
