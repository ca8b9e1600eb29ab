#include <filesystem>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/python.hpp"

namespace athanor {

namespace files = std::filesystem;

namespace {

boost::program_options::options_description plot_options() {
  boost::program_options::options_description options("options");
  options.add_options()("out", boost::program_options::value<std::string>()->default_value("plots")->value_name("DIR"),
                        "where the plots go; made where it does not exist");
  return options;
}

/// The script stands beside the scenarios, in the source tree and where it is installed.
std::string script_of(const Library& library) {
  const files::path root = files::absolute(library.directory()).lexically_normal();
  const files::path parent = root.has_filename() ? root.parent_path() : root.parent_path().parent_path();
  const files::path script = parent / "tools/plot/plot_results.py";
  if (!files::exists(script)) {
    throw FileError(fmt::format("the plotting script is missing: there is no {}; --data DIR says where scenarios/ is",
                                script.string()));
  }
  return script.string();
}

ExitCode plot(const Invocation& invocation, const Streams& streams) {
  const std::string& result = invocation.arguments[0];
  read_text_file(result);
  const std::string python = python_with("matplotlib");
  const Finished finished =
      run_process({python, script_of(invocation.library), result, "--out", invocation.text("out")});
  streams.out(finished.out);
  streams.err(finished.err);
  if (finished.status == 0) { return ExitCode::ok; }
  throw FileError(fmt::format("plot: {} could not be drawn", result));
}

}  // namespace

Command plot_command() {
  return {
      .name = "plot",
      .summary = "draws results: time and bus bandwidth over size",
      .arguments = "RESULT.json",
      .explanation =
          "Draws what `athanor run --json=RESULT.json` wrote, as SVG and PNG, and prints the files' names. Needs a\n"
          "Python with matplotlib: ATHANOR_PYTHON, or the first that has it of python3 and /usr/bin/python3.\n",
      .example = "athanor plot result.json --out plots",
      .least_arguments = 1,
      .most_arguments = 1,
      .options = &plot_options,
      .execute = &plot};
}

}  // namespace athanor
