#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/printable.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/describe/named_clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

namespace athanor {

namespace {

struct DescribeOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  std::optional<std::string> dot, fabric;
};

void visit(OptionFields& fields, DescribeOptions& options) {
  fields.written_file("dot", options.dot, "the fabric as a Graphviz graph; of one case");
  fields.written_file("fabric", options.fabric, "devices, links and routes as JSON, for other programs; of one case");
  fields.texts("case", "NAME", options.scenario.cases, "only this case; repeatable");
  fields.texts("set", "/POINTER=VALUE", options.scenario.settings, "changes the scenario first; repeatable");
}

void write_fabric(const DescribeOptions& options, const std::vector<NamedCluster>& clusters) {
  if (options.dot) { write_text_file(*options.dot, to_dot(*the_only(clusters, "--dot writes").cluster)); }
  if (options.fabric) {
    write_text_file(*options.fabric, text_of(fabric_to_json(*the_only(clusters, "--fabric writes").cluster), 1) + "\n");
  }
}

ExitCode describe_clusters(const DescribeOptions& options, const Streams& streams) {
  const CommonOptions& common = options.common;
  const std::vector<NamedCluster> clusters =
      named_clusters_of(common.arguments[0], common.library, changes_of(options.scenario));
  write_fabric(options, clusters);
  const PriceList published = load_prices(common.library);
  JsonValue results = JsonValue::list();
  for (const NamedCluster& cluster : clusters) {
    const ClusterDescription description = describe(*cluster.cluster);
    const Bill bill = bill_of(*cluster.cluster, *cluster.config, cluster.prices, published);
    if (common.json) {
      results.push_back(to_json(description));
      results.back()["name"] = cluster.name;
      results.back().update(bill_json(bill));
    } else {
      streams.out(fmt::format("{}{}\n{}{}", &cluster == clusters.data() ? "" : "\n", printable(cluster.name),
                              printable_lines(to_text(description)), to_text(bill)));
    }
  }
  if (common.json) { write_json(common, streams, text_of(JsonValue{{"results", results}}, 2)); }
  return ExitCode::ok;
}

}  // namespace

Command describe_command() {
  return {
      .name = "describe",
      .summary = "sums up the cluster of a scenario or a preset",
      .arguments = "SCENARIO|PRESET",
      .explanation =
          "Devices, links, diameter, bisection bandwidth, oversubscription, and what it is made of, costs and draws;\n"
          "--dot draws it, --fabric hands it to other programs.\n",
      .example = "athanor describe DGX-H100 --dot dgx.dot",
      .least_arguments = 1,
      .most_arguments = 1,
      .prepare = &prepared<DescribeOptions, &describe_clusters>};
}

}  // namespace athanor
