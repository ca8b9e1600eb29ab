#include <filesystem>

#include <fmt/core.h>

#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tools/cli/output.hpp"
#include "tools/import/import_options.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

FabricHints checked_hints(const ImportOptions& options) {
  FabricHints hints = options.hints;
  if (options.oversubscription) { hints.links.oversubscription = *options.oversubscription; }
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
Json fabric_of(const std::string& word, const FileReader& files) {
  const bool inline_json = word.starts_with('{');
  const std::string file = inline_json ? "--fabric" : word;
  const Document document = Document::parse(inline_json ? word : files.text(word), file);
  Json json = document.root();
  if (const Json* cluster = json.find("cluster")) { json = Json(*cluster); }
  if (const Json* fabric = json.find("fabric")) { json = Json(*fabric); }
  if (json.is_object() && json.contains("kind")) { return json; }
  throw ScenarioError({"missing-key",
                       "there is no fabric",
                       {file, 1, 1, ""},
                       R"(give {"kind": "star", "switch": "QM9700"}, or a scenario with a "fabric")"});
}

void put_on_fabric(const ImportOptions& options, Json& cluster) {
  const std::optional<std::uint32_t>& nodes = options.nodes;
  if (!nodes && !options.fabric) { return; }
  if (!cluster.contains("node")) {
    throw UsageError("import: --nodes and --fabric go with machines (nccl-topology, nvidia-smi)");
  }
  if (nodes && *nodes > 1 && !options.fabric) {
    throw UsageError(
        R"(import: several nodes need --fabric, as in --fabric '{"kind": "star", "switch": "QM9700"}' or a file)");
  }
  cluster["nodes"] = nodes.value_or(1);
  if (options.fabric) { cluster["fabric"] = fabric_of(*options.fabric, options.common.library.files()); }
}

/// A graph is checked while it is imported, in linear time; the others are built once.
void check(const std::string& scenario, const std::string& path, const Presets& presets, Problems& problems) {
  const Document document = Document::parse(scenario, "imported from " + path);
  ClusterConfig config;
  read_document(document, problems, [&](Fields& fields) {
    std::string name;
    fields.optional("name", name, "");
    fields.required_object("cluster", "", [&](Fields& inner) { visit(inner, config); });
    fields.elsewhere("collective", "", [] { return JsonValue::object(); });
  });
  if (problems.empty()) { make_cluster(config, presets, {}, {}, problems); }
}

}  // namespace

void import_fabric_file(const ImportOptions& options, const Streams& streams, const std::string& path,
                        const std::string& text, FabricFormat format) {
  if (options.common.arguments.size() > 1) {
    throw UsageError("import: one fabric at a time; each becomes a file of its own");
  }
  const std::string output = options.destination();
  if (!output.empty()) { check_writable(output); }
  const auto presets =
      load_presets(options.common.library.files().in(options.common.library.folder(LibraryFolder::presets)));
  const FabricHints hints = checked_hints(options);
  Problems problems;
  ImportedFabric imported = import_fabric(text, path, format, hints, *presets, problems);
  problems.throw_if_any();
  put_on_fabric(options, imported.cluster);
  const bool graph = !imported.graph.empty();
  const std::string written = scenario_text(std::filesystem::path(path).stem().string(), imported);
  if (!graph) { check(written, path, *presets, problems); }
  problems.throw_if_any();
  write_to(output, streams, written);
  if (options.common.quiet) { return; }
  tell(streams, fmt::format("{}: {}", name(format), imported.summary));
  for (const std::string& note : imported.notes) { tell(streams, "note: " + note); }
}

}  // namespace athanor
