#pragma once

#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/measure/machine.hpp"
#include "tools/measure/run.hpp"

namespace athanor {

/// What stands above the rows: the machine, what carries out, how often, and the names of the columns.
std::string measured_header(const MeasureRequest& request, const std::vector<Backend*>& backends,
                            const std::string& machine);

/// The lines of one point: nccl-tests' columns, out of place and in place side by side, then ranks, the time of the
/// fastest iteration in both places, algorithm and backend. A place that was not measured shows dashes.
std::string measured_lines(const std::vector<MeasuredRow>& rows);

/// nccl-tests' last lines: how many results were wrong, and the mean bus bandwidth.
std::string measured_footer(const std::vector<MeasuredRow>& rows);

/// The keys of simulated results where they mean the same, and in_place, min_time_us, iterations, wrong, backend.
JsonValue measured_json(const MeasureRequest& request, const MeasuredRow& row);

/// As a measurement file holds them. `machine`, `source` and `id` are for the caller to add.
Measurement to_measurement(const MeasureRequest& request, const std::vector<Backend*>& backends,
                           const std::vector<MeasuredRow>& rows);

}  // namespace athanor
