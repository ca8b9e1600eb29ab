#include <array>
#include <optional>

#include <fmt/core.h>

#include "models/experiments/recommender.hpp"
#include "models/experiments/scenario/trace_section.hpp"
#include "models/experiments/training.hpp"
#include "models/traces/chakra/write_chakra.hpp"
#include "models/traces/goal/write_goal.hpp"
#include "models/traces/layers/write_layers.hpp"
#include "models/traces/own/trace_json.hpp"
#include "models/traces/read_trace.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/output_file.hpp"
#include "sim/words.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/export/export_options.hpp"

namespace athanor {

namespace {

constexpr std::array<std::string_view, 4> kTraceOptions{"format", "output", "case", "set"};

enum class TraceWriter : std::uint8_t { athanor, chakra, goal, astra, simai };

TraceWriter writer_of(const ExportOptions& options) {
  const std::string wanted = options.format.value_or("athanor");
  if (wanted == "athanor") { return TraceWriter::athanor; }
  if (wanted == "goal") { return TraceWriter::goal; }
  if (wanted == "astra") { return TraceWriter::astra; }
  if (wanted == "simai") { return TraceWriter::simai; }
  if (wanted != "chakra") {
    throw UsageError(
        fmt::format("export trace: there is no format '{}'; choose athanor, chakra, goal, astra or simai", wanted));
  }
  if (!options.output || options.output->empty()) {
    throw UsageError("export trace: --format chakra writes a file for each rank; say -o PREFIX, as in -o out/llama");
  }
  if (options.output->ends_with('/') || options.output->find('*') != std::string::npos) {
    throw UsageError(
        fmt::format("export trace: -o {} begins no names of files; write a PREFIX without '*', as in -o "
                    "out/llama, for out/llama.0.et and so on",
                    *options.output));
  }
  return TraceWriter::chakra;
}

void check_trace_options(const ExportOptions& options) {
  allow_only(options.common, "export trace", kTraceOptions,
             "is none of its options; keys of \"trace\" are set by --set");
  if (options.common.json) { throw UsageError("export trace: the trace is what is written; leave out --json"); }
}

/// What is written, and what was said of it.
struct Exported {
  Workload workload;
  std::string what;  ///< "chakra of 8 ranks"
  std::vector<std::string> notes;
};

/// Read as the "trace" of a scenario is: --set changes its keys.
Exported from_trace(const ExportOptions& options) {
  if (!options.scenario.cases.empty()) { throw UsageError("export trace: --case goes with a scenario"); }
  Document document = Document::parse(text_of(JsonValue{{"files", options.common.arguments[1]}}), "command line");
  for (const std::string& setting : options.scenario.settings) { document.set(setting); }
  Problems problems;
  TraceConfig config;
  TraceCache cache;
  read_document(document, problems,
                [&](Fields& fields) { visit(fields, options.common.library.files(), cache, problems, config); });
  problems.throw_if_any();
  const ImportedTrace& trace = *config.trace;
  return {trace.workload, fmt::format("{} of {} ranks", name(trace.format), trace.ranks), trace.notes};
}

/// JSON that is no trace.
bool is_scenario(const std::string& path) {
  if (!path.ends_with(".json") || path.find('*') != std::string::npos) { return false; }
  try {
    format_of_file(path);
    return false;
  } catch (const ScenarioError&) { return true; } catch (const FileError&) {
    return false;
  }
}

Exported from_scenario(const ExportOptions& options) {
  const std::vector<Scenario> scenarios =
      read_scenarios({options.common.arguments[1]}, options.common.library, changes_of(options.scenario));
  const std::vector<Case>& cases = scenarios.front().cases;
  if (cases.size() != 1) {
    std::vector<std::string> names;
    for (const Case& each : cases) { names.push_back(fmt::format("'{}'", each.name)); }
    throw UsageError(fmt::format("export trace: one case is written, and there are {}; choose by --case: {}",
                                 cases.size(), joined(names, ", ")));
  }
  const auto* const experiment = cases.front().as<WorkloadExperiment>();
  if (experiment == nullptr) {
    throw UsageError(
        "export trace: of scenarios steps of \"training\" and a \"trace\" are written, and this is neither");
  }
  Exported exported{
      experiment->workload(), fmt::format("{} on {} ranks", experiment->variant(), experiment->ranks()), {}};
  if (cases.front().as<RecommenderExperiment>() != nullptr) {
    exported.notes.emplace_back("uneven exchanges are written as even ones, of as many bytes as the busiest rank's");
  }
  const auto* const training = cases.front().as<TrainingExperiment>();
  if (training == nullptr) { return exported; }
  const ComputeProfile& compute = training->training().setup.compute;
  if (compute.interference > 0) {
    exported.notes.emplace_back("computations are not slowed down by calls beside them");
  }
  if (compute.straggler_growth > 0) { exported.notes.emplace_back("nothing waits for stragglers"); }
  if (training->training().setup.plan.experts.kind != ExchangeKind::pairwise) {
    exported.notes.emplace_back(
        "tokens go to experts by all-to-alls of all their choices, not by kernels of their own");
  }
  return exported;
}

void tell_what(const Exported& exported, const ExportOptions& options, const Streams& streams) {
  if (options.common.quiet) { return; }
  const Workload& workload = exported.workload;
  std::size_t operations = 0;
  for (const Workload::Worker& worker : workload.workers) { operations += worker.operations.size(); }
  streams.err(fmt::format("athanor: {}: {} workers, {} communicators, {} channels, {} operations\n", exported.what,
                          workload.workers.size(), workload.communicators.size(), workload.channels.size(),
                          operations));
  for (const std::string& note : exported.notes) { tell(streams, "note: " + note); }
}

void write_own(const Exported& exported, const std::string& path, const Streams& streams) {
  std::string text;
  write_trace_json(exported.workload, [&](std::string_view part) { text += part; });
  write_to(path, streams, text);
}

void add_notes(Exported& exported, const std::vector<std::string>& notes) {
  exported.notes.insert(exported.notes.end(), notes.begin(), notes.end());
}

void write_as_chakra(Exported& exported, const std::string& prefix) {
  const ChakraExport written = write_chakra(exported.workload, prefix);
  exported.what += fmt::format(", {} files of {} nodes", written.ranks, written.nodes);
  add_notes(exported, written.notes);
}

/// Collectives become messages, so that the text may be large: it goes to the file as it is made.
void write_as_goal(Exported& exported, const std::string& path, const Streams& streams) {
  std::optional<OutputFile> file;
  if (!path.empty()) { file.emplace(path); }
  const GoalTraceExport written = write_goal(
      exported.workload, [&](std::string_view text) { file ? file->write(text) : streams.out(std::string(text)); });
  if (file) { file->finish(); }
  exported.what += fmt::format(", GOAL of {} operations and {} messages", written.operations, written.messages);
  add_notes(exported, written.notes);
}

void write_as_layers(Exported& exported, LayerFormat format, const std::string& path, const Streams& streams) {
  const LayerExport written = write_layers(exported.workload, format);
  write_to(path, streams, written.text);
  exported.what += fmt::format(", {} layers", written.layers);
  add_notes(exported, written.notes);
}

}  // namespace

ExitCode export_trace(const ExportOptions& options, const Streams& streams) {
  if (options.common.arguments.size() != 2) {
    throw UsageError("export trace: one file, or one pattern, as in `athanor export trace 'run/llama.*.et'`");
  }
  check_trace_options(options);
  const TraceWriter writer = writer_of(options);
  const std::string path = options.destination();
  if (writer != TraceWriter::chakra && !path.empty()) { check_writable(path); }
  Exported exported = is_scenario(options.common.arguments[1]) ? from_scenario(options) : from_trace(options);
  switch (writer) {
    case TraceWriter::athanor: write_own(exported, path, streams); break;
    case TraceWriter::chakra: write_as_chakra(exported, path); break;
    case TraceWriter::goal: write_as_goal(exported, path, streams); break;
    case TraceWriter::astra: write_as_layers(exported, LayerFormat::astra, path, streams); break;
    case TraceWriter::simai: write_as_layers(exported, LayerFormat::simai, path, streams); break;
  }
  tell_what(exported, options, streams);
  return ExitCode::ok;
}

}  // namespace athanor
