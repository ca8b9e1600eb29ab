#include <boost/program_options/value_semantic.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/printable.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/describe/named_clusters.hpp"
#include "topologies/cluster.hpp"
#include "topologies/description.hpp"

namespace athanor {

namespace {

boost::program_options::options_description describe_options() {
  namespace options = boost::program_options;
  options::options_description described("options");
  auto add = described.add_options();
  add("dot", options::value<std::string>()->value_name("FILE"), "the fabric as a Graphviz graph; of one case");
  add("fabric", options::value<std::string>()->value_name("FILE"),
      "devices, links and routes as JSON, for other programs; of one case");
  add("case", options::value<std::vector<std::string>>()->value_name("NAME"), "only this case; repeatable");
  add("set", options::value<std::vector<std::string>>()->value_name("/POINTER=VALUE"),
      "changes the scenario first; repeatable");
  return described;
}

void write_fabric(const Invocation& invocation, const std::vector<NamedCluster>& clusters) {
  if (invocation.has("dot")) {
    write_text_file(invocation.text("dot"), to_dot(*the_only(clusters, "--dot writes").cluster));
  }
  if (invocation.has("fabric")) {
    write_text_file(invocation.text("fabric"),
                    text_of(fabric_to_json(*the_only(clusters, "--fabric writes").cluster), 1) + "\n");
  }
}

ExitCode describe_clusters(const Invocation& invocation, const Streams& streams) {
  const std::vector<NamedCluster> clusters = named_clusters_of(invocation, invocation.arguments[0]);
  write_fabric(invocation, clusters);
  const PriceList published = load_prices(invocation.library);
  JsonValue results = JsonValue::list();
  for (const NamedCluster& cluster : clusters) {
    const ClusterDescription description = describe(*cluster.cluster);
    const Bill bill = bill_of(*cluster.cluster, *cluster.text, cluster.prices, published);
    if (invocation.has("json")) {
      results.push_back(json_value_of(text_of(to_json(description))).value());
      results.back()["name"] = cluster.name;
      results.back().update(bill_json(bill));
    } else {
      streams.out(fmt::format("{}{}\n{}{}", &cluster == clusters.data() ? "" : "\n", printable(cluster.name),
                              printable_lines(to_text(description)), to_text(bill)));
    }
  }
  if (invocation.has("json")) { write_json(invocation, streams, text_of(JsonValue{{"results", results}}, 2)); }
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
      .options = &describe_options,
      .execute = &describe_clusters};
}

}  // namespace athanor
