#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/read_results.hpp"
#include "tools/compare/load_input.hpp"
#include "tools/plot/drawing.hpp"
#include "tools/plot/plot_schedule.hpp"
#include "tools/plot/plot_timeline.hpp"
#include "tools/plot/plot_topology.hpp"
#include "tools/sweep/table.hpp"

namespace athanor {

namespace {

boost::program_options::options_description plot_options() {
  boost::program_options::options_description options("options");
  options.add_options()("out", boost::program_options::value<std::string>()->default_value("plots")->value_name("DIR"),
                        "where the plots go; made where it does not exist");
  options.add_options()("output,o", boost::program_options::value<std::string>()->value_name("FILE"),
                        "of a schedule, topology or timeline: the picture, .svg, .png or .pdf");
  options.add_options()("figure", boost::program_options::value<std::string>()->value_name("KEY"),
                        "of a sweep: this key of its results, such as busbw_gbps; default: the time and its rate");
  options.add_options()("title", boost::program_options::value<std::string>()->value_name("TEXT"),
                        "of a timeline: above the picture");
  options.add_options()("case", boost::program_options::value<std::vector<std::string>>()->value_name("NAME"),
                        "of a topology: the case of the scenario");
  options.add_options()("size", boost::program_options::value<std::string>()->value_name("SIZE"),
                        "of a topology: simulates the collective of so much and colours links by how busy they were");
  options.add_options()("set", boost::program_options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
                        "of a topology: changes the scenario first; repeatable");
  options.add(schedule_options());
  return options;
}

/// What a sweep or a file holds, once it is known to be what athanor writes.
JsonValue drawn_of(const std::string& file) {
  if (is_sweep(file)) { return {{"results", sweep_records(file)}}; }
  const std::string text = read_text_file(file);
  if (result_kind(text) == ResultKind::comparison) { return read_comparison(text, file); }
  return {{"results", read_results(text, file).records}};
}

/// Of results, a sweep or a comparison: whatever figures there are.
ExitCode plot_results(const Invocation& invocation, const Streams& streams) {
  const std::string& file = invocation.arguments[0];
  std::vector<std::string> words{"--out", invocation.text("out"), "--label", file};
  if (invocation.has("figure")) { words.insert(words.end(), {"--figure", invocation.text("figure")}); }
  draw_data(invocation, streams, "plot_results.py", drawn_of(file), words, file);
  return ExitCode::ok;
}

ExitCode plot(const Invocation& invocation, const Streams& streams) {
  const std::string& result = invocation.arguments[0];
  if (result == "topology") { return plot_topology(invocation, streams); }
  if (result == "timeline") { return plot_timeline(invocation, streams); }
  if (invocation.arguments.size() > 1) {
    throw UsageError(fmt::format("plot: '{}' is one argument too many", invocation.arguments[1]));
  }
  return result == "schedule" ? plot_schedule(invocation, streams) : plot_results(invocation, streams);
}

}  // namespace

Command plot_command() {
  return {
      .name = "plot",
      .summary = "draws results, sweeps, comparisons, the messages of an algorithm, a cluster, or a timeline",
      .arguments = "RESULT.json | SWEEP.sqlite | schedule | topology SCENARIO | timeline TRACE.json",
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
          "With --json the messages are written, and drawn only where -o names a picture. Drawing needs a Python with\n"
          "matplotlib: ATHANOR_PYTHON, or the first that has it of python3 and /usr/bin/python3.\n",
      .example = "athanor plot result.json --out plots",
      .least_arguments = 1,
      .most_arguments = 2,
      .options = &plot_options,
      .execute = &plot};
}

}  // namespace athanor
