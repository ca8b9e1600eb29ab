#include <filesystem>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/compare/contest_options.hpp"
#include "tools/compare/load_input.hpp"
#include "tools/compare/text.hpp"
#include "tools/plot/drawing.hpp"
#include "tools/report/report_pictures.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

boost::program_options::options_description report_options() {
  namespace options = boost::program_options;
  auto described = contest_options();
  described.add_options()("output,o", options::value<std::string>()->value_name("FILE"),
                          "the page; default: the first file's name with .html");
  return described;
}

std::string output_of(const Invocation& invocation) {
  const std::string path = invocation.has("output")
                               ? invocation.text("output")
                               : std::filesystem::path(invocation.arguments.front()).stem().string() + ".html";
  check_writable(path);
  return path;
}

/// The comparison, where there is something to compare; asked for, it must be there.
Json comparison_of(const std::vector<ComparedInput>& inputs, const Invocation& invocation) {
  const ContestRequest request = contest_request(invocation);
  const bool asked = inputs.size() > 1 || !request.by.empty() || !request.base.empty() || !request.figure.empty();
  try {
    return contest_json(contest(inputs, request));
  } catch (const UsageError&) {
    if (asked) { throw; }
    return nullptr;
  }
}

std::string title_of(const std::vector<ComparedInput>& inputs) {
  std::string title;
  for (const ComparedInput& each : inputs) {
    title += (title.empty() ? "" : " and ") + std::filesystem::path(each.label).stem().string();
  }
  return title;
}

ExitCode report(const Invocation& invocation, const Streams& streams) {
  const std::string path = output_of(invocation);
  std::vector<ComparedInput> compared;
  std::vector<ReportPictures> pictures;
  Json inputs = Json::list();
  for (const std::string& file : invocation.arguments) {
    std::optional<LoadedInput> loaded = load_input(file, invocation, streams);
    if (!loaded) { return ExitCode::interrupted; }
    pictures.push_back(loaded->simulated ? report_pictures(*loaded->simulated, invocation) : ReportPictures{});
    inputs.push_back({{"label", file},
                      {"scenario", loaded->text},
                      {"records", loaded->input.records},
                      {"pictures", pictures.back().by_case},
                      {"manifest", loaded->manifest}});
    if (invocation.has("figure")) { inputs.back()["figure"] = invocation.text("figure"); }
    compared.push_back(std::move(loaded->input));
  }
  const Json data = {{"title", title_of(compared)},
                     {"version", version_line().substr(2)},
                     {"inputs", inputs},
                     {"comparison", comparison_of(compared, invocation)}};
  draw(invocation, streams, "html_report.py", data, path);
  streams.out(path + "\n");
  return ExitCode::ok;
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .summary = "writes results as one HTML page with tables, plots, the scenario and the manifest",
          .arguments = "FILE...",
          .explanation =
              "Files are scenarios, which are simulated, results of --json, or sweeps; several are compared. The page\n"
              "needs nothing but a browser. Drawing needs a Python with matplotlib, as athanor plot does.\n",
          .example = "athanor report scenarios/quickstart.json -o quickstart.html",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .options = &report_options,
          .execute = &report};
}

}  // namespace athanor
