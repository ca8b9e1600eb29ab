#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/traffic/traffic_summary.hpp"
#include "tools/report/table.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// What repetitions of traffic with several seeds gave, beside the run that is reported.
struct TrafficSpread {
  std::uint32_t seeds = 0;
  double kept_p5 = 0;
  double kept_p95 = 0;
  Time mean_p5;  ///< of the mean completion time; 0 in a window
  Time mean_p95;
};

/// One line of a table of traffic: all messages of one size.
struct TrafficRow {
  std::string scenario;   ///< the file, as it was named
  std::string case_name;  ///< "" in a scenario without cases
  std::string pattern;
  std::string network;  ///< "ideal", "flow", "packet"
  std::uint32_t endpoints = 0;
  Bytes size;  ///< of a message; 0: they have sizes of their own
  std::uint64_t seed = 1;
  std::shared_ptr<const Cluster> cluster;
  TrafficMatrix matrix;
  SimulatedTraffic simulated;
  TrafficSummary summary;
  std::optional<TrafficSpread> spread = {};
};

/// The repetitions of one row as one: the run of the median share of bandwidth that was kept, with the spread of all.
/// Percentiles are by nearest rank. Requires at least one.
TrafficRow summarised(std::vector<TrafficRow> repetitions);

/// What stands above the rows of a case, each row, and the busiest link and what became of packets behind them, as
/// lines of text.
std::string traffic_header_lines(const TableHeader& header);
std::string traffic_row_line(const TrafficRow& row);
std::string traffic_detail_lines(const TrafficRow& row);

/// A result of --json; keys are stable. Times of completion are absent in a window, and what is about packets at other
/// levels.
nlohmann::ordered_json traffic_json(const TrafficRow& row);

/// Lines of --flows: every message with its ends, start, end and time alone. traffic_flow_names(): the line above them.
std::string traffic_flow_names();
std::string traffic_flow_lines(const TrafficRow& row);

}  // namespace athanor
