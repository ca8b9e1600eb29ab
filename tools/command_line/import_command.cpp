#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/exchange/msccl_import.hpp"
#include "sim/file.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/output_file.hpp"

namespace athanor {

namespace {

boost::program_options::options_description no_options() { return {}; }

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

nlohmann::ordered_json to_json(const std::string& path, const ImportedAlgorithm& algorithm) {
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

ExitCode import(const Invocation& invocation, const Streams& streams) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const std::string& path : invocation.arguments) {
    const ImportedAlgorithm algorithm = import_msccl(read_text_file(path), path);
    results.push_back(to_json(path, algorithm));
    if (!invocation.has("json")) { streams.out(summary(algorithm)); }
  }
  if (invocation.has("json")) { write_json(invocation, streams, nlohmann::ordered_json{{"results", results}}.dump(2)); }
  return ExitCode::ok;
}

}  // namespace

Command import_command() {
  return {.name = "import",
          .summary = "proves an MSCCL algorithm and says what it does",
          .arguments = "FILE.xml...",
          .explanation =
              "Reads the XML of msccl-tools, MSCCL and RCCL and executes it symbolically. What deadlocks, races or\n"
              "computes something else ends with exit code 3 and names rank, lane (thread block), step and line.\n",
          .example = "athanor import scenarios/algorithms/allreduce_ring_4.xml",
          .least_arguments = 1,
          .most_arguments = SIZE_MAX,
          .options = &no_options,
          .execute = &import};
}

}  // namespace athanor
