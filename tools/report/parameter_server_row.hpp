#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/training/parameter_server/parameter_server.hpp"
#include "tools/report/table.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// Updates per second of repetitions with several seeds, beside the run that is reported.
struct UpdateSpread {
  std::uint32_t seeds = 0;
  double p5 = 0;
  double p95 = 0;
};

/// One line of a table of training with parameter servers: one model.
struct ParameterServerRow {
  std::string scenario;   ///< the file, as it was named
  std::string case_name;  ///< "" in a scenario without cases
  std::string network;    ///< "ideal", "flow", "packet"
  std::uint64_t seed = 1;
  std::shared_ptr<const Cluster> cluster;
  ParameterServerSetup setup;
  ParameterServerResult result;
  std::optional<UpdateSpread> spread = {};
};

/// The repetitions of one row as one: the run of the median updates per second, with the spread of all. Percentiles are
/// by nearest rank. Requires at least one.
ParameterServerRow summarised(std::vector<ParameterServerRow> repetitions);

/// Of the gradients that were used: how many updates there were between their parameters and them.
double mean_staleness(const ParameterServerResult& result);

/// What stands above the rows of a case, each row, and the busiest link and what became of packets behind them, as
/// lines of text.
std::string parameter_server_header_lines(const TableHeader& header);
std::string parameter_server_row_line(const ParameterServerRow& row);
std::string parameter_server_detail_lines(const ParameterServerRow& row);

/// A result of --json; keys are stable. Those about several seeds are absent where there is one, those about packets at
/// other levels.
nlohmann::ordered_json parameter_server_json(const ParameterServerRow& row);

}  // namespace athanor
