#include "tools/export/export_fabric.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/describe/named_clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/description.hpp"
#include "topologies/formats/exporters.hpp"

namespace athanor {

namespace {

struct FabricWriter {
  std::string_view name;
  std::string (*write)(const Cluster& cluster);
};

std::string to_json_text(const Cluster& cluster) { return fabric_to_json(cluster).dump(1) + "\n"; }

constexpr std::array<FabricWriter, 5> kWriters{{{"graphml", &to_graphml},
                                                {"simgrid", &to_simgrid},
                                                {"htsim", &to_htsim},
                                                {"dot", &to_dot},
                                                {"json", &to_json_text}}};

const FabricWriter& writer_of(const Invocation& invocation) {
  const std::string wanted = invocation.has("format") ? invocation.text("format") : "";
  std::vector<std::string_view> names;
  for (const FabricWriter& writer : kWriters) {
    if (writer.name == wanted) { return writer; }
    names.push_back(writer.name);
  }
  throw UsageError(wanted.empty() ? fmt::format("export fabric: --format {} is missing", fmt::join(names, "|"))
                                  : fmt::format("export fabric: there is no format '{}'; choose {}", wanted,
                                                fmt::join(names, ", ")));
}

constexpr std::array<std::string_view, 4> kFabricOptions{"format", "output", "case", "set"};

void check_fabric_options(const Invocation& invocation) {
  allow_only(invocation, "export fabric", kFabricOptions, "goes with schedules");
  if (invocation.has("json")) {
    throw UsageError("export fabric: --json is no summary here; --format json writes the fabric");
  }
}

}  // namespace

ExitCode export_fabric(const Invocation& invocation, const Streams& streams) {
  if (invocation.arguments.size() != 2) {
    throw UsageError("export fabric: one SCENARIO or PRESET, as in `athanor export fabric DGX-H100 --format graphml`");
  }
  check_fabric_options(invocation);
  const FabricWriter& writer = writer_of(invocation);
  const std::string path = invocation.has("output") ? invocation.text("output") : "";
  if (!path.empty()) { check_writable(path); }
  const auto clusters = named_clusters_of(invocation, invocation.arguments[1]);
  const Cluster& cluster = *the_only(clusters, "export fabric writes").cluster;
  const std::string text = writer.write(cluster);
  if (path.empty()) {
    streams.out(text);
  } else {
    write_text_file(path, text);
  }
  if (!invocation.quiet) {
    streams.err(fmt::format("athanor: {}: {}, {} devices, {} links\n", writer.name, cluster.description,
                            cluster.fabric->vertices(), cluster.fabric->links()));
  }
  return ExitCode::ok;
}

}  // namespace athanor
