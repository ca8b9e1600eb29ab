#include "tools/plot/topology_use.hpp"

#include <algorithm>

#include "models/network/link_use.hpp"
#include "sim/config/json_value.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// By link; 0 of those that carried nothing.
std::vector<double> busy_shares(const Fabric& fabric, const RunResult& result) {
  std::vector<double> shares(fabric.links(), 0);
  for (const LinkLoad& load : result.simulated.network.loads) {
    shares[load.link.value] = utilisation(load.carried, fabric.link(load.link).usable, observed(result));
  }
  return shares;
}

}  // namespace

std::optional<Json> topology_use_json(const Cluster& cluster, const CollectiveSetup& setup, Bytes size,
                                      const Choice& choice, SimulationOptions options) {
  options.each_link = true;
  const RunResult result = choice.candidate.run(options);
  const std::vector<double> shares = busy_shares(*cluster.fabric, result);
  const auto busiest = std::max_element(shares.begin(), shares.end());
  if (busiest == shares.end() || *busiest == 0) { return {}; }
  Json json = graph_to_json(cluster);
  const LinkId link{static_cast<std::uint32_t>(busiest - shares.begin())};
  json["use"] = {{"collective", name(setup.kind)},
                 {"bytes", size.count()},
                 {"ranks", setup.ranks},
                 {"algorithm", result.algorithm},
                 {"time_us", microseconds(result.time)},
                 {"busiest", cluster.fabric->name(link)},
                 {"shares", shares}};
  return json;
}

}  // namespace athanor
