#pragma once

#include <string>
#include <vector>

#include "models/experiments/record.hpp"
#include "models/jobs/data/data_rules.hpp"
#include "models/jobs/job.hpp"

namespace athanor {

/// What a run of a workload says of data.
struct DataOutcome {
  IdVector<JobId, DataAccount> jobs;
  std::vector<StorageAccount> storages;
};

void put_data(const DataOutcome& data, const JobList& jobs, const DataRules& rules, Record& record);

/// Columns of jobs one by one, behind a comma each; empty where they read nothing.
std::string data_names();
std::string data_fields(const DataOutcome* data, JobId job);

}  // namespace athanor
