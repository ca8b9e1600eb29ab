#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/core.h>

#include "models/experiments/scenario/profile_section.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/tables/stack_parameters.hpp"
#include "tools/calibrate/tables/stack_profile.hpp"
#include "tools/cli/option_values.hpp"
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

/// A file, or a name of the library; absent: that of the first case.
Profile start_of(const CalibrateOptions& options, const Tables& tables) {
  Profile profile = *tables.cases.front().platform.profile;
  if (options.profile) {
    const std::string& name = *options.profile;
    const Library& library = options.common.library;
    const bool known = library.has(LibraryFolder::profiles, name);
    Problems problems;
    profile = read_profile_file(library.files(), known ? library.path(LibraryFolder::profiles, name) : name, problems);
    problems.throw_if_any();
  }
  if (!profile.nccl) {
    throw UsageError(
        fmt::format("calibrate: profile {} has no \"nccl\" whose figures tables could tell; name one "
                    "with --profile",
                    profile.name));
  }
  return profile;
}

/// Whether one process drove all GPUs of a node.
bool by_one_process(const Tables::MeasuredCase& measured) {
  for (const auto& [key, value] : measured.setup.verification->measurement.software_facts) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (key == "gpus_per_process" && number != nullptr) { return *number > 1; }
  }
  return false;
}

/// Who launched belongs to the tables, not to the stack that the search begins with.
Profile launched_as(Profile profile, const Tables& tables) {
  NcclCosts& costs = *profile.nccl;
  if (!std::any_of(tables.cases.begin(), tables.cases.end(), by_one_process)) {
    costs.host_launch = costs.host_channel = Time::zero();
  } else if (costs.host_launch == Time::zero()) {
    costs.host_launch = Time{40'000'000};  // the middle of what was found on such stacks
    costs.host_channel = Time{1'200'000};
  }
  return profile;
}

std::vector<NcclChoosing> choosings_of(const std::vector<std::string>& words) {
  const std::map<std::string, NcclChoosing> known{
      {"tuner", NcclChoosing::tuner}, {"algorithm", NcclChoosing::algorithm}, {"fastest", NcclChoosing::fastest}};
  std::vector<NcclChoosing> choosings;
  for (const std::string& word : words) {
    const auto found = known.find(word);
    if (found == known.end()) {
      throw UsageError(fmt::format("calibrate: --choose: '{}' is none of tuner, algorithm and fastest", word));
    }
    choosings.push_back(found->second);
  }
  return choosings;
}

std::vector<std::string> figures_of(const std::vector<std::string>& asked) {
  std::vector<std::string> known;
  for (const StackParameter& each : stack_parameters()) { known.push_back(each.cost.name); }
  for (const std::string& word : asked) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(
          fmt::format("calibrate: --free: there is no figure '{}'; choose from {}", word, joined(known, ", ")));
    }
  }
  return asked;
}

StackFitSettings settings_of(const CalibrateOptions& options, Progress& progress) {
  StackFitSettings settings;
  if (options.free) { settings.free = figures_of(*options.free); }
  if (options.choose) { settings.choosings = choosings_of(*options.choose); }
  if (options.quick) { settings.cycles = 1; }
  settings.progress = [&progress](const std::string& what) { progress.show("calibrating: " + what); };
  return settings;
}

std::string stack_name(const Profile& profile) { return profile.nccl->rccl ? "RCCL" : "NCCL"; }

std::string percent(const BandErrors& errors, std::size_t band) {
  return errors.points.at(band) == 0 ? "-" : fmt::format("{:.1f}", errors.mean.at(band) * 100);
}

std::string lines_of(const char* title, const std::vector<HoldOut>& errors) {
  std::string text;
  for (const HoldOut& each : errors) {
    text += fmt::format("# {:<14} {:<44} {:>6} {:>6} {:>6}\n", title, each.table, percent(each.errors, 0),
                        percent(each.errors, 1), percent(each.errors, 2));
  }
  return text;
}

std::string summary(const StackFit& fit, const HoldOuts& hold_outs) {
  std::string text = "# mean |error| in %                                             <1MiB <64MiB  above\n";
  text += lines_of("fitted", hold_outs.fitted) + lines_of("sizes held out", hold_outs.sizes) +
          lines_of("table held out", hold_outs.tables) + lines_of("all but 5 rows", hold_outs.anchors);
  text += fmt::format("# free: {}\n", joined(fit.free, ", "));
  if (!fit.at_bound.empty()) {
    text +=
        fmt::format("# AT A BOUND, so the tables ask for what no healthy stack has: {}\n", joined(fit.at_bound, ", "));
  }
  return text;
}

}  // namespace

ExitCode calibrate_on_tables(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  Progress progress(streams, !options.common.quiet);
  Tables tables = tables_of(options);
  const Profile start = launched_as(start_of(options, tables), tables);
  const StackFitSettings settings = settings_of(options, progress);
  const StackFit fit = fit_stack(tables, start, settings);
  simulate(tables, fit.profile);
  HoldOuts hold_outs{errors_by_table(tables), {}, {}, {}};
  const auto held_out = [&](const char* what) { return holds_out(options, what, {"sizes", "tables", "anchors"}); };
  StackFitSettings again = settings;
  again.free = fit.free;
  again.choosings = {fit.profile.nccl->choosing};
  if (held_out("sizes")) { hold_outs.sizes = hold_out_sizes(tables, start, again); }
  if (held_out("tables")) { hold_outs.tables = hold_out_tables(tables, start, again); }
  again.choosings = {NcclChoosing::algorithm};  // the safest where nothing is known of a stack
  if (held_out("anchors")) { hold_outs.anchors = hold_out_but_anchors(tables, start, again); }
  progress.clear();
  const StackNote note{.name = profile_name(options),
                       .description = fmt::format("{} as it was measured in {} table{}", stack_name(fit.profile),
                                                  hold_outs.fitted.size(), hold_outs.fitted.size() == 1 ? "" : "s"),
                       .source = fmt::format("athanor calibrate --backend tables, beginning with {}", start.name),
                       .date = calibration_date(),
                       .versions = calibration_versions()};
  write_profile(options, streams, stack_profile(fit, tables, hold_outs, note), summary(fit, hold_outs));
  return ExitCode::ok;
}

}  // namespace athanor
