#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/reduction.hpp"
#include "models/engines/nic_offload.hpp"
#include "models/execution/run.hpp"

namespace athanor {

/// What repetitions with several seeds took, beside the median.
struct Spread {
  std::uint32_t seeds = 0;
  Time p5;
  Time p95;
};

/// One line of a result table: one collective of one size, as its fastest candidate ran it.
struct ResultRow {
  std::string scenario;   ///< the file, as it was named
  std::string case_name;  ///< "" in a scenario without cases
  Collective collective;
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::string network;  ///< "ideal", "flow"
  RunResult run;
  std::optional<double> measured_us;
  std::optional<Overlap> overlap = {};  ///< with what hosts compute beside it
  std::optional<Spread> spread = {};    ///< of several seeds; `run` is then the one of the median
};

/// The repetitions of one row as one: the run whose time is the median, with the spread of all times. Percentile p is
/// the least time that at least p of all hundred do not exceed (nearest rank), so each is a time that occurred.
/// Requires at least one.
ResultRow summarised(std::vector<ResultRow> repetitions);

/// nccl-tests' columns, in GB/s; 0 for a time of zero.
double algorithm_bandwidth(const ResultRow& row);
double bus_bandwidth(const ResultRow& row);
/// As it was in a run of the same payload that took `time`.
double bus_bandwidth(const ResultRow& row, Time time);

/// Elements per call argument, as nccl-tests prints them: the part of one peer for all-gather, reduce-scatter and
/// all-to-all (rounded up), else all of them.
std::int64_t count_per_argument(const Collective& collective);

/// The root of collectives that have one, else -1.
std::int64_t printed_root(const Collective& collective);

/// simulated / measured - 1; none without a measurement.
std::optional<double> error(const ResultRow& row);

}  // namespace athanor
