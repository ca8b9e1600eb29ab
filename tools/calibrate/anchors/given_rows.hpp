#pragma once

#include <string>
#include <vector>

#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "sim/file.hpp"
#include "tools/verify/published_table.hpp"

namespace athanor {

/// Times that a user vouches for: of --row, or of a file.
struct GivenRows {
  std::string file;                   ///< "" of --row
  std::string text;                   ///< of the file, where a program printed it: what else it tells
  Measurement measurement;            ///< facts of the machine, as far as the file has them
  std::vector<TablePoint> points;     ///< of the scenario's collective, in order of size
  std::vector<std::string> left_out;  ///< in words: points of a table that something disturbed

  /// "--row 8B=31us", "8 B in 31 us of run.log": what a user knows it by.
  std::string name(const TablePoint& point) const;
};

/// Of "8B=31us" and so on. Throws UsageError for what is no size with its time, ScenarioError "rows-contradict" for a
/// size with two times or a payload that took less than a smaller one, by more than 10 %.
GivenRows given_rows(const std::vector<std::string>& texts, const CollectiveSetup& setup);

/// Of the output of nccl-tests, rccl-tests or OSU's benchmarks, or of a measurement file. What is not said, the
/// collective and the ranks, is the scenario's. Isolated spikes, and what took a quarter longer than a larger payload,
/// are left out. Throws FileError, ScenarioError: "no-rows" where nothing is of the scenario's collective and ranks,
/// "rows-contradict" where a third would be left out.
GivenRows read_given_rows(const std::string& path, const FileReader& files, const CollectiveSetup& setup);

}  // namespace athanor
