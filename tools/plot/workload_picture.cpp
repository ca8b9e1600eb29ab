#include "tools/plot/workload_picture.hpp"

#include "models/experiments/shared_cluster.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

JsonValue workload_picture(const Case& scenario_case, const RunOptions& options) {
  const auto* workload = scenario_case.as<SharedClusterExperiment>();
  if (workload == nullptr) { return {}; }
  const std::vector<std::uint64_t>& seeds = scenario_case.seeds;
  const Platform& given = scenario_case.platform;
  JsonValue json = workload->picture(seeds.empty() ? given : with_seed(given, seeds.front()), options);
  json["case"] = scenario_case.name;
  json["seeds"] = seeds.size();
  return json;
}

}  // namespace athanor
