#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/pool/held_out_errors.hpp"
#include "tools/calibrate/pool/hold_out.hpp"
#include "tools/calibrate/pool/residual_table.hpp"
#include "tools/calibrate/pool/stack_cases.hpp"
#include "tools/calibrate/pool/stack_profile.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/cli/streams.hpp"

namespace athanor {

namespace {

constexpr std::size_t kBands = 3;
constexpr std::uint32_t kMostRanks =
    64;  // larger ones take seconds, and are simulated thousands of times: they stay unseen

/// Of the tables that are not noisy, by band: the median of their mean errors, and how many they are.
std::string medians(const char* title, const Tables& tables, const std::vector<double>& residuals) {
  std::array<std::vector<double>, kBands> errors;
  std::size_t count = 0;
  for (const TableError& each : errors_by_table(tables, residuals)) {
    if (tables.noisy(each.table)) { continue; }
    ++count;
    for (std::size_t band = 0; band < kBands; ++band) {
      if (each.errors.points.at(band) > 0) { errors.at(band).push_back(each.errors.mean.at(band)); }
    }
  }
  if (count == 0) { return ""; }
  std::string line = fmt::format("# {:<36} {:>6}", title, count);
  for (std::vector<double>& band : errors) {
    std::sort(band.begin(), band.end());
    const std::size_t half = band.size() / 2;
    const double median = band.empty() ? 0 : band.size() % 2 == 1 ? band[half] : (band[half - 1] + band[half]) / 2;
    line += fmt::format(" {:>6.1f}", median * 100);
  }
  return line + "\n";
}

/// Of the claim that eight of ten measured times lie within the interval, in %: one line for each thing that was held
/// out, under a head; nothing where nothing was.
std::string coverages(const PooledModel& model, const HeldOutResiduals& residuals) {
  std::string text;
  const std::vector<Coverage> all = coverage(model.tables(), model.cases(), residuals);
  for (const Knowledge knowledge : kKnowledges) {
    std::array<std::string, kBands> bands{"-", "-", "-"};
    bool any = false;
    for (const Coverage& each : all) {
      if (each.knowledge != knowledge) { continue; }
      any = true;
      bands.at(static_cast<std::size_t>(each.band)) =
          fmt::format("{:.0f} ({:.0f} %)", each.share * 100, each.median_width * 100);
    }
    if (any) {
      text += fmt::format("# known: {:<28} {:>13} {:>13} {:>13}\n", name(knowledge), bands[0], bands[1], bands[2]);
    }
  }
  if (text.empty()) { return ""; }
  return "# rows within the interval of 80 %, in %, and its median width\n" +
         fmt::format("# {:<35} {:>13} {:>13} {:>13}\n", "", "<1MiB", "<64MiB", "above") + text;
}

std::string summary(const PooledModel& model, const HeldOutResiduals& residuals) {
  constexpr std::array<const char*, kHeldOuts> kTitles{"fitted on it",
                                                       "sizes that were not fitted",
                                                       "table that was not fitted",
                                                       "stack that was not fitted",
                                                       "stack of which two rows were fitted",
                                                       "collective that was not fitted"};
  std::string text = "# median over tables, |error| in %       tables  <1MiB <64MiB  above\n";
  for (std::size_t what = 0; what < kHeldOuts; ++what) {
    if (!residuals.at(what).empty()) { text += medians(kTitles.at(what), model.tables(), residuals.at(what)); }
  }
  return text + coverages(model, residuals);
}

HeldOutResiduals held_out_residuals(const CalibrateOptions& options, PooledModel& model, const PooledFit& fit,
                                    Progress& progress) {
  const std::vector<std::string> known{"sizes", "tables", "stacks", "two", "collectives"};
  HeldOutResiduals residuals;
  residuals.front() = fit.posterior.residuals;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!holds_out(options, known[i], known)) { continue; }
    progress.show(fmt::format("calibrating: holding out {}", known[i]));
    residuals.at(i + 1) = hold_out(model, fit, static_cast<HeldOut>(i + 1));
  }
  return residuals;
}

/// The rows of a stack, and what was found of them.
HeldOutResiduals of_rows(const HeldOutResiduals& all, const Tables& whole, const std::vector<StackCase>& cases,
                         const std::string& stack) {
  HeldOutResiduals result;
  for (std::size_t what = 0; what < kHeldOuts; ++what) {
    for (std::size_t row = 0; row < all.at(what).size(); ++row) {
      if (cases.at(whole.rows[row].in_case).stack == stack) { result.at(what).push_back(all.at(what)[row]); }
    }
  }
  return result;
}

/// What a stack was not measured with, links between nodes say, is as the pool expects it of NCCL's own transport: a
/// profile is used on other machines, too.
void fill_in(const SoftwarePool& pool, const StackParts& parts, Profile& profile) {
  StackParts more = parts;
  if (more.transport.empty()) { more.transport = transports().front().name; }
  for (std::size_t i = 0; i < figures().size(); ++i) {
    const Figure& figure = figures()[i];
    if (matters(figure, parts) || !matters(figure, more)) { continue; }
    figure.set(profile, expected(pool.figures[i], figure, more).value);
  }
}

/// Of a stack's cases the one whose figures are the most: between nodes, if any is.
std::size_t widest_case(const PooledModel& model, const std::string& stack) {
  const std::vector<std::size_t> own = model.cases_of(stack);
  const auto between_nodes = [&](std::size_t i) { return !model.cases()[i].parts.transport.empty(); };
  const auto found = std::find_if(own.begin(), own.end(), between_nodes);
  return found == own.end() ? own.front() : *found;
}

void write_profiles(const std::string& directory, const PooledModel& model, const PooledFit& fit,
                    const HeldOutResiduals& residuals) {
  const SoftwarePool pool = pool_of(model, fit);
  for (const std::string& stack : model.stacks()) {
    const std::size_t widest = widest_case(model, stack);
    const StackCase& of = model.cases()[widest];
    Profile profile = model.profile(widest, fit.posterior.mode);
    fill_in(pool, of.parts, profile);
    profile.transport = of.parts.transport;
    profile.within_node = of.within_node;
    const StackNote note{stack, "athanor calibrate --backend pool", calibration_date(), calibration_versions()};
    const JsonValue json = stack_profile(std::move(profile), tables_of_stack(model.tables(), model.cases(), stack),
                                         of_rows(residuals, model.tables(), model.cases(), stack), note);
    write_text_file((std::filesystem::path(directory) / (stack + ".json")).string(), text_of(json, 2) + "\n");
  }
}

}  // namespace

ExitCode calibrate_pool(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  if (options.residuals) { check_writable(*options.residuals); }
  Progress progress(streams, !options.common.quiet);
  Tables tables = Tables::of(read_scenarios(options.tables, options.common.library, changes_of(options.scenario)));
  std::erase_if(tables.rows, [&](const TableRow& row) { return tables.cases[row.in_case].setup.ranks > kMostRanks; });
  if (tables.rows.empty()) {
    throw UsageError("calibrate: --tables: no case of these scenarios simulates a size that its \"verify\" measured");
  }
  std::vector<StackCase> cases = stack_cases(tables);
  PooledModel model(std::move(tables), std::move(cases));
  check_expected(model);
  PooledFitSettings settings;
  settings.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const PooledFit fit = fit_pool(model, std::vector<double>(model.tables().rows.size(), 1), settings);
  const HeldOutResiduals residuals = held_out_residuals(options, model, fit, progress);
  progress.clear();
  SoftwarePool pool = pool_of(model, fit);
  pool.errors = prediction_errors(model.tables(), model.cases(), residuals);
  pool.name = profile_name(options);
  pool.description = fmt::format("{} rows of {} cases", model.tables().rows.size(), model.cases().size());
  pool.source = fmt::format("athanor calibrate --backend pool, {}, {}", calibration_date(), calibration_versions());
  if (options.residuals) {
    write_text_file(*options.residuals, residual_table(model.tables(), model.cases(), residuals));
  }
  if (options.profiles) { write_profiles(*options.profiles, model, fit, residuals); }
  const std::string at_bounds = at_bounds_text(model, fit, "\n#   ");
  write_profile(options, streams, json_of(pool),
                summary(model, residuals) +
                    (at_bounds.empty() ? "" : "# at a bound, and so told by nothing:" + at_bounds + "\n"));
  return ExitCode::ok;
}

}  // namespace athanor
