#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "models/execution/candidate.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/software/profile.hpp"

namespace athanor {

/// Simulated times of one row's collective, remembered: a search changes few of the figures that a candidate depends
/// on at a time. Threads may share it.
class RowTimes {
 public:
  /// Of the fastest of the request's candidates. Requires that all requests differ in their profiles alone.
  Time fastest(const RunRequest& request);

 private:
  Time of(const RunRequest& request, const Candidate& candidate);

  using Key = std::vector<std::int64_t>;
  using Times = std::map<Key, Time>;
  std::optional<Time> known(const Times& times, const Key& key) const;
  void remember(Times& times, const Key& key, Time time);

  mutable std::mutex mutex_;
  Times alone_;     ///< without launch, by algorithm and what its protocol costs
  Times in_loops_;  ///< of calls that do not take what one alone does: by launch, too
};

/// One measured time of a table, and the case that simulates it.
struct TableRow {
  std::size_t in_case = 0;  ///< of Tables::cases
  std::size_t table = 0;    ///< of the first of these cases that names the same measurement
  Bytes size;
  double measured_us = 0;
  bool spike = false;       ///< isolated: fitted with the others, whose weight it does not have, and not judged
  double simulated_us = 0;  ///< as it is judged
  std::shared_ptr<RowTimes> times = std::make_shared<RowTimes>();
};

/// Measured tables and the cases that simulate them.
struct Tables {
  /// A collective that was measured, and what it ran on.
  struct MeasuredCase {
    Platform platform;
    CollectiveSetup setup;  ///< with a verification
  };
  std::vector<MeasuredCase> cases;
  std::vector<TableRow> rows;

  /// Of all cases that name a measurement: the rows that they simulate and that were measured.
  static Tables of(const std::vector<Scenario>& scenarios);
  /// Whether a table of this name has more noise than a model can be held against (kNoisy).
  bool noisy(const std::string& table) const;
  const std::string& name(const TableRow& row) const { return cases[row.table].setup.verification->measurement.id; }
};

/// What the flow level says of a row of a case, with the platform's profile.
double simulated_us(const Platform& platform, const CollectiveSetup& setup, const TableRow& row);
inline double simulated_us(const Tables::MeasuredCase& measured, const TableRow& row) {
  return simulated_us(measured.platform, measured.setup, row);
}

/// Mean |simulated / measured - 1| of the rows that are no spikes, below 1 MiB, from there to 64 MiB, and above.
struct BandErrors {
  std::array<double, 3> mean{};
  std::array<std::size_t, 3> points{};
};
BandErrors band_errors(const std::vector<TableRow>& rows);

}  // namespace athanor
