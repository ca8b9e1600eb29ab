#include <array>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/words.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/describe/named_clusters.hpp"
#include "tools/export/export_options.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"
#include "topologies/formats/exporters.hpp"

namespace athanor {

namespace {

struct FabricWriter {
  std::string_view name;
  std::string (*write)(const Cluster& cluster);
};

std::string to_json_text(const Cluster& cluster) { return text_of(fabric_to_json(cluster), 1) + "\n"; }

constexpr std::array<FabricWriter, 5> kWriters{{{"graphml", &to_graphml},
                                                {"simgrid", &to_simgrid},
                                                {"htsim", &to_htsim},
                                                {"dot", &to_dot},
                                                {"json", &to_json_text}}};

const FabricWriter& writer_of(const ExportOptions& options) {
  const std::string wanted = options.format.value_or("");
  std::vector<std::string_view> names;
  for (const FabricWriter& writer : kWriters) {
    if (writer.name == wanted) { return writer; }
    names.push_back(writer.name);
  }
  throw UsageError(wanted.empty()
                       ? fmt::format("export fabric: --format {} is missing", joined(names, "|"))
                       : fmt::format("export fabric: there is no format '{}'; choose {}", wanted, joined(names, ", ")));
}

constexpr std::array<std::string_view, 4> kFabricOptions{"format", "output", "case", "set"};

void check_fabric_options(const ExportOptions& options) {
  allow_only(options.common, "export fabric", kFabricOptions, "goes with schedules");
  if (options.common.json) {
    throw UsageError("export fabric: --json is no summary here; --format json writes the fabric");
  }
}

}  // namespace

ExitCode export_fabric(const ExportOptions& options, const Streams& streams) {
  if (options.common.arguments.size() != 2) {
    throw UsageError("export fabric: one SCENARIO or PRESET, as in `athanor export fabric DGX-H100 --format graphml`");
  }
  check_fabric_options(options);
  const FabricWriter& writer = writer_of(options);
  const std::string path = options.destination();
  if (!path.empty()) { check_writable(path); }
  const auto clusters =
      named_clusters_of(options.common.arguments[1], options.common.library, changes_of(options.scenario));
  const Cluster& cluster = *the_only(clusters, "export fabric writes").cluster;
  const std::string text = writer.write(cluster);
  write_to(path, streams, text);
  if (!options.common.quiet) {
    streams.err(fmt::format("athanor: {}: {}, {} devices, {} links\n", writer.name, cluster.description,
                            cluster.fabric->vertices(), cluster.fabric->links()));
  }
  return ExitCode::ok;
}

}  // namespace athanor
