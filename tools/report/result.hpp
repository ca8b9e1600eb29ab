#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/reduction.hpp"
#include "models/execution/run.hpp"

namespace athanor {

/// One line of a result table: one collective of one size, as its fastest candidate ran it.
struct ResultRow {
  std::string scenario;   ///< the file, as it was named
  std::string case_name;  ///< "" in a scenario without cases
  Collective collective;
  DataType type = DataType::float32;
  std::string network;  ///< "ideal", "flow"
  RunResult run;
  std::optional<double> measured_us;
};

/// nccl-tests' columns, in GB/s; 0 for a time of zero.
double algorithm_bandwidth(const ResultRow& row);
double bus_bandwidth(const ResultRow& row);

/// Elements per call argument, as nccl-tests prints them: the part of one peer for all-gather, reduce-scatter and
/// all-to-all (rounded up), else all of them.
std::int64_t count_per_argument(const Collective& collective);

/// The root of collectives that have one, else -1.
std::int64_t printed_root(const Collective& collective);

/// simulated / measured - 1; none without a measurement.
std::optional<double> error(const ResultRow& row);

}  // namespace athanor
