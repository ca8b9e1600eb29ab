#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/error.hpp"
#include "tools/report/jobs_row.hpp"
#include "tools/report/manifest.hpp"
#include "tools/report/parameter_server_row.hpp"
#include "tools/report/ranking.hpp"
#include "tools/report/result.hpp"
#include "tools/report/trace_row.hpp"
#include "tools/report/traffic_row.hpp"
#include "tools/report/training_row.hpp"

namespace athanor {

/// {"results": [...], "manifest": {...}}, one result per line.
std::string json_document(const std::vector<nlohmann::ordered_json>& results, const Manifest& manifest);
/// The same with an object beside the results: what was done to find them.
std::string json_document(const std::vector<nlohmann::ordered_json>& results, std::string_view key,
                          const nlohmann::ordered_json& beside, const Manifest& manifest);
/// RFC 4180 lines of the values that each result has for the keys of `columns`, under a line of these keys; what a
/// result lacks is empty.
std::string csv_document(const nlohmann::ordered_json& columns, const std::vector<nlohmann::ordered_json>& results);

/// "manifest" of a json_document with these results.
nlohmann::ordered_json manifest_record(const Manifest& manifest, const std::vector<nlohmann::ordered_json>& results);

/// What a command has found, in the order in which it was found.
struct Results {
  std::vector<ResultRow> rows;
  std::vector<TrafficRow> traffic;
  std::vector<JobsRow> jobs;
  std::vector<ParameterServerRow> parameter_servers;
  std::vector<TrainingRow> training;
  std::vector<TraceRow> traces;
  std::vector<Ranking> rankings;
  /// Further lists of the JSON document by key; each element is JSON in one line.
  std::vector<std::pair<std::string, std::vector<std::string>>> lists;
};

/// As json_document: collectives, then traffic, then several jobs, then training with parameter servers, then steps of
/// training, then traces. Keys are stable; those about a measurement are absent where nothing was measured, those about
/// packets at other levels, and those about several seeds (seeds, time_us_p5, time_us_p95, busbw_gbps_p5,
/// busbw_gbps_p95) where there is one. Where there are rankings, they stand between results and manifest: "rankings":
/// [{"case", "bytes", "algorithms", "correlation", "predicted", "measured", "regret"}]; and so do further lists.
std::string results_json(const Results& results, const Manifest& manifest);

/// One JSON object for each result, as in results_json.
std::vector<nlohmann::ordered_json> result_records(const Results& results);

/// The same results as csv_document, of several jobs a line for each; what a result lacks is empty.
std::string results_csv(const Results& results);

/// {"code", "message", "file", "line", "column", "pointer", "hint"}.
nlohmann::ordered_json problem_record(const Problem& problem);

/// {"error": the first problem, "errors": all of them}, each a problem_record. Requires at least one problem.
std::string problems_json(const std::vector<Problem>& problems);

}  // namespace athanor
