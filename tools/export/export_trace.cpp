#include <array>

#include <fmt/core.h>

#include "models/experiments/scenario/trace_section.hpp"
#include "models/traces/own/trace_json.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/export/export_options.hpp"

namespace athanor {

namespace {

constexpr std::array<std::string_view, 3> kTraceOptions{"format", "output", "set"};

void check_trace_options(const ExportOptions& options) {
  allow_only(options.common, "export trace", kTraceOptions,
             "is none of its options; keys of \"trace\" are set by --set");
  if (options.common.json) { throw UsageError("export trace: the trace is JSON already; leave out --json"); }
  if (options.format && *options.format != "athanor") {
    throw UsageError("export trace: traces are written as JSON of Athanor alone; leave out --format");
  }
}

/// Read as the "trace" of a scenario is: --set changes its keys.
std::shared_ptr<const ImportedTrace> trace_of(const ExportOptions& options) {
  Document document = Document::parse(text_of(JsonValue{{"files", options.common.arguments[1]}}), "command line");
  for (const std::string& setting : options.scenario.settings) { document.set(setting); }
  Problems problems;
  TraceConfig config;
  TraceCache cache;
  read_document(document, problems,
                [&](Fields& fields) { visit(fields, options.common.library.files(), cache, problems, config); });
  problems.throw_if_any();
  return config.trace;
}

}  // namespace

ExitCode export_trace(const ExportOptions& options, const Streams& streams) {
  if (options.common.arguments.size() != 2) {
    throw UsageError("export trace: one file, or one pattern, as in `athanor export trace 'run/llama.*.et'`");
  }
  check_trace_options(options);
  const std::string path = options.destination();
  if (!path.empty()) { check_writable(path); }
  const std::shared_ptr<const ImportedTrace> trace = trace_of(options);
  std::string text;
  write_trace_json(trace->workload, [&](std::string_view part) { text += part; });
  write_to(path, streams, text);
  if (options.common.quiet) { return ExitCode::ok; }
  std::size_t operations = 0;
  for (const Workload::Worker& worker : trace->workload.workers) { operations += worker.operations.size(); }
  streams.err(fmt::format("athanor: {} of {} ranks: {} workers, {} communicators, {} channels, {} operations\n",
                          name(trace->format), trace->ranks, trace->workload.workers.size(),
                          trace->workload.communicators.size(), trace->workload.channels.size(), operations));
  for (const std::string& note : trace->notes) { tell(streams, "note: " + note); }
  return ExitCode::ok;
}

}  // namespace athanor
