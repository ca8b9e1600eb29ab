#pragma once

#include <vector>

#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

/// Whether measured tables are of the machines that their scenarios say, and their times, beside what is expected of
/// them (`expected_us`, in the order of the rows), ones that these machines allow; spikes are not looked at. Throws
/// ScenarioError as check_machine() and check_times() find: "another-machine", "units", "faster-than-hardware".
void check_tables(const Tables& tables, const std::vector<double>& expected_us);

}  // namespace athanor
