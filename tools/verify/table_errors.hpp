#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "tools/verify/error_summary.hpp"
#include "tools/verify/published_table.hpp"

namespace athanor {

/// One case as it was held against its table, that of its reference. Borrows the case.
struct VerifiedCase {
  std::string scenario;  ///< its path
  const Case* scenario_case = nullptr;
  std::vector<Record> records;  ///< in order of size
};

/// How far the simulation of one measured table is off.
struct TableErrors {
  std::string table;    ///< the measurement's id
  std::string stack;    ///< the scenario of the first case: its file's name without the ending
  std::string library;  ///< "NCCL", "RCCL", "MPI", or "athanor", which measured it itself
  std::string algo;     ///< of the table
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::uint32_t ranks = 0;       ///< most of all cases
  std::vector<ErrorBand> bands;  ///< as error_bands makes them, without isolated spikes
  ErrorBand all;                 ///< of all sizes
  std::vector<Bytes> spikes;     ///< left out
  std::vector<std::optional<double>> band_noise;
  std::optional<double> table_noise;  ///< over all sizes
  std::optional<bool> agreed;         ///< whether what is known of the library's choice was chosen; none: nothing is
  std::string choices;                ///< of the first case, by size
  bool extrapolated = false;          ///< some row is outside of its profile's domain
  std::vector<std::pair<std::string, std::string>> cases;  ///< scenario and name of each

  bool noisy() const { return table_noise.value_or(0) > kNoisy; }
};

std::string library_of(const Measurement& measurement);

/// Of the cases of one measurement; requires one.
TableErrors table_errors(const std::vector<VerifiedCase>& cases);

/// Median over the tables that have points in a band, of the band's mean error; of an even number the mean of the two
/// in the middle. Nothing without tables.
std::optional<double> median_error(const std::vector<TableErrors>& tables, std::size_t band);

/// A header, a line for each table, ordered by library; then medians by library and of all, noisy tables apart.
std::string table_error_lines(const std::vector<TableErrors>& tables);
/// Further lists of a document of results: "tables" and "medians".
std::vector<std::pair<std::string, std::vector<JsonValue>>> table_error_json(const std::vector<TableErrors>& tables);

}  // namespace athanor
