#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/error.hpp"
#include "tools/report/manifest.hpp"
#include "tools/report/result.hpp"

namespace athanor {

/// {"results": [...], "manifest": {...}}, one result per line. Keys are stable; those about a measurement are absent
/// where nothing was measured.
std::string results_json(const std::vector<ResultRow>& rows, const Manifest& manifest);

/// The same results as RFC 4180 lines under a line of the same keys; what was not measured is empty.
std::string results_csv(const std::vector<ResultRow>& rows);

/// {"error": the first problem, "errors": all of them}, each {"code", "message", "file", "line", "column", "pointer",
/// "hint"}. Requires at least one problem.
std::string problems_json(const std::vector<Problem>& problems);

}  // namespace athanor
