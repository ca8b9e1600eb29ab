#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/workload/workload_result.hpp"
#include "tools/report/table.hpp"
#include "tools/scenario/trace_section.hpp"

namespace athanor {

/// A trace that was replayed.
struct TraceRow {
  std::string scenario;   ///< the file, as it was named
  std::string case_name;  ///< "" in a scenario without cases
  std::string network;    ///< "ideal", "flow", "packet"
  std::string files;      ///< as the scenario names them
  std::string format;
  std::uint32_t ranks = 0;
  WorkloadResult result;
  std::vector<std::string> notes;
};

/// "chakra trace run/llama.*.et of 64 ranks": what is replayed.
std::string describe(const TraceText& text);

/// What stands above the rows of a case, each row, and behind it where the time went, as lines of text.
std::string trace_header_lines(const TableHeader& header);
std::string trace_row_line(const TraceRow& row);
std::string trace_detail_lines(const TraceRow& row);

/// A result of --json; keys are stable.
nlohmann::ordered_json trace_json(const TraceRow& row);

}  // namespace athanor
