#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/calibrate/search.hpp"
#include "tools/cli/scenarios.hpp"

// What `athanor calibrate` does for each backend, and what these have in common.
namespace athanor {

struct Figure;
struct PooledFit;
struct SoftwarePool;
class PooledModel;

struct CalibrateOptions {
  CommonOptions common;
  ScenarioOptions scenario;         ///< --case alone
  std::vector<std::string> tables;  ///< scenarios
  std::vector<std::string> rows;    ///< "8B=31us"
  std::optional<std::string> rows_file;
  std::optional<Time> step;           ///< of training
  std::optional<std::uint32_t> nics;  ///< of each node, that rows were measured with
  std::optional<std::string> backend, profile, profiles, residuals, pool, cluster, refit, output;
  std::optional<std::vector<std::string>> free, hold_out;
  std::vector<std::uint32_t> ranks;
  bool quick = false;
};
void visit(OptionFields& fields, CalibrateOptions& options);

/// Whether `what` is held out. Throws UsageError where one of --hold-out is none of `known`.
bool holds_out(const CalibrateOptions& options, const std::string& what, const std::vector<std::string>& known);

/// A profile that was found, and what is said of it.
struct Calibrated {
  JsonValue profile;
  std::string summary;  ///< lines that begin with '#'
};
/// Of the threads of this machine, and of its GPUs: measures, or, with --refit, reads, and fits. Throw as these.
Calibrated calibrated_threads(const CalibrateOptions& options, Progress& progress);
Calibrated calibrated_gpus(const CalibrateOptions& options, Progress& progress);

ExitCode calibrate_threads(const CalibrateOptions& options, const Streams& streams);
/// In every process that mpirun has started alike; one of them fits and writes.
ExitCode calibrate_over_mpi(const CalibrateOptions& options, const Streams& streams);

ExitCode calibrate_on_gpus(const CalibrateOptions& options, const Streams& streams);
/// From tables that others measured, which the scenarios of --tables name.
ExitCode calibrate_on_tables(const CalibrateOptions& options, const Streams& streams);
/// What all tables of the scenarios of --tables tell of any stack.
ExitCode calibrate_pool(const CalibrateOptions& options, const Streams& streams);
/// What all measured steps of the scenarios of --tables tell of computing.
ExitCode calibrate_steps(const CalibrateOptions& options, const Streams& streams);
/// The compute profile of training steps that others measured, which the scenarios of --tables have.
ExitCode calibrate_on_training(const CalibrateOptions& options, const Streams& streams);

/// One stack's profile from a few of its times, of --row or --rows.
ExitCode calibrate_on_rows(const CalibrateOptions& options, const Streams& streams);
/// A compute profile from one measured step.
ExitCode calibrate_on_step(const CalibrateOptions& options, const Streams& streams);

/// The only case of the scenario that is the only argument, with --case applied. Throws UsageError where it has
/// several.
Scenario scenario_of_one_case(const CalibrateOptions& options);
/// --pool, the library's, or what is assumed where it has none.
SoftwarePool expected_of_stacks(const CalibrateOptions& options);
/// Throws as check_tables(), by what is expected of stacks before their rows are looked at.
void check_expected(PooledModel& model);
/// Figures that a fit has taken to their bounds, each behind `before`; "": none.
std::string at_bounds_text(const PooledModel& model, const PooledFit& fit, std::string_view before);
/// Throws UsageError where a fit has taken figures to their bounds: of rows that these figures do not explain.
void check_bounds(const PooledModel& model, const PooledFit& fit);
/// "0.6 us", "12.3 GB/s", "0.920".
std::string figure_text(const Figure& figure, double value);

/// "2026-11-21", of UTC.
std::string calibration_date();
/// Of Athanor and its compiler.
std::string calibration_versions();
/// Of the profile that goes to --output; without one "this machine".
std::string profile_name(const CalibrateOptions& options);
/// A line for what was fitted and one for what was held out.
std::string error_lines(const std::vector<TimedProbe>& probes);
/// Writes the profile to --output, and to where --json says; else prints the summary.
void write_profile(const CalibrateOptions& options, const Streams& streams, const JsonValue& profile,
                   const std::string& summary);
inline void write_profile(const CalibrateOptions& options, const Streams& streams, const Calibrated& found) {
  write_profile(options, streams, found.profile, found.summary);
}

}  // namespace athanor
