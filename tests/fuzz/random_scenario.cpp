#include "tests/fuzz/random_scenario.hpp"

#include "models/software/profile.hpp"
#include "tests/fuzz/random_cluster.hpp"
#include "tests/fuzz/random_trace.hpp"
#include "tests/fuzz/random_workload.hpp"
#include "topologies/cluster.hpp"

namespace athanor::fuzz {

namespace {

Json network(Draws& draws, const std::string& fabric) {
  Json json{{"level", draws.one_of({"flow", "flow", "flow", "flow", "ideal", "packet"})}};
  if (fabric == "fat_tree" || fabric == "k_ary_n_tree" || fabric == "rail_optimized") {
    json["routing"] = draws.one_of({"d_mod_k", "ecmp"});
  } else if (fabric == "dragonfly" || fabric == "dragonfly_plus" || fabric == "slim_fly") {
    json["routing"] = draws.one_of({"minimal", "valiant", "ugal"});
  } else if (fabric == "hyperx" || fabric == "full_mesh") {
    json["routing"] = draws.one_of({"dimension_order", "valiant", "ugal"});
  }
  if (json["level"] == "packet" && draws.one_in(2)) {
    json["transport"] = {{"payload", fmt::format("{}B", 1024U << draws.below(3))}, {"header", "64B"}};
  }
  return json;
}

Json profile(Draws& draws, bool has_nodes) {
  Json protocol{{"name", "p"}, {"overhead", draws.time_text(2 * draws.between(0, 1000))}};
  protocol["network"] = {{"latency", draws.time_text(2 * draws.between(0, 2000))}};
  if (draws.one_in(2)) { protocol["network"]["rate"] = draws.rate_text(draws.one_of({16U, 80U})); }
  if (has_nodes) { protocol["node"] = {{"latency", draws.time_text(2 * draws.between(0, 500))}}; }
  if (draws.one_in(3)) { protocol["chunk"] = "65536B"; }
  Json json{{"launch", draws.time_text(2 * draws.between(0, 3000))}, {"protocols", {protocol}}};
  if (draws.one_in(3)) { json["reduce_rate"] = draws.rate_text(400); }
  return json;
}

/// What suits any cluster.
Json of_hosts(Draws& draws) {
  RandomWorkload workload(draws);
  const RandomCluster cluster = random_cluster(draws);
  Json scenario{{"cluster", cluster.section}};
  bool may_have_profile = false;
  switch (draws.below(10)) {
    case 0: scenario["traffic"] = workload.traffic(); break;
    case 1: scenario["parameter_server"] = workload.parameter_server(); break;
    case 2: scenario["collective"] = workload.jobs(); break;
    default: scenario["collective"] = workload.collective(); may_have_profile = true;
  }
  scenario["network"] = network(draws, cluster.fabric);
  if (may_have_profile && draws.one_in(3)) { scenario["profile"] = profile(draws, cluster.has_nodes); }
  return scenario;
}

Json of_nccl(Draws& draws) {
  RandomWorkload workload(draws);
  const RandomCluster cluster = random_machines(draws);
  Json scenario{{"cluster", cluster.section},
                {"nccl", workload.nccl()},
                {"collective", workload.nccl_collective()},
                {"network", network(draws, cluster.fabric)}};
  draws.one_in(2) ? scenario["software"] = workload.software() : scenario["profile"] = cluster.profile;
  return scenario;
}

Json of_training(Draws& draws) {
  const RandomCluster cluster = draws.one_in(3) ? random_machines(draws) : random_gpus(draws);
  Json scenario{{"cluster", cluster.section}, {"network", network(draws, cluster.fabric)}};
  scenario["network"]["level"] = "flow";
  scenario["network"].erase("transport");
  RandomWorkload workload(draws);
  if (!cluster.profile.empty() && draws.one_in(2)) {
    draws.one_in(2) ? scenario["software"] = workload.software() : scenario["profile"] = cluster.profile;
  }
  scenario["training"] = workload.training(cluster.endpoints);
  if (cluster.profile == "nccl-generic-volta") { scenario["training"]["precision"] = "fp16"; }
  return scenario;
}

Json of_traces(Draws& draws, const std::string& traces) {
  const RandomCluster cluster = draws.one_in(4) ? random_machines(draws) : random_cluster(draws);
  Json scenario{{"cluster", cluster.section}, {"network", network(draws, cluster.fabric)}};
  scenario["network"]["level"] = "flow";
  scenario["network"].erase("transport");
  scenario["trace"] = RandomWorkload(draws).trace(traces);
  return scenario;
}

}  // namespace

Json random_scenario(RandomStream& random, const std::string& traces) {
  Draws draws(random);
  Json scenario;
  switch (draws.below(10)) {
    case 0: scenario = of_nccl(draws); break;
    case 1: scenario = of_training(draws); break;
    case 2: scenario = draws.one_in(2) ? random_own_trace(draws) : of_traces(draws, traces); break;
    default: scenario = of_hosts(draws);
  }
  if (draws.one_in(3)) { scenario["seed"] = 1 + draws.below(1000); }
  return scenario;
}

}  // namespace athanor::fuzz
