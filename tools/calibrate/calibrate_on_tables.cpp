#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/experiments/mpi.hpp"
#include "models/experiments/scenario/software_section.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "tools/calibrate/anchors/table_checks.hpp"
#include "tools/calibrate/calibration_json.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/pool/pooled_fit.hpp"
#include "tools/calibrate/pool/stack_cases.hpp"
#include "tools/calibrate/pool/stack_profile.hpp"
#include "tools/calibrate/tables/mpi_tables.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

namespace {

/// The cases of the scenarios that name a measurement, with --case applied.
Tables tables_of(const CalibrateOptions& options) {
  Tables tables = Tables::of(read_scenarios(options.tables, options.common.library, changes_of(options.scenario)));
  if (tables.rows.empty()) {
    throw UsageError("calibrate: --tables: no case of these scenarios simulates a size that its \"verify\" measured");
  }
  return tables;
}

/// All cases are of the stack that is calibrated, whatever their profiles are called.
std::vector<StackCase> one_stack(const Tables& tables) {
  std::vector<StackCase> cases = stack_cases(tables);
  for (StackCase& each : cases) { each.stack = cases.front().stack; }
  return cases;
}

std::string percent(const BandErrors& errors, std::size_t band) {
  return errors.points.at(band) == 0 ? "-" : fmt::format("{:.1f}", errors.mean.at(band) * 100);
}

/// "LL.step  0.6 us -> 0.52 us, within 4 %": the figures that rows tell, those told most first.
std::string changes(const PooledModel& model, const PooledFit& fit) {
  struct Change {
    double told;  ///< how much narrower it has become
    std::string line;
  };
  std::vector<Change> lines;
  const Spreads prior = model.prior(fit.spreads);
  for (std::size_t i = 0; i < model.effects().size(); ++i) {
    constexpr double kTold = 0.8;  // of the spread before: what is hardly narrower was not told
    const double spread = std::sqrt(fit.variances[i]);
    if (spread > kTold * prior[i]) { continue; }
    const Figure& figure = figures()[model.effects()[i].figures.front()];
    const double after = figure.get(model.profile(0, fit.posterior.mode));
    const double before = figure.get(model.profile(0, std::vector<double>(prior.size())));
    lines.push_back({spread / prior[i], fmt::format("#   {:<24} {:>12} -> {:<12} within {:.0f} % (before: {:.0f} %)\n",
                                                    figure.name, figure_text(figure, before),
                                                    figure_text(figure, after), spread * 100, prior[i] * 100)});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Change& a, const Change& b) { return a.told < b.told; });
  std::string text = "# figures that the rows tell\n";
  for (const Change& each : lines) { text += each.line; }
  return text;
}

std::string error_lines(const std::vector<TableError>& errors) {
  std::string text = "# mean |error| in %                              <1MiB <64MiB  above\n";
  for (const TableError& each : errors) {
    text += fmt::format("# {:<44} {:>6} {:>6} {:>6}\n", each.table, percent(each.errors, 0), percent(each.errors, 1),
                        percent(each.errors, 2));
  }
  return text;
}

std::string summary(const PooledModel& model, const PooledFit& fit) {
  return error_lines(errors_by_table(model.tables(), fit.posterior.residuals)) + changes(model, fit);
}

std::string summary(const Tables& tables, const MpiTablesFit& fit) {
  std::string text = error_lines(errors_by_table(tables, fit.residuals)) + "# figures, and what was expected of them\n";
  for (const MpiFigure& each : fit.figures) {
    const Figure written{.unit = each.unit};
    text += fmt::format("#   {:<24} {:>12}, expected {} within a factor of {:.2g}\n", each.name,
                        figure_text(written, each.get(fit.profile)), figure_text(written, each.typical),
                        std::exp(each.spread));
  }
  return text;
}

/// A figure at the bound of what is plausible explains nothing; a share may be all of the hardware.
void check_bounds(const MpiTablesFit& fit) {
  for (const MpiFigure& each : fit.figures) {
    const double value = each.get(fit.profile);
    const bool whole = each.most == 1;
    if (value > each.least * 1.01 && (value < each.most * 0.99 || whole)) { continue; }
    throw UsageError(
        fmt::format("calibrate: {} ends at the bound of what is plausible; rows are of another machine than their "
                    "scenario says, or of something that is not modelled",
                    each.name));
  }
}

ExitCode calibrate_mpi_on_tables(const CalibrateOptions& options, const Streams& streams, const Tables& tables) {
  Progress progress(streams, !options.common.quiet);
  MpiTablesFitSettings settings;
  settings.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const MpiTablesFit fit = fit_mpi_tables(tables, settings);
  progress.clear();
  check_bounds(fit);
  Profile profile = fit.profile;
  const Tables::MeasuredCase& first = tables.cases.front();
  profile.name = profile_name(options);
  profile.fitted = domain_of(tables);
  const std::size_t count = profile.fitted.measurements.size();
  profile.description =
      fmt::format("{} as it was measured in {} table{}", name_of(*first.setup.mpi), count, count == 1 ? "" : "s");
  profile.source = "athanor calibrate --backend tables";
  profile.transport = first.platform.profile->transport;
  write_profile(options, streams,
                profile_json(profile, {{"date", calibration_date()},
                                       {"versions", calibration_versions()},
                                       {"tables", kinds_json(tables)},
                                       {"fit", errors_json(errors_by_table(tables, fit.residuals))}}),
                summary(tables, fit));
  return ExitCode::ok;
}

}  // namespace

SoftwarePool expected_of_stacks(const CalibrateOptions& options) {
  const Library& library = options.common.library;
  const std::string usual(kDefaultPool);
  if (!options.pool && !library.has(LibraryFolder::pools, usual)) { return assumed_pool(); }
  return read_pool(library, options.pool.value_or(usual));
}

void check_expected(PooledModel& model) {
  const std::vector<double> residuals = model.residuals(std::vector<double>(model.effects().size()));
  std::vector<double> expected_us;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    expected_us.push_back(model.tables().rows[i].measured_us * std::exp(residuals[i]));
  }
  check_tables(model.tables(), expected_us);
}

std::string at_bounds_text(const PooledModel& model, const PooledFit& fit, std::string_view before) {
  std::string text;
  for (const FigureAtBound& each : model.at_bounds(fit.posterior.mode)) {
    const Figure& figure = figures()[each.figure];
    text += fmt::format("{}{} of {}: {}", before, figure.name, each.stack, figure_text(figure, each.bound));
  }
  return text;
}

void check_bounds(const PooledModel& model, const PooledFit& fit) {
  const std::string words = at_bounds_text(model, fit, "\n  ");
  if (words.empty()) { return; }
  throw UsageError(fmt::format(
      "calibrate: figures that end at the least or the most that stacks have kept explain nothing; rows are of "
      "another machine than their scenario says, or of something that is not modelled:{}",
      words));
}

std::string figure_text(const Figure& figure, double value) {
  switch (figure.unit) {
    case FigureUnit::time: return fmt::format("{:.3g} us", value * 1e-6);
    case FigureUnit::bandwidth: return fmt::format("{:.3g} GB/s", value * 1e-9);
    case FigureUnit::share: break;
  }
  return fmt::format("{:.3f}", value);
}

ExitCode calibrate_on_tables(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  Tables tables = tables_of(options);
  if (are_of_mpi(tables)) { return calibrate_mpi_on_tables(options, streams, tables); }
  Progress progress(streams, !options.common.quiet);
  std::vector<StackCase> cases = one_stack(tables);
  const SoftwarePool pool = expected_of_stacks(options);
  PooledModel model(std::move(tables), std::move(cases), pool);
  check_expected(model);
  PooledFitSettings settings;
  settings.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const PooledFit fit = fit_pool(model, std::vector<double>(model.tables().rows.size(), 1), settings);
  progress.clear();
  check_bounds(model, fit);
  Profile profile = model.profile(0, fit.posterior.mode);
  profile.transport = model.cases().front().parts.transport;
  profile.within_node = model.cases().front().within_node;
  HeldOutResiduals residuals;
  residuals.front() = fit.posterior.residuals;
  const StackNote note{profile_name(options),
                       fmt::format("athanor calibrate --backend tables, expecting what {} says", pool.name),
                       calibration_date(), calibration_versions()};
  write_profile(options, streams, stack_profile(std::move(profile), model.tables(), residuals, note),
                summary(model, fit));
  return ExitCode::ok;
}

}  // namespace athanor
