#include <filesystem>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/read_results.hpp"
#include "tools/compare/load_input.hpp"
#include "tools/plot/drawing.hpp"
#include "tools/plot/plot_options.hpp"
#include "tools/plot/shown_figures.hpp"
#include "tools/sweep/table.hpp"

namespace athanor {

namespace {

/// What a sweep or a file holds, once it is known to be what athanor writes.
JsonValue document_of(const std::string& file) {
  if (is_sweep(file)) { return {{"results", sweep_records(file)}}; }
  const std::string text = read_text_file(file);
  if (result_kind(text) == ResultKind::comparison) { return read_comparison(text, file); }
  return {{"results", read_results(text, file).records}};
}

/// Of results, a sweep or a comparison: whatever figures there are.
ExitCode plot_results(const PlotOptions& options, const Streams& streams) {
  const std::string& file = options.common.arguments[0];
  std::vector<std::string> words{"--out", options.folder, "--label", file};
  if (options.figure) { words.insert(words.end(), {"--figure", *options.figure}); }
  JsonValue document = document_of(file);
  document["figures"] = shown_figures();
  draw_data(options.common.library, streams, "plot_results.py", document, words, file);
  return ExitCode::ok;
}

/// `athanor plot timeline TRACE.json`: draws what `run --trace` wrote of training or of a replayed trace.
ExitCode plot_timeline(const PlotOptions& options, const Streams& streams) {
  if (options.common.arguments.size() < 2) {
    throw UsageError("plot: which timeline? Write the file of `athanor run --trace FILE` after timeline");
  }
  const std::string& trace = options.common.arguments[1];
  if (!std::filesystem::exists(trace)) { throw FileError(fmt::format("{}: no such file", trace)); }
  const std::string picture =
      picture_path(options.output, options.folder, "timeline-" + std::filesystem::path(trace).stem().string());
  std::vector<std::string> words{"--output", picture};
  if (options.title) { words.insert(words.end(), {"--title", *options.title}); }
  draw_file(options.common.library, streams, "plot_timeline.py", trace, words, trace);
  return ExitCode::ok;
}

ExitCode plot(const PlotOptions& options, const Streams& streams) {
  const std::vector<std::string>& arguments = options.common.arguments;
  const std::string& result = arguments[0];
  if (result == "topology") { return plot_topology(options, streams); }
  if (result == "timeline") { return plot_timeline(options, streams); }
  if (result == "jobs") { return plot_jobs(options, streams); }
  if (arguments.size() > 1) { throw UsageError(fmt::format("plot: '{}' is one argument too many", arguments[1])); }
  return result == "schedule" ? plot_schedule(options, streams) : plot_results(options, streams);
}

}  // namespace

void visit(OptionFields& fields, PlotOptions& options) {
  fields.text("out", "DIR", options.folder, "where the plots go; made where it does not exist");
  fields.written_file("output,o", options.output,
                      "of a schedule, topology, timeline or jobs: the picture, .svg, .png or .pdf");
  fields.text("figure", "KEY", options.figure,
              "of a sweep: this key of its results, such as busbw_gbps; default: the time and its rate; of jobs: "
              "nodes, levels, waits, hours, domains, trainings, data, links or cases alone");
  fields.text("title", "TEXT", options.title, "of a timeline or jobs: above the picture");
  fields.texts("case", "NAME", options.scenario.cases,
               "of a topology or jobs: the case of the scenario; of jobs repeatable");
  fields.size("size", "SIZE", options.size,
              "of a topology: simulates the collective of so much and colours links by how busy they were");
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings,
               "of a topology or jobs: changes the scenario first; repeatable");
  visit(fields, options.schedule);
}

Command plot_command() {
  return {
      .name = "plot",
      .summary = "draws results, sweeps, comparisons, the messages of an algorithm, a cluster, a timeline, or jobs",
      .arguments =
          "RESULT.json | SWEEP.sqlite | schedule | topology SCENARIO | timeline TRACE.json | jobs SCENARIO|JOBS.csv",
      .explanation =
          "Draws what `athanor run --json=RESULT.json` wrote, a sweep (its file, or its --json) or what `athanor\n"
          "compare --json` wrote, as SVG and PNG, and prints the files' names. Or draws who sends what to whom in each "
          "round of one algorithm:\n"
          "  athanor plot schedule --collective all_reduce --algorithm ring --ranks 8 -o ring.svg\n"
          "Or draws the cluster of a scenario (or a node preset), with its switches and cables:\n"
          "  athanor plot topology scenarios/quickstart.json --case 'one DGX H100' -o dgx.svg\n"
          "With --size its collective is simulated, and each link has the colour of its utilisation.\n"
          "Or draws what stages of a pipeline, or ranks of a trace, did when, from what run --trace wrote:\n"
          "  athanor plot timeline trace.json -o timeline.svg\n"
          "Or draws a workload, which it simulates: which job was where when, GPUs in use, the queue, waits, "
          "slowdowns,\n"
          "what GPU hours were, what places, others and data cost, how busy links were; several cases side by side. "
          "Of\n"
          "what run --per-job wrote it draws what can be known from that:\n"
          "  athanor plot jobs scenarios/jobs/backfill.json -o jobs.svg\n"
          "With --json the messages are written, and drawn only where -o names a picture. Drawing needs a Python with\n"
          "matplotlib: ATHANOR_PYTHON, or the first that has it of python3 and /usr/bin/python3.\n",
      .example = "athanor plot result.json --out plots",
      .least_arguments = 1,
      .most_arguments = 2,
      .prepare = &prepared<PlotOptions, &plot>};
}

}  // namespace athanor
