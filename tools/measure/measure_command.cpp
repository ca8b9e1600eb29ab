#include <chrono>
#include <ctime>
#include <exception>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/errors.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/version.hpp"
#include "tools/measure/backend_set.hpp"
#include "tools/measure/imports.hpp"
#include "tools/measure/machine.hpp"
#include "tools/measure/report.hpp"

namespace athanor {

namespace {

using Words = std::vector<std::string>;

struct MeasureOptions {
  CommonOptions common;
  MeasureRequest request;  ///< as far as options say it without words
  std::optional<std::string> collective, sizes, output, csv;
  std::optional<Words> algorithms, backends, types, reductions;
  std::optional<Bytes> chunk;
  std::optional<Time> time_limit;
  std::optional<std::uint32_t> workers;
  bool in_place = false;
  bool out_of_place = false;
  bool host_name = false;
};

void visit_collective(OptionFields& fields, MeasureOptions& options) {
  MeasureRequest& request = options.request;
  fields.text("collective", "NAME", options.collective,
              "what is done; absent: that of --algorithm FILE.xml, or all_reduce");
  fields.words("algorithm", "NAMES", options.algorithms,
               "ring,butterfly; all: those that fit; FILE.xml, msccl:FILE: in MSCCL's XML; mpi_library, nccl: theirs; "
               "absent: the first of the collective");
  fields.words("backend", "NAMES", options.backends,
               "what carries it out: threads, mpi (under mpirun) or cuda; several take turns; absent: threads");
  fields.numbers("ranks", "NUMBERS", request.ranks, 1, "how many take part, as in 2,4; absent: one per processor");
  fields.text("sizes", "SIZES", options.sizes, "payloads, as nccl-tests counts them; absent: 8B..16MiB, which doubles");
  fields.words("type", "NAMES", options.types, "of the elements: float32,bfloat16 or all; absent: float32");
  fields.words("reduction", "NAMES", options.reductions, "sum,maximum or all; absent: sum");
  fields.flag("in-place", options.in_place,
              "only with input and output in one buffer; absent: both ways where they fit");
  fields.flag("out-of-place", options.out_of_place, "only with buffers of their own");
  fields.number("root", "RANK", request.root, 0,
                "of broadcast, reduce, gather and scatter; the sender of send_receive; absent: 0");
  fields.number("channels", "N", request.channels, 1, "side by side; absent: 1");
  fields.size("chunk", "SIZE", options.chunk, "most payload of one chunk; absent: all in one loop");
  fields.number("slices", "N", request.slices, 1, "messages per chunk; absent: 1");
  fields.number("slots", "N", request.slots, 1, "per connection, at least what the schedule needs; absent: that");
  fields.number("group", "N", request.group, 1, "ranks per node, for hierarchical algorithms; absent: all in one");
  fields.dimensions("dimensions", "XxY", request.dimensions,
                    "of torus, mesh and swing, as in 4x4x2; absent: sides of the least sum");
  fields.number("rings", "N", request.rings, 1, "of multi_ring: directed rings at most; absent: 8");
}

void visit(OptionFields& fields, MeasureOptions& options) {
  visit_collective(fields, options);
  fields.number("workers", "N", options.workers, 1,
                "threads that carry out the ranks; absent: one per rank, at most one per processor");
  fields.number("warm-up", "N", options.request.warm_up, 0, "iterations before the timed ones; absent: 5");
  fields.number("iterations", "N", options.request.iterations, 1, "timed ones; absent: 20");
  fields.quantity("time-limit", "TIME", options.time_limit, &parse_time, "of one iteration, as in 10s; absent: 60s");
  fields.written_file("output,o", options.output, "a measurement file, for verify and calibrate");
  fields.flag("host-name", options.host_name, "names this host in the measurement file");
  fields.written_file_or_stdout("csv", options.csv, "results as CSV on stdout or in FILE");
}

/// The values of these names, of which "all" stands for all.
template <class T>
std::vector<T> values(const std::optional<Words>& names, T absent, std::span<const T> all,
                      T (*named)(std::string_view, const std::string&)) {
  if (!names) { return {absent}; }
  if (*names == Words{"all"}) { return {all.begin(), all.end()}; }
  std::vector<T> chosen;
  for (const std::string& name : *names) { chosen.push_back(named("measure", name)); }
  return chosen;
}

/// What is named, or what the first file of --algorithm does.
CollectiveKind kind_of(const MeasureOptions& options, const MeasureRequest::Imports& imports) {
  if (options.collective) { return named_collective("measure", *options.collective); }
  return imports.empty() ? CollectiveKind::all_reduce : imports.begin()->second->kind;
}

/// Where the command line does not say: what the backends ask for, or what a file is for, or one per processor.
std::vector<std::uint32_t> default_ranks(const std::vector<Backend*>& backends,
                                         const MeasureRequest::Imports& imports) {
  for (const Backend* backend : backends) {
    if (backend->ranks()) { return {*backend->ranks()}; }
  }
  if (!imports.empty()) { return {number_in("measure", "ranks", imports.begin()->second->ranks, 1)}; }
  return {std::max(2U, std::thread::hardware_concurrency())};
}

std::vector<Bytes> sizes_of(const MeasureOptions& options, const MeasureRequest& request) {
  if (options.sizes) { return sizes_in(*options.sizes); }
  if (request.kind == CollectiveKind::barrier) { return {Bytes::zero()}; }
  return default_sizes(request.imports);
}

MeasureRequest request_of(const MeasureOptions& options, const std::vector<Backend*>& backends) {
  MeasureRequest request = options.request;
  if (options.algorithms) { request.imports = read_imports(*options.algorithms); }
  request.kind = kind_of(options, request.imports);
  request.algorithms = options.algorithms.value_or(Words{std::string(algorithms_of(request.kind).front()->name)});
  if (request.ranks.empty()) { request.ranks = default_ranks(backends, request.imports); }
  request.sizes = sizes_of(options, request);
  request.types = values(options.types, DataType::float32, data_types(), &named_type);
  request.reductions = values(options.reductions, Reduction::sum, reductions(), &named_reduction);
  if (options.out_of_place) { request.in_place.push_back(false); }
  if (options.in_place) { request.in_place.push_back(true); }
  if (options.chunk) { request.chunk = std::max(Bytes{1}, *options.chunk); }
  if (options.time_limit) {
    if (*options.time_limit <= Time::zero()) { throw UsageError("measure: --time-limit is more than 0 s"); }
    request.time_limit = std::chrono::nanoseconds{std::max<std::int64_t>(1, options.time_limit->count() / 1000)};
  }
  return request;
}

/// "2026-11-21", of UTC.
std::string today() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

void write_measurement(const std::string& path, bool with_host_name, const Machine& machine, Measurement measurement) {
  measurement.id = std::filesystem::path(path).stem().string();
  measurement.date = today();
  measurement.source = fmt::format("athanor {} measure", version());
  measurement.machine = machine_id(machine);
  measurement.hardware_facts = hardware_facts(machine);
  if (with_host_name) { measurement.hardware_facts.emplace_back("host", host_name()); }
  Measurement::Facts& software = measurement.software_facts;
  software.insert(software.begin(), {{"athanor", fmt::format("{} ({})", version(), git_revision())},
                                     {"compiler", compiler()},
                                     {"kernel", machine.kernel}});
  write_text_file(path, measurement_json(measurement));
}

/// One run of the command in one process: what is asked for, and what has come of it so far.
class Measuring {
 public:
  Measuring(const MeasureOptions& options, const Streams& streams, BackendSet& backends)
      : options_(options),
        streams_(streams),
        choice_(options.common.json, options.csv, streams),
        backends_(backends),
        request_(request_of(options, backends.all())),
        points_(plan(request_, backends.all(), [&](const std::string& text) { note(text); })) {
    check_writable(options.output);
    machine_.gpus = backends.fact("gpu");
    check_memory();
  }

  ExitCode run() {
    choice_.print(version_line() + measured_header(request_, backends_.all(), machine_id(machine_)));
    try {
      measure_all();
    } catch (const SimulationError&) {
      finish();
      throw;
    }
    finish();
    if (interrupted_) { return ExitCode::interrupted; }
    return wrong_ ? ExitCode::simulation_failed : ExitCode::ok;
  }

 private:
  /// What other hosts have is not known here.
  void check_memory() {
    const auto available = available_memory();
    const std::string hosts = backends_.fact("hosts");
    if (available && (hosts.empty() || hosts == "1")) { athanor::check_memory(request_, points_, *available); }
  }

  void note(const std::string& text) {
    warnings_.push_back(text);
    if (!options_.common.quiet) { tell(streams_, fmt::format("note: {}", text)); }
  }

  void measure_all() {
    for (std::size_t i = 0; i < points_.size() && !interrupted_; ++i) {
      const MeasuredPoint& point = points_[i];
      Progress progress(streams_, !options_.common.quiet);
      const auto going_on = [&](const Subject& subject) {
        interrupted_ = backends_.any(interrupted_ || streams_.interrupted());
        progress.show(fmt::format("[{}/{}] {} of {} over {} ranks: {} {} place", i + 1, points_.size(),
                                  name(request_.kind), to_string(point.size), point.ranks, subject.name,
                                  subject.in_place ? "in" : "out of"));
        return !interrupted_;
      };
      const auto rows =
          measure(request_, point, going_on, [&] { return interrupted_ = interrupted_ || streams_.interrupted(); });
      interrupted_ = backends_.any(interrupted_ || streams_.interrupted());
      progress.clear();
      choice_.print(measured_lines(rows));
      for (const MeasuredRow& row : rows) { check(row); }
      rows_.insert(rows_.end(), rows.begin(), rows.end());
    }
  }

  void check(const MeasuredRow& row) {
    if (row.wrong == 0) { return; }
    wrong_ = true;
    complain(streams_,
             fmt::format("wrong result: {} {} of {} over {} ranks, {} place, {}: {}", row.algorithm,
                         name(row.collective.kind), to_string(row.size), row.collective.ranks,
                         row.collective.in_place ? "in" : "out of", name(row.type), row.first_wrong.value_or("")));
  }

  Manifest manifest() const {
    Manifest manifest;
    manifest.command_line = options_.common.command_line;
    manifest.inputs = InputsRead(options_.common.library.files()).fresh();
    manifest.warnings = warnings_;
    manifest.interrupted = interrupted_;
    manifest.machine = machine_id(machine_);
    manifest.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return manifest;
  }

  void finish() {
    choice_.print(measured_footer(rows_) + (interrupted_ ? "# interrupted: what follows was not measured\n" : ""));
    std::vector<JsonValue> results;
    for (const MeasuredRow& row : rows_) { results.push_back(measured_json(request_, row)); }
    choice_.write_json([&] { return json_document(results, manifest()); });
    choice_.write_csv([&] { return csv_document(keys_of({measured_json(request_, MeasuredRow{})}), results); });
    if (options_.output && !rows_.empty()) {
      write_measurement(*options_.output, options_.host_name, machine_,
                        to_measurement(request_, backends_.all(), rows_));
    }
    if (interrupted_) { complain(streams_, "interrupted: the results are incomplete"); }
  }

  const MeasureOptions& options_;
  const Streams& streams_;
  OutputChoice choice_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  BackendSet& backends_;
  MeasureRequest request_;
  std::vector<std::string> warnings_;
  std::vector<MeasuredPoint> points_;
  Machine machine_ = this_machine();
  std::vector<MeasuredRow> rows_;
  bool interrupted_ = false;
  bool wrong_ = false;
};

/// What a process that does not speak is asked for: the same without anything to print or write.
MeasureOptions muted(MeasureOptions options) {
  options.common.json = options.csv = options.output = std::nullopt;
  return options;
}

/// Where one process cannot begin, none does. The one that speaks says why; the others end with the same code.
ExitCode execute(const MeasureOptions& given, const Streams& loud) {
  BackendSet backends(given.backends.value_or(Words{"threads"}), given.workers);
  const Streams silent{.out = [](std::string_view) {}, .err = [](std::string_view) {}, .interrupted = loud.interrupted};
  const MeasureOptions options = backends.speaks() ? given : muted(given);
  const Streams& streams = backends.speaks() ? loud : silent;
  std::unique_ptr<Measuring> measuring;
  std::exception_ptr error;
  try {
    measuring = std::make_unique<Measuring>(options, streams, backends);
  } catch (const std::exception&) { error = std::current_exception(); }
  if (backends.any(error != nullptr)) {
    if (error && backends.speaks()) { std::rethrow_exception(error); }
    return silent_end(error);
  }
  if (backends.speaks()) { return measuring->run(); }
  try {
    return measuring->run();
  } catch (const SimulationError&) { return ExitCode::simulation_failed; }
}

}  // namespace

Command measure_command() {
  return {.name = "measure",
          .summary = "runs collectives on this machine and times them",
          .arguments = "",
          .explanation =
              "Carries out the schedules that the simulator times, checks every result to the bit, and prints\n"
              "nccl-tests' columns. Algorithms take turns, so that what else the machine does meets all alike.\n"
              "A wrong result ends with exit code 1.\n",
          .example = "athanor measure --algorithm ring,butterfly --ranks 2 --sizes 1KiB..1MiB -o mine.json",
          .least_arguments = 0,
          .most_arguments = 0,
          .prepare = &prepared<MeasureOptions, &execute>};
}

}  // namespace athanor
