#include <filesystem>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/version.hpp"
#include "tools/compare/load_input.hpp"
#include "tools/compare/text.hpp"
#include "tools/plot/drawing.hpp"
#include "tools/plot/shown_figures.hpp"
#include "tools/report/report_pictures.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

struct ReportOptions {
  CommonOptions common;
  ComparisonOptions comparison;
  std::optional<std::string> output;
};

void visit(OptionFields& fields, ReportOptions& options) {
  visit(fields, options.comparison);
  fields.written_file("output,o", options.output, "the page; default: the first file's name with .html");
}

std::string output_of(const ReportOptions& options) {
  const std::string path =
      options.output.value_or(std::filesystem::path(options.common.arguments.front()).stem().string() + ".html");
  check_writable(path);
  return path;
}

/// The comparison, where there is something to compare; asked for, it must be there.
Json comparison_of(const std::vector<ComparedInput>& inputs, const ComparisonRequest& request) {
  const bool asked = inputs.size() > 1 || !request.by.empty() || !request.base.empty() || !request.figure.empty();
  try {
    return comparison_json(compared(inputs, request));
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

ExitCode report(const ReportOptions& options, const Streams& streams) {
  const CommonOptions& common = options.common;
  const ComparisonRequest& request = options.comparison.request;
  const std::string path = output_of(options);
  std::vector<ComparedInput> compared;
  std::vector<ReportPictures> pictures;
  Json inputs = Json::list();
  for (const std::string& file : common.arguments) {
    std::optional<LoadedInput> loaded = load_input(file, options.comparison, common, streams);
    if (!loaded) { return ExitCode::interrupted; }
    pictures.push_back(loaded->simulated
                           ? report_pictures(*loaded->simulated, run_options_of(options.comparison.scenario))
                           : ReportPictures{});
    inputs.push_back({{"label", file},
                      {"scenario", loaded->text},
                      {"records", loaded->input.records},
                      {"pictures", pictures.back().by_case},
                      {"manifest", loaded->manifest}});
    if (!request.figure.empty()) { inputs.back()["figure"] = request.figure; }
    compared.push_back(std::move(loaded->input));
  }
  const Json data = {{"title", title_of(compared)},
                     {"version", program_version()},
                     {"figures", shown_figures()},
                     {"inputs", inputs},
                     {"comparison", comparison_of(compared, request)}};
  draw(common.library, streams, "html_report.py", data, path);
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
          .prepare = &prepared<ReportOptions, &report>};
}

}  // namespace athanor
