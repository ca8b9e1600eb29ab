#include <algorithm>
#include <filesystem>
#include <set>
#include <variant>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

#include "algorithms/formats/msccl_import.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/format.hpp"
#include "sim/printable.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/import/import_fabric_command.hpp"
#include "tools/import/import_measurement.hpp"

namespace athanor {

namespace {

boost::program_options::options_description import_options() {
  namespace options = boost::program_options;
  options::options_description result("options");
  auto add = result.add_options();
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("format", text("FORMAT"),
      "msccl, nccl-tests, nccl-tests-json, rccl-tests, osu, nccl-topology, nvidia-smi, ibnetdiscover, slurm, "
      "slurm-yaml or htsim; absent: by what the file holds");
  add("output,o", text("FILE"), "of a measurement or a scenario; absent: stdout");
  add("collective", text("NAME"), "of a measurement, where the text does not name it");
  add("ranks", text("N"), "that took part, where the text does not say it: always for OSU's collectives");
  add("nodes", text("N"), "that took part, where the text does not list them; of a machine: how many there are");
  add("hardware", text("TEXT"), "what was measured on, such as 'A100 SXM4 (DGX A100)'; absent: as the text says");
  add("source", text("TEXT"), "who measured, where it is published");
  add_fabric_options(result);
  return result;
}

std::string_view places(const MscclDocument& document) {
  if (document.in_place && document.out_of_place) { return "in and out of place"; }
  return document.in_place ? "in place" : "out of place";
}

std::string summary(const ImportedAlgorithm& algorithm) {
  const MscclDocument& document = algorithm.document();
  return fmt::format(
      "{}: {} over {} ranks, {}; payload in {} chunks, {} channel{}, protocol {}\n"
      "  {} steps, {} primitives in {} lanes, at least {} slot{} per connection\n"
      "  proven: it ends, no lanes race, and every output holds what {} promises\n",
      document.name, name(document.kind), algorithm.ranks(), places(document), document.chunks, document.channels,
      document.channels == 1 ? "" : "s", document.protocol.empty() ? "not given" : document.protocol, algorithm.steps(),
      algorithm.primitives(), algorithm.lanes(), algorithm.least_slots(), algorithm.least_slots() == 1 ? "" : "s",
      name(document.kind));
}

JsonValue to_json(const std::string& path, const ImportedAlgorithm& algorithm) {
  const MscclDocument& document = algorithm.document();
  return {{"path", path},
          {"name", document.name},
          {"collective", name(document.kind)},
          {"ranks", algorithm.ranks()},
          {"root", document.root},
          {"in_place", document.in_place},
          {"out_of_place", document.out_of_place},
          {"chunks", document.chunks},
          {"channels", document.channels},
          {"protocol", document.protocol},
          {"steps", algorithm.steps()},
          {"primitives", algorithm.primitives()},
          {"lanes", algorithm.lanes()},
          {"least_slots", algorithm.least_slots()},
          {"proven", true}};
}

ImportHints hints_of(const Invocation& invocation) {
  ImportHints hints;
  if (invocation.has("collective")) { hints.collective = named_collective("import", invocation.text("collective")); }
  hints.ranks = number_option("import", invocation, "ranks", 1);
  hints.nodes = number_option("import", invocation, "nodes", 1);
  if (invocation.has("hardware")) { hints.hardware = invocation.text("hardware"); }
  return hints;
}

std::vector<std::string> all_format_names() {
  std::vector<std::string> names = import_format_names();
  for (std::string& name : fabric_format_names()) { names.push_back(std::move(name)); }
  return names;
}

using AnyFormat = std::variant<ImportFormat, FabricFormat>;

AnyFormat named_format(const std::string& word) {
  if (const auto format = import_format(word)) { return *format; }
  if (const auto format = fabric_format(word)) { return *format; }
  throw UsageError(
      fmt::format("import: there is no format '{}'; choose from {}", word, fmt::join(all_format_names(), ", ")));
}

AnyFormat format_of(const Invocation& invocation, const std::string& path, const std::string& text) {
  if (invocation.has("format")) { return named_format(invocation.text("format")); }
  if (const auto format = recognised(text)) { return *format; }
  if (const auto format = recognised_fabric(text)) { return *format; }
  if (path.ends_with(".xml")) { return ImportFormat::msccl; }
  throw ScenarioError({"unknown-format",
                       "this is neither an algorithm, a fabric nor the output of a benchmark",
                       {path, 1, 1, ""},
                       fmt::format("--format names one of {}", fmt::join(all_format_names(), ", "))});
}

std::string summary(const Measurement& measurement) {
  const auto [least, most] = std::minmax_element(measurement.rows.begin(), measurement.rows.end(),
                                                 [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  std::set<std::string_view> collectives;
  for (const Measurement::Row& row : measurement.rows) { collectives.insert(name(row.collective)); }
  return fmt::format("athanor: {}: {} times of {} from {} to {}{}\n", measurement.kind, measurement.rows.size(),
                     fmt::join(collectives, ", "), to_string(least->bytes), to_string(most->bytes),
                     measurement.healthy ? "" : "; NOT healthy: " + printable(measurement.notes));
}

void import_table(const Invocation& invocation, const Streams& streams, const std::string& path, std::string text,
                  ImportFormat format) {
  if (invocation.arguments.size() > 1) {
    throw UsageError("import: one measurement at a time; each becomes a file of its own");
  }
  const std::string output = invocation.has("output") ? invocation.text("output")
                             : invocation.has("json") ? invocation.text("json")
                                                      : "";
  if (!output.empty()) { check_writable(output); }
  Problems problems;
  Measurement measurement = import_measurement(std::move(text), path, format, hints_of(invocation), problems);
  problems.throw_if_any();
  if (measurement.rows.empty()) {
    throw ScenarioError(
        {"not-a-table", "the table has no rows", {path, 1, 1, ""}, "give the whole output of the test"});
  }
  if (invocation.has("source")) { measurement.source = invocation.text("source"); }
  if (!output.empty()) { measurement.id = std::filesystem::path(output).stem().string(); }
  if (output.empty()) {
    streams.out(measurement_json(measurement));
  } else {
    write_text_file(output, measurement_json(measurement));
  }
  if (!invocation.quiet) { streams.err(summary(measurement)); }
}

ExitCode import(const Invocation& invocation, const Streams& streams) {
  JsonValue algorithms = JsonValue::list();
  for (const std::string& path : invocation.arguments) {
    std::string text = read_text_file(path);
    const AnyFormat format = format_of(invocation, path, text);
    if (const auto* fabric = std::get_if<FabricFormat>(&format)) {
      import_fabric_file(invocation, streams, path, text, *fabric);
      return ExitCode::ok;
    }
    if (format != AnyFormat(ImportFormat::msccl)) {
      import_table(invocation, streams, path, std::move(text), std::get<ImportFormat>(format));
      return ExitCode::ok;
    }
    const ImportedAlgorithm algorithm = import_msccl(text, path);
    algorithms.push_back(to_json(path, algorithm));
    if (!invocation.has("json")) { streams.out(printable_lines(summary(algorithm))); }
  }
  if (invocation.has("json")) { write_json(invocation, streams, text_of(JsonValue{{"results", algorithms}}, 2)); }
  return ExitCode::ok;
}

}  // namespace

Command import_command() {
  return {
      .name = "import",
      .summary = "reads fabrics and measurements of other programs, and proves MSCCL algorithms",
      .arguments = "FILE...",
      .explanation =
          "Descriptions of machines and fabrics become a scenario that can be run: NCCL_TOPO_DUMP_FILE,\n"
          "`nvidia-smi topo -m`, ibnetdiscover, Slurm's topology.conf and topology.yaml, htsim's .topo.\n"
          "The output of nccl-tests, rccl-tests and the OSU micro-benchmarks becomes a measurement file, for verify\n"
          "and calibrate. The XML of msccl-tools, MSCCL and RCCL is executed symbolically: what deadlocks, races or\n"
          "computes something else ends with exit code 3 and names rank, lane (thread block), step and line.\n",
      .example = "athanor import scenarios/algorithms/allreduce_ring_4.xml",
      .least_arguments = 1,
      .most_arguments = SIZE_MAX,
      .options = &import_options,
      .execute = &import};
}

}  // namespace athanor
