#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/core.h>

#include "sim/config/document.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"
#include "tools/calibrate/mpi_task.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/errors.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output.hpp"
#include "tools/crosscheck/machine/comparison.hpp"
#include "tools/crosscheck/machine/measured_collectives.hpp"
#include "tools/measure/cuda_backend.hpp"
#include "tools/measure/machine.hpp"
#include "tools/measure/threads_backend.hpp"
#include "tools/verify/verdict.hpp"

namespace athanor {

namespace {

struct CrosscheckOptions {
  CommonOptions common;
  std::string backend = "threads";
  std::optional<std::string> sizes, profile, output;
  std::vector<std::uint32_t> ranks;
  std::uint32_t algorithms = 3;
  std::optional<Ratio> max_error;
  bool quick = false;
};

void visit(OptionFields& fields, CrosscheckOptions& options) {
  fields.text("backend", "NAME", options.backend, "what carries collectives out: threads, mpi (under mpirun) or cuda");
  fields.numbers("ranks", "NUMBERS", options.ranks, 2,
                 "of the collectives; absent: 2,4, with mpi one for each process");
  fields.text("sizes", "SIZES", options.sizes, "payloads; absent: 512B,32KiB,2MiB");
  fields.number("algorithms", "N", options.algorithms, 1, "of each collective, the first that fit");
  fields.text("profile", "FILE", options.profile, "a profile of this machine, calibrated before; absent: calibrates");
  fields.quantity("max-error", "RATIO", options.max_error, &parse_error_limit,
                  "that the median |error| may have, 0.3 or 30%; absent: any");
  fields.flag("quick", options.quick,
              "probes in one turn instead of five, and 12 iterations instead of 20: less certain");
  fields.written_file("output,o", options.output, "the profile that was found");
}

/// How a backend is measured, calibrated and simulated.
struct Task {
  CollectivesWanted wanted;
  CalibrateOptions calibrate;
};

Task task_of(const CrosscheckOptions& options, const Backend& backend) {
  constexpr std::uint32_t kFewest = 12;  // that tell two modes from one
  Task task;
  const std::vector<std::uint32_t> usual{2, 4};
  if (backend.ranks() && !options.ranks.empty()) {
    throw UsageError(fmt::format("crosscheck: --ranks: the backend {} has one rank per process", backend.name()));
  }
  task.wanted.ranks = backend.ranks() ? std::vector{*backend.ranks()} : options.ranks.empty() ? usual : options.ranks;
  task.wanted.sizes = sizes_in(options.sizes.value_or("512B,32KiB,2MiB"));
  task.wanted.algorithms = options.algorithms;
  if (options.quick) { task.wanted.iterations = kFewest; }
  task.calibrate.common.quiet = options.common.quiet;
  task.calibrate.quick = options.quick;
  task.calibrate.output = options.output;
  task.calibrate.ranks = task.wanted.ranks;
  if (options.output && options.profile) {
    throw UsageError("crosscheck: --output writes the profile that is found, and --profile finds none");
  }
  return task;
}

/// The cluster of a scenario on which so many ranks of the backend are simulated.
JsonValue cluster_of(const std::string& backend, std::uint32_t ranks) {
  if (backend == "threads") {
    const std::uint32_t processors = std::min(ranks, std::max(1U, std::thread::hardware_concurrency()));
    return {{"shared_memory", JsonValue{{"ranks", ranks}, {"processors", processors}}}};
  }
  if (backend == "cuda") {
    const auto gpus = static_cast<std::uint32_t>(gpu_facts().models.size());
    return {{"shared_gpus", JsonValue{{"ranks", ranks}, {"gpus", std::min(ranks, gpus)}}}};
  }
  // As `athanor calibrate --backend mpi` takes it that is told nothing: the profile holds all that lies between.
  return {{"nodes", ranks},
          {"fabric", JsonValue{{"kind", "star"}, {"link", JsonValue{{"rate", "100GB/s"}, {"latency", "0ns"}}}}}};
}

/// What is said above and below the table.
struct Findings {
  std::vector<std::string> noise;  ///< a sentence each; none: the machine was quiet, as far as anybody sees
  std::vector<std::string> left_out;
  std::vector<ComparedRow> rows;
  std::uint64_t wrong = 0;
};

std::string lines_of(const Findings& findings) {
  std::string text = table_of(findings.rows) + error_lines(findings.rows);
  for (const std::string& each : findings.left_out) { text += fmt::format("# left out: {}\n", each); }
  text += findings.wrong == 0 ? "# every result was what it should be\n"
                              : fmt::format("# {} results were NOT what they should be\n", findings.wrong);
  for (const std::string& each : findings.noise) { text += fmt::format("# NOISY: {}\n", each); }
  return findings.noise.empty() ? text + "# the machine was quiet: no load, and no times of two modes\n" : text;
}

std::vector<std::string> noise_of_modes(const std::vector<MeasuredRow>& rows) {
  std::size_t count = 0;
  std::string first;
  for (const MeasuredRow& row : rows) {
    const auto modes = two_modes(row.times_us);
    if (!modes) { continue; }
    ++count;
    if (!first.empty()) { continue; }
    first = fmt::format("{} of {} B by {}: {:.4g} us, and {:.4g} us in {:.0f} %", name(row.collective.kind),
                        row.size.count(), row.algorithm, modes->lower, modes->upper, modes->upper_share * 100);
  }
  if (count <= std::max<std::size_t>(1, rows.size() / 20)) { return {}; }  // chance
  return {fmt::format("{} of {} rows have two modes, the first: {}; something else runs now and then, or clocks change",
                      count, rows.size(), first)};
}

void write_json(const CrosscheckOptions& options, const Streams& streams, const Findings& findings, double seconds) {
  if (!options.common.json) { return; }
  std::vector<JsonValue> results;
  for (const ComparedRow& row : findings.rows) { results.push_back(json_of(row)); }
  Manifest manifest;
  manifest.command_line = options.common.command_line;
  manifest.warnings = findings.noise;
  manifest.machine = machine_id(this_machine());
  manifest.wall_seconds = seconds;
  JsonValue beside{{"noisy", !findings.noise.empty()}, {"wrong", findings.wrong}};
  if (!findings.rows.empty()) { beside["median_error"] = median_error(findings.rows); }
  if (const auto share = coverage(findings.rows)) { beside["within_interval"] = *share; }
  write_json(options.common, streams, json_document(results, "summary", beside, manifest));
}

ExitCode verdict(const CrosscheckOptions& options, const Findings& findings) {
  if (findings.wrong > 0) { return ExitCode::simulation_failed; }
  const bool above =
      options.max_error && (findings.rows.empty() || median_error(findings.rows) > to_double(*options.max_error));
  return above ? ExitCode::above_threshold : ExitCode::ok;
}

std::unique_ptr<Backend> local_backend(const std::string& name) {
  if (name == "threads") { return make_threads_backend(); }
  if (name == "cuda") { return make_cuda_backend(); }
  throw UsageError(fmt::format("crosscheck: there is no backend '{}'; choose from threads, mpi, cuda", name));
}

JsonValue read_profile(const std::string& path) { return Document::parse(read_text_file(path), path).root(); }

void note_load(Findings& findings, const Task& task) {
  const auto load = load_average();
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const unsigned most = *std::max_element(task.wanted.ranks.begin(), task.wanted.ranks.end());
  const std::string warning = load ? load_warning(*load, processors, std::min(most, processors)) : "";
  if (!warning.empty()) { findings.noise.push_back(warning); }
}

void take(MeasuredCollectives& measured, Findings& findings) {
  findings.left_out = std::move(measured.left_out);
  for (const MeasuredRow& row : measured.rows) { findings.wrong += row.wrong; }
  for (std::string& each : noise_of_modes(measured.rows)) { findings.noise.push_back(std::move(each)); }
}

/// One process: it measures, calibrates, simulates and says what came of it.
class Crosscheck {
 public:
  Crosscheck(const CrosscheckOptions& options, const Streams& streams)
      : options_(options), streams_(streams), progress_(streams, !options.common.quiet) {
    check_writable(options.output);
    if (options.common.json && !options.common.json->empty()) { check_writable(*options.common.json); }
  }

  ExitCode local() {
    const std::unique_ptr<Backend> backend = local_backend(options_.backend);
    const Task task = task_of(options_, *backend);
    note_load(findings_, task);
    MeasuredCollectives measured = measured_collectives(*backend, task.wanted, [&](const std::string& what) {
      progress_.show(what);
      return !streams_.interrupted();
    });
    take(measured, findings_);
    if (measured.interrupted) { return ExitCode::interrupted; }
    tell_noise();
    return finish(measured.rows, [&] {
      return options_.backend == "cuda" ? calibrated_gpus(task.calibrate, progress_)
                                        : calibrated_threads(task.calibrate, progress_);
    });
  }

  ExitCode over_mpi() {
    std::unique_ptr<MpiBackend> backend = make_mpi_backend();
    const bool speaks = backend->speaks();
    Task task;
    MpiTask probing;
    std::exception_ptr error;
    try {
      task = task_of(options_, *backend);
      task.calibrate.ranks.clear();
      probing = mpi_task(task.calibrate, *backend);
    } catch (const std::exception&) { error = std::current_exception(); }
    if (backend->any(error != nullptr)) {
      if (error && speaks) { std::rethrow_exception(error); }
      return silent_end(error);
    }
    note_load(findings_, task);
    MeasuredCollectives rows = measured_collectives(*backend, task.wanted, [&](const std::string& what) {
      if (speaks) { progress_.show(what); }
      return !backend->any(streams_.interrupted());
    });
    auto probes = rows.interrupted ? std::nullopt : measured(probing, *backend, streams_, progress_);
    backend.reset();  // the other processes end here, so that the fit has the processors
    if (!probes) { return ExitCode::interrupted; }
    take(rows, findings_);
    if (!speaks) { return verdict_of_results(); }
    tell_noise();
    return finish(rows.rows, [&] { return fitted_over_mpi(probing.note, *probing.cluster, *probes, progress_); });
  }

 private:
  /// Before anything can fail on that account.
  void tell_noise() const {
    for (const std::string& each : findings_.noise) {
      if (!options_.common.quiet) { warn(streams_, "noisy: " + each); }
    }
  }

  /// Of a process that does not speak: of wrong results all know.
  ExitCode verdict_of_results() const { return findings_.wrong > 0 ? ExitCode::simulation_failed : ExitCode::ok; }

  /// A profile that was calibrated before may be of another machine, and its errors say little then.
  void check_made_here(const JsonValue& profile) {
    const std::string here = machine_id(this_machine());
    if (options_.backend != "threads" || !profile.is_object() || !profile.contains("machine")) { return; }
    const std::string& made = profile["machine"].string();
    if (made != here) {
      findings_.left_out.push_back(fmt::format("a calibration of this machine: the profile is of {}", made));
    }
  }

  ExitCode finish(const std::vector<MeasuredRow>& rows, const std::function<Calibrated()>& calibrate) {
    const Calibrated found = options_.profile ? Calibrated{read_profile(*options_.profile), ""} : calibrate();
    progress_.clear();
    check_made_here(found.profile);
    if (options_.output) { write_text_file(*options_.output, text_of(found.profile, 2) + "\n"); }
    Compared all = compared(
        rows, found.profile, [&](std::uint32_t ranks) { return cluster_of(options_.backend, ranks); },
        options_.common.library);
    findings_.rows = std::move(all.rows);
    for (std::string& each : all.left_out) { findings_.left_out.push_back(std::move(each)); }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const bool table = !options_.common.json || !options_.common.json->empty();
    if (table) {
      streams_.out(version_line() + fmt::format("# machine          {}\n", machine_id(this_machine())) + found.summary +
                   lines_of(findings_));
    }
    write_json(options_, streams_, findings_, seconds);
    return verdict(options_, findings_);
  }

  const CrosscheckOptions& options_;
  const Streams& streams_;
  Progress progress_;
  Findings findings_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

ExitCode crosscheck(const CrosscheckOptions& options, const Streams& streams) {
  Crosscheck check(options, streams);
  return options.backend == "mpi" ? check.over_mpi() : check.local();
}

}  // namespace

Command crosscheck_command() {
  return {
      .name = "crosscheck",
      .summary = "calibrates this machine, measures every collective on it, and simulates what was measured",
      .arguments = "",
      .explanation =
          "Measures every collective that the backend carries out by some of its algorithms, checks every result to\n"
          "the bit, calibrates the machine as athanor calibrate does, simulates the same collectives with what was\n"
          "found, and prints one table with the errors and, where a profile has them, the intervals of 80 %. A "
          "machine\n"
          "that is not quiet, by its load or by times that fall around two values, is said to be NOISY. Exit code 1\n"
          "where a result was wrong, 5 where the median |error| is above --max-error.\n",
      .example = "athanor crosscheck --quick --max-error 50%",
      .least_arguments = 0,
      .most_arguments = 0,
      .prepare = &prepared<CrosscheckOptions, &crosscheck>};
}

}  // namespace athanor
