#include "tools/import/import_fabric_command.hpp"

#include <filesystem>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>

#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_file.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

std::string text_option(const Invocation& invocation, const char* option) {
  return invocation.has(option) ? invocation.text(option) : "";
}

FabricHints fabric_hints_of(const Invocation& invocation) {
  FabricHints hints;
  hints.name = text_option(invocation, "name");
  hints.hardware = {text_option(invocation, "gpu"), text_option(invocation, "nic"),
                    text_option(invocation, "socket-link")};
  hints.topology = text_option(invocation, "topology");
  if (invocation.has("link-rate")) {
    hints.links.rate = quantity_option("import", invocation, "link-rate", &parse_bandwidth);
  }
  if (invocation.has("link-latency")) {
    hints.links.latency = quantity_option("import", invocation, "link-latency", &parse_time);
  }
  if (invocation.has("oversubscription")) {
    hints.links.oversubscription = quantity_option("import", invocation, "oversubscription", &parse_ratio);
  }
  if (hints.links.rate && *hints.links.rate <= Bandwidth::zero()) {
    throw UsageError("import: --link-rate must be above 0");
  }
  if (hints.links.latency && *hints.links.latency < Time::zero()) {
    throw UsageError("import: --link-latency must not be below 0");
  }
  const Ratio ratio = hints.links.oversubscription;
  if (ratio.numerator <= 0 || ratio.numerator > 1000 * ratio.denominator) {
    throw UsageError("import: --oversubscription is above 0 and at most 1000");
  }
  return hints;
}

/// Written out on the command line, or in a file: a fabric, or a cluster or scenario that has one.
Json fabric_of(const std::string& word) {
  const bool inline_json = word.starts_with('{');
  const std::string file = inline_json ? "--fabric" : word;
  const Document document = Document::parse(inline_json ? word : read_text_file(word), file);
  Json json = Json::parse(document.root().dump());
  if (json.contains("cluster")) { json = json["cluster"]; }
  if (json.contains("fabric")) { json = json["fabric"]; }
  if (json.is_object() && json.contains("kind")) { return json; }
  throw ScenarioError({"missing-key",
                       "there is no fabric",
                       {file, 1, 1, ""},
                       R"(give {"kind": "star", "switch": "QM9700"}, or a scenario with a "fabric")"});
}

void put_on_fabric(const Invocation& invocation, Json& cluster) {
  const auto nodes = number_option("import", invocation, "nodes", 1);
  if (!nodes && !invocation.has("fabric")) { return; }
  if (!cluster.contains("node")) {
    throw UsageError("import: --nodes and --fabric go with machines (nccl-topology, nvidia-smi)");
  }
  if (nodes && *nodes > 1 && !invocation.has("fabric")) {
    throw UsageError(
        R"(import: several nodes need --fabric, as in --fabric '{"kind": "star", "switch": "QM9700"}' or a file)");
  }
  cluster["nodes"] = nodes.value_or(1);
  if (invocation.has("fabric")) { cluster["fabric"] = fabric_of(invocation.text("fabric")); }
}

/// A graph is checked while it is imported, in linear time; the others are built once.
void check(const std::string& scenario, const std::string& path, const Presets& presets, Problems& problems) {
  const Document document = Document::parse(scenario, "imported from " + path);
  ClusterText text;
  read_document(document, problems, [&](Fields& fields) {
    std::string name;
    fields.optional("name", name, "");
    fields.required_object("cluster", "", [&](Fields& inner) { visit(inner, text); });
    fields.elsewhere("collective", "", [] { return nlohmann::json::object(); });
  });
  if (problems.empty()) { make_cluster(text, presets, {}, {}, problems); }
}

}  // namespace

void add_fabric_options(boost::program_options::options_description& described) {
  namespace options = boost::program_options;
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  auto add = described.add_options();
  add("name", text("TEXT"), "of a machine; absent: that of the file");
  add("fabric", text("FILE|JSON"), "of machines: what joins --nodes of them");
  add("gpu", text("PRESET"), "nvidia-smi: the GPU, which gives the rates of NVLink and PCIe");
  add("nic", text("PRESET"), "nvidia-smi, nccl-topology: the NIC");
  add("socket-link", text("PRESET"), "nvidia-smi: between CPUs, as in upi-sapphire-rapids");
  add("link-rate", text("RATE"), "slurm: of a host's link, as in 400Gb/s");
  add("link-latency", text("TIME"), "slurm, ibnetdiscover: of each link, the forwarding of the switch included");
  add("oversubscription", text("N"), "slurm: bandwidth down / up of a switch; absent: 1");
  add("topology", text("NAME"), "slurm-yaml: which one; absent: the cluster's default");
}

void import_fabric_file(const Invocation& invocation, const Streams& streams, const std::string& path,
                        const std::string& text, FabricFormat format) {
  if (invocation.arguments.size() > 1) {
    throw UsageError("import: one fabric at a time; each becomes a file of its own");
  }
  const std::string output = invocation.has("output") ? invocation.text("output")
                             : invocation.has("json") ? invocation.text("json")
                                                      : "";
  if (!output.empty()) { check_writable(output); }
  const auto presets = load_presets(invocation.library.folder(Shelf::presets));
  const FabricHints hints = fabric_hints_of(invocation);
  Problems problems;
  ImportedFabric imported = import_fabric(text, path, format, hints, *presets, problems);
  problems.throw_if_any();
  put_on_fabric(invocation, imported.cluster);
  const bool graph = !imported.graph.empty();
  const std::string written = scenario_text(std::filesystem::path(path).stem().string(), imported);
  if (!graph) { check(written, path, *presets, problems); }
  problems.throw_if_any();
  if (output.empty()) {
    streams.out(written);
  } else {
    write_text_file(output, written);
  }
  if (invocation.quiet) { return; }
  tell(streams, fmt::format("{}: {}", name(format), imported.summary));
  for (const std::string& note : imported.notes) { tell(streams, "note: " + note); }
}

}  // namespace athanor
