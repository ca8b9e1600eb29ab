#include <chrono>
#include <ctime>
#include <exception>
#include <filesystem>
#include <memory>
#include <thread>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/chrono.h>
#include <fmt/core.h>

#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "models/experiments/table.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/inputs_read.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_choice.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/silent_end.hpp"
#include "tools/cli/version.hpp"
#include "tools/measure/backend_set.hpp"
#include "tools/measure/imports.hpp"
#include "tools/measure/machine.hpp"
#include "tools/measure/report.hpp"

namespace athanor {

namespace {

boost::program_options::options_description measure_options() {
  namespace options = boost::program_options;
  options::options_description result("options");
  auto add = result.add_options();
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("collective", text("NAME"), "what is done; absent: that of --algorithm FILE.xml, or all_reduce");
  add("algorithm", text("NAMES"),
      "ring,butterfly; all: those that fit; FILE.xml, msccl:FILE: in MSCCL's XML; mpi_library, nccl: theirs; absent: "
      "the first of the collective");
  add("backend", text("NAMES"),
      "what carries it out: threads, mpi (under mpirun) or cuda; several take turns; absent: threads");
  add("ranks", text("NUMBERS"), "how many take part, as in 2,4; absent: one per processor");
  add("sizes", text("SIZES"), "payloads, as nccl-tests counts them; absent: 8B..16MiB, which doubles");
  add("type", text("NAMES"), "of the elements: float32,bfloat16 or all; absent: float32");
  add("reduction", text("NAMES"), "sum,maximum or all; absent: sum");
  add("in-place", "only with input and output in one buffer; absent: both ways where they fit");
  add("out-of-place", "only with buffers of their own");
  add("root", text("RANK"), "of broadcast, reduce, gather and scatter; the sender of send_receive; absent: 0");
  add("channels", text("N"), "side by side; absent: 1");
  add("chunk", text("SIZE"), "most payload of one chunk; absent: all in one loop");
  add("slices", text("N"), "messages per chunk; absent: 1");
  add("slots", text("N"), "per connection, at least what the schedule needs; absent: that");
  add("group", text("N"), "ranks per node, for hierarchical algorithms; absent: all in one");
  add("dimensions", text("XxY"), "of torus, mesh and swing, as in 4x4x2; absent: sides of the least sum");
  add("rings", text("N"), "of multi_ring: directed rings at most; absent: 8");
  add("workers", text("N"), "threads that carry out the ranks; absent: one per rank, at most one per processor");
  add("warm-up", text("N"), "iterations before the timed ones; absent: 5");
  add("iterations", text("N"), "timed ones; absent: 20");
  add("time-limit", text("TIME"), "of one iteration, as in 10s; absent: 60s");
  add("output,o", text("FILE"), "a measurement file, for verify and calibrate");
  add("host-name", "names this host in the measurement file");
  add("csv", options::value<std::string>()->implicit_value("")->value_name("[=FILE]"),
      "results as CSV on stdout or in FILE");
  return result;
}

std::vector<std::string> words(const Invocation& invocation, const char* option, const char* absent) {
  return words_of("measure", option, invocation.has(option) ? invocation.text(option) : absent);
}

/// The names of an option, of which "all" stands for all values.
template <class T>
std::vector<T> values(const Invocation& invocation, const char* option, const char* absent, std::span<const T> all,
                      T (*named)(std::string_view, const std::string&)) {
  const std::vector<std::string> names = words(invocation, option, absent);
  if (names.size() == 1 && names[0] == "all") { return {all.begin(), all.end()}; }
  std::vector<T> chosen;
  for (const std::string& name : names) { chosen.push_back(named("measure", name)); }
  return chosen;
}

std::vector<std::string> algorithms_of(const Invocation& invocation, CollectiveKind kind) {
  if (invocation.has("algorithm")) { return words(invocation, "algorithm", ""); }
  return {std::string(algorithms_of(kind).front()->name)};
}

std::vector<bool> places_of(const Invocation& invocation) {
  std::vector<bool> places;
  if (invocation.has("out-of-place")) { places.push_back(false); }
  if (invocation.has("in-place")) { places.push_back(true); }
  return places;
}

/// What is named, or what the first file of --algorithm does.
CollectiveKind kind_of(const Invocation& invocation, const MeasureRequest::Imports& imports) {
  if (invocation.has("collective")) { return named_collective("measure", invocation.text("collective")); }
  return imports.empty() ? CollectiveKind::all_reduce : imports.begin()->second->kind;
}

/// Those of the command line, or what the backends ask for, or what a file is for, or one per processor.
std::vector<std::uint32_t> ranks_of(const Invocation& invocation, const std::vector<Backend*>& backends,
                                    const MeasureRequest::Imports& imports) {
  std::vector<std::uint32_t> ranks;
  if (invocation.has("ranks")) {
    for (const std::string& word : words(invocation, "ranks", "")) {
      ranks.push_back(number_in("measure", "ranks", word, 1));
    }
    return ranks;
  }
  for (const Backend* backend : backends) {
    if (backend->ranks()) { return {*backend->ranks()}; }
  }
  if (!imports.empty()) { return {number_in("measure", "ranks", imports.begin()->second->ranks, 1)}; }
  return {std::max(2U, std::thread::hardware_concurrency())};
}

std::chrono::nanoseconds time_limit_of(const Invocation& invocation) {
  if (!invocation.has("time-limit")) { return std::chrono::minutes{1}; }
  const Time limit = quantity_option("measure", invocation, "time-limit", &parse_time);
  if (limit <= Time::zero()) { throw UsageError("measure: --time-limit is more than 0 s"); }
  return std::chrono::nanoseconds{std::max<std::int64_t>(1, limit.count() / 1000)};
}

MeasureRequest request_of(const Invocation& invocation, const std::vector<Backend*>& backends) {
  const auto number = [&](const char* option, std::uint32_t least, std::uint32_t absent) {
    return number_option("measure", invocation, option, least).value_or(absent);
  };
  MeasureRequest request;
  request.imports =
      invocation.has("algorithm") ? read_imports(words(invocation, "algorithm", "")) : MeasureRequest::Imports{};
  request.kind = kind_of(invocation, request.imports);
  request.algorithms = algorithms_of(invocation, request.kind);
  request.ranks = ranks_of(invocation, backends, request.imports);
  if (invocation.has("sizes")) {
    request.sizes = sizes_option(invocation, "sizes");
  } else {
    request.sizes =
        request.kind == CollectiveKind::barrier ? std::vector{Bytes::zero()} : default_sizes(request.imports);
  }
  request.types = values(invocation, "type", "float32", data_types(), &named_type);
  request.reductions = values(invocation, "reduction", "sum", reductions(), &named_reduction);
  request.in_place = places_of(invocation);
  request.root = number("root", 0, 0);
  request.channels = number("channels", 1, 1);
  if (invocation.has("chunk")) { request.chunk = std::max(Bytes{1}, size_option("measure", invocation, "chunk")); }
  request.slices = number("slices", 1, 1);
  request.group = number("group", 1, 0);
  request.dimensions = dimensions_option("measure", invocation, "dimensions");
  request.rings = number("rings", 1, 0);
  request.slots = number_option("measure", invocation, "slots", 1);
  request.warm_up = number("warm-up", 0, request.warm_up);
  request.iterations = number("iterations", 1, request.iterations);
  request.time_limit = time_limit_of(invocation);
  return request;
}

/// "2026-11-21", of UTC.
std::string today() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

void write_measurement(const Invocation& invocation, const Machine& machine, Measurement measurement) {
  const std::string path = invocation.text("output");
  measurement.id = std::filesystem::path(path).stem().string();
  measurement.date = today();
  measurement.source = fmt::format("athanor {} measure", version());
  measurement.machine = machine_id(machine);
  measurement.hardware_facts = hardware_facts(machine);
  if (invocation.has("host-name")) { measurement.hardware_facts.emplace_back("host", host_name()); }
  Measurement::Facts& software = measurement.software_facts;
  software.insert(software.begin(), {{"athanor", fmt::format("{} ({})", version(), git_revision())},
                                     {"compiler", compiler()},
                                     {"kernel", machine.kernel}});
  write_text_file(path, measurement_json(measurement));
}

/// One run of the command in one process: what is asked for, and what has come of it so far.
class Measuring {
 public:
  Measuring(const Invocation& invocation, const Streams& streams, BackendSet& backends)
      : invocation_(invocation),
        streams_(streams),
        choice_(invocation, streams),
        backends_(backends),
        request_(request_of(invocation, backends.all())),
        points_(plan(request_, backends.all(), [&](const std::string& text) { note(text); })) {
    if (invocation.has("output")) { check_writable(invocation.text("output")); }
    const std::string gpu = backends.fact("gpu");
    if (!gpu.empty()) { machine_.gpus = {gpu}; }
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
    if (!invocation_.quiet) { tell(streams_, fmt::format("note: {}", text)); }
  }

  void measure_all() {
    for (std::size_t i = 0; i < points_.size() && !interrupted_; ++i) {
      const MeasuredPoint& point = points_[i];
      Progress progress(streams_, !invocation_.quiet);
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
    manifest.command_line = invocation_.command_line;
    manifest.inputs = inputs_read(invocation_);
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
    choice_.write("json", [&] { return json_document(results, manifest()); });
    choice_.write("csv", [&] { return csv_document(keys_of({measured_json(request_, MeasuredRow{})}), results); });
    if (invocation_.has("output") && !rows_.empty()) {
      write_measurement(invocation_, machine_, to_measurement(request_, backends_.all(), rows_));
    }
    if (interrupted_) { complain(streams_, "interrupted: the results are incomplete"); }
  }

  const Invocation& invocation_;
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
Invocation muted(Invocation invocation) {
  for (const char* option : {"json", "csv", "output"}) { invocation.options.erase(option); }
  return invocation;
}

/// Where one process cannot begin, none does. The one that speaks says why; the others end with the same code.
ExitCode execute(const Invocation& given, const Streams& loud) {
  BackendSet backends(words(given, "backend", "threads"), number_option("measure", given, "workers", 1));
  const Streams silent{.out = [](std::string_view) {}, .err = [](std::string_view) {}, .interrupted = loud.interrupted};
  const Invocation invocation = backends.speaks() ? given : muted(given);
  const Streams& streams = backends.speaks() ? loud : silent;
  std::unique_ptr<Measuring> measuring;
  std::exception_ptr error;
  try {
    measuring = std::make_unique<Measuring>(invocation, streams, backends);
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
          .options = &measure_options,
          .execute = &execute};
}

}  // namespace athanor
