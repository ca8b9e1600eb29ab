#pragma once

#include <string>
#include <vector>

#include "tools/report/result.hpp"

namespace athanor {

/// What stands above the rows of one case, as lines that start with '#'.
struct TableHeader {
  std::string title;  ///< the case's or the scenario's name, "" for none
  std::string cluster;
  std::string profile;  ///< "" for traffic and training
  std::string network;
  std::string measurement;  ///< "" where nothing is compared
  std::uint64_t seed = 0;
  std::vector<std::uint64_t> seeds = {};  ///< of repetitions; empty: `seed` alone
  std::string traffic = "";               ///< its pattern; "" for a collective
  std::string training = "";              ///< who trains how; "" for all else
  std::string trace = "";                 ///< what is replayed; "" for all else
};

/// A number in `width` characters, as nccl-tests prints it: two decimals if they fit, else one, none, or an exponent.
std::string fitted(double value, std::size_t width);
/// The same of milliseconds; below 0.1 ms with four decimals, since short traces and steps are told in them, too.
std::string fitted_ms(Time time, std::size_t width);

/// "# athanor 0.1.0 (commit)": what stands above the first table.
std::string version_line();

/// nccl-tests' columns (size count type redop root time algbw busbw), then the 5th and 95th percentile of time and
/// busbw where there are several seeds, the hardware's bound, the measurement where there is one, algorithm, protocol,
/// channels, and what limited it. Lines of a table: header_lines
/// (description_lines and the names of the columns), then
/// one row_line per row as it becomes known, then footer_lines.
std::string description_lines(const TableHeader& header);
std::string header_lines(const TableHeader& header);
std::string row_line(const ResultRow& row, bool measured);
/// The mean bus bandwidth, and what marks in the rows mean. `interrupted`: says that rows are missing.
std::string footer_lines(const std::vector<ResultRow>& rows, bool interrupted);
std::string interruption_line();

}  // namespace athanor
