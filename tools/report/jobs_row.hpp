#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "algorithms/schedule/reduction.hpp"
#include "models/execution/run_jobs.hpp"
#include "tools/report/table.hpp"

namespace athanor {

/// One size of several jobs that run at the same time.
struct JobsRow {
  std::string scenario;                 ///< the file, as it was named
  std::string case_name;                ///< "" in a scenario without cases
  Collective collective;                ///< of the scenario
  std::vector<Collective> collectives;  ///< of each job
  DataType type = DataType::float32;
  std::string network;
  Bytes size;  ///< payload of each job that has none of its own
  JobsResult run;
};

/// What stands above the rows of a case, and one line for each job: nccl-tests' columns, then what it takes alone, how
/// often as long it takes beside the others, and as a note where its trees have their roots, why it fell back, and how
/// long it waited. After the last size what marks mean.
std::string jobs_header_lines(const TableHeader& header);
std::string jobs_row_lines(const JobsRow& row);
std::string jobs_footer_lines(const std::vector<JobsRow>& rows, bool interrupted);

/// A result of --json: what all share, "time_us" until the last has ended, and "jobs": [...]. Keys are stable.
nlohmann::ordered_json jobs_json(const JobsRow& row);
/// The same for --csv: a record for each job.
std::vector<nlohmann::ordered_json> jobs_records(const JobsRow& row);

}  // namespace athanor
