#include <algorithm>
#include <filesystem>
#include <set>
#include <variant>

#include <fmt/core.h>

#include "algorithms/formats/msccl_import.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/format.hpp"
#include "sim/printable.hpp"
#include "sim/words.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output.hpp"
#include "tools/import/import_measurement.hpp"
#include "tools/import/import_options.hpp"

namespace athanor {

namespace {

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

ImportHints hints_of(const ImportOptions& options) {
  ImportHints hints;
  if (options.collective) { hints.collective = named_collective("import", *options.collective); }
  hints.ranks = options.ranks;
  hints.nodes = options.nodes;
  if (options.hardware) { hints.hardware = *options.hardware; }
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
      fmt::format("import: there is no format '{}'; choose from {}", word, joined(all_format_names(), ", ")));
}

AnyFormat format_of(const ImportOptions& options, const std::string& path, const std::string& text) {
  if (options.format) { return named_format(*options.format); }
  if (const auto format = recognised(text)) { return *format; }
  if (const auto format = recognised_fabric(text)) { return *format; }
  if (path.ends_with(".xml")) { return ImportFormat::msccl; }
  throw ScenarioError({"unknown-format",
                       "this is neither an algorithm, a fabric nor the output of a benchmark",
                       {path, 1, 1, ""},
                       fmt::format("--format names one of {}", joined(all_format_names(), ", "))});
}

std::string summary(const Measurement& measurement) {
  const auto [least, most] = std::minmax_element(measurement.rows.begin(), measurement.rows.end(),
                                                 [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  std::set<std::string_view> collectives;
  for (const Measurement::Row& row : measurement.rows) { collectives.insert(name(row.collective)); }
  return fmt::format("athanor: {}: {} times of {} from {} to {}{}\n", measurement.kind, measurement.rows.size(),
                     joined(collectives, ", "), to_string(least->bytes), to_string(most->bytes),
                     measurement.healthy ? "" : "; NOT healthy: " + printable(measurement.notes));
}

void import_table(const ImportOptions& options, const Streams& streams, const std::string& path, std::string text,
                  ImportFormat format) {
  if (options.common.arguments.size() > 1) {
    throw UsageError("import: one measurement at a time; each becomes a file of its own");
  }
  const std::string output = options.destination();
  if (!output.empty()) { check_writable(output); }
  Problems problems;
  Measurement measurement = import_measurement(std::move(text), path, format, hints_of(options), problems);
  problems.throw_if_any();
  if (measurement.rows.empty()) {
    throw ScenarioError(
        {"not-a-table", "the table has no rows", {path, 1, 1, ""}, "give the whole output of the test"});
  }
  if (options.source) { measurement.source = *options.source; }
  if (!output.empty()) { measurement.id = std::filesystem::path(output).stem().string(); }
  write_to(output, streams, measurement_json(measurement));
  if (!options.common.quiet) { streams.err(summary(measurement)); }
}

ExitCode import(const ImportOptions& options, const Streams& streams) {
  JsonValue algorithms = JsonValue::list();
  for (const std::string& path : options.common.arguments) {
    std::string text = read_text_file(path);
    const AnyFormat format = format_of(options, path, text);
    if (const auto* fabric = std::get_if<FabricFormat>(&format)) {
      import_fabric_file(options, streams, path, text, *fabric);
      return ExitCode::ok;
    }
    if (format != AnyFormat(ImportFormat::msccl)) {
      import_table(options, streams, path, std::move(text), std::get<ImportFormat>(format));
      return ExitCode::ok;
    }
    const ImportedAlgorithm algorithm = import_msccl(text, path);
    algorithms.push_back(to_json(path, algorithm));
    if (!options.common.json) { streams.out(printable_lines(summary(algorithm))); }
  }
  if (options.common.json) { write_json(options.common, streams, text_of(JsonValue{{"results", algorithms}}, 2)); }
  return ExitCode::ok;
}

}  // namespace

void visit(OptionFields& fields, ImportOptions& options) {
  fields.text("format", "FORMAT", options.format,
              "msccl, nccl-tests, nccl-tests-json, rccl-tests, osu, nccl-topology, nvidia-smi, ibnetdiscover, slurm, "
              "slurm-yaml or htsim; absent: by what the file holds");
  fields.written_file("output,o", options.output, "of a measurement or a scenario; absent: stdout");
  fields.text("collective", "NAME", options.collective, "of a measurement, where the text does not name it");
  fields.number("ranks", "N", options.ranks, 1,
                "that took part, where the text does not say it: always for OSU's collectives");
  fields.number("nodes", "N", options.nodes, 1,
                "that took part, where the text does not list them; of a machine: how many there are");
  fields.text("hardware", "TEXT", options.hardware,
              "what was measured on, such as 'A100 SXM4 (DGX A100)'; absent: as the text says");
  fields.text("source", "TEXT", options.source, "who measured, where it is published");
  FabricHints& hints = options.hints;
  fields.text("name", "TEXT", hints.name, "of a machine; absent: that of the file");
  fields.text("fabric", "FILE|JSON", options.fabric, "of machines: what joins --nodes of them");
  fields.text("gpu", "PRESET", hints.hardware.gpu, "nvidia-smi: the GPU, which gives the rates of NVLink and PCIe");
  fields.text("nic", "PRESET", hints.hardware.nic, "nvidia-smi, nccl-topology: the NIC");
  fields.text("socket-link", "PRESET", hints.hardware.socket_link,
              "nvidia-smi: between CPUs, as in upi-sapphire-rapids");
  fields.quantity("link-rate", "RATE", hints.links.rate, &parse_bandwidth, "slurm: of a host's link, as in 400Gb/s");
  fields.quantity("link-latency", "TIME", hints.links.latency, &parse_time,
                  "slurm, ibnetdiscover: of each link, the forwarding of the switch included");
  fields.quantity("oversubscription", "N", options.oversubscription, &parse_ratio,
                  "slurm: bandwidth down / up of a switch; absent: 1");
  fields.text("topology", "NAME", hints.topology, "slurm-yaml: which one; absent: the cluster's default");
}

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
      .prepare = &prepared<ImportOptions, &import>};
}

}  // namespace athanor
