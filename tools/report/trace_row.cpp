#include "tools/report/trace_row.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/format.hpp"
#include "tools/report/workload_parts.hpp"

namespace athanor {

std::string describe(const TraceText& text) {
  return fmt::format("{} of {} ranks: {}", name(text.trace->format), text.trace->ranks, fmt::join(text.files, " "));
}

std::string trace_header_lines(const TableHeader& header) {
  return description_lines(header) +
         fmt::format("#{:>11} {:>10} {:>10} {:>10}\n", "time", "computing", "exposed", "waiting") +
         fmt::format("#{:>11} {:>10} {:>10} {:>10}\n", "(ms)", "(%)", "(%)", "(%)");
}

std::string trace_row_line(const TraceRow& row) {
  const WorkloadShares shares = shares_of(row.result, row.result.time);
  return fmt::format("{} {:>10.2f} {:>10.2f} {:>10.2f}\n", fitted_ms(row.result.time, 12), shares.computing * 100,
                     shares.all_exposed() * 100, shares.waiting * 100);
}

std::string trace_detail_lines(const TraceRow& row) {
  const std::string exposed = exposed_text(shares_of(row.result, row.result.time));
  std::string lines = exposed.empty() ? "" : fmt::format("#   exposed: {}\n", exposed);
  lines += call_lines(row.result);
  for (const std::string& note : row.notes) { lines += fmt::format("#   {}\n", note); }
  return lines;
}

nlohmann::ordered_json trace_json(const TraceRow& row) {
  const WorkloadShares shares = shares_of(row.result, row.result.time);
  return {{"scenario", row.scenario},
          {"case", row.case_name},
          {"trace", row.files},
          {"format", row.format},
          {"ranks", row.ranks},
          {"step_time_s", seconds(row.result.time)},
          {"exposed_comm_s", shares.all_exposed() * seconds(row.result.time)},
          {"breakdown", breakdown_json(shares, "waiting")},
          {"operations", row.result.operations},
          {"network", row.network},
          {"notes", row.notes}};
}

}  // namespace athanor
