#include "tests/fuzz/random_cluster.hpp"

#include "topologies/cluster.hpp"

namespace athanor::fuzz {

namespace {

class Generator {
 public:
  explicit Generator(Draws& draws) : draws_(draws) {}

  RandomCluster any() { return described(cluster()); }
  RandomCluster gpus() { return described(nodes()); }

 private:
  RandomCluster described(Json section) {
    return {
        .section = std::move(section), .fabric = fabric_, .has_nodes = nodes_, .endpoints = endpoints_, .profile = {}};
  }

  Json cluster() {
    Json json;
    switch (draws_.below(11)) {
      case 0: return star();
      case 1:
      case 2: return fat_tree();
      case 3: json["fabric"] = {{"kind", "k_ary_n_tree"}, {"arity", 2}, {"levels", draws_.between(1, 3)}}; break;
      case 4: json["fabric"] = {{"kind", draws_.one_in(2) ? "torus" : "mesh"}, {"dimensions", sides()}}; break;
      case 5:
        json["fabric"] = {
            {"kind", "full_mesh"}, {"switches", draws_.between(2, 5)}, {"hosts_per_switch", draws_.between(1, 3)}};
        break;
      case 6:
        json["fabric"] = {{"kind", "hyperx"}, {"dimensions", sides()}, {"hosts_per_switch", draws_.between(1, 2)}};
        break;
      case 7:
        json["fabric"] = {{"kind", "dragonfly"},
                          {"hosts_per_router", draws_.between(1, 2)},
                          {"routers_per_group", 2},
                          {"global_cables", 1}};
        if (draws_.one_in(2)) { json["fabric"]["global_link"] = draws_.link(); }
        break;
      case 8:
        json["fabric"] = {{"kind", "dragonfly_plus"},
                          {"leaves_per_group", 2},
                          {"hosts_per_leaf", draws_.between(1, 2)},
                          {"groups", draws_.between(2, 3)}};
        break;
      case 9: json["fabric"] = {{"kind", "slim_fly"}, {"q", 3}, {"hosts_per_router", 1}}; break;
      default: return nodes();
    }
    fabric_ = json["fabric"]["kind"];
    json["fabric"]["link"] = draws_.link();
    return json;
  }

  Json star() {
    fabric_ = "star";
    return {{"nodes", draws_.between(2, 12)}, {"fabric", {{"kind", "star"}, {"link", draws_.link()}}}};
  }

  Json fat_tree() {
    fabric_ = "fat_tree";
    const unsigned hosts = draws_.between(1, 4);
    Json fabric{{"kind", "fat_tree"}, {"hosts_per_leaf", hosts}, {"link", draws_.link()}};
    if (hosts > 1 && draws_.one_in(2)) { fabric["oversubscription"] = hosts; }
    if (draws_.one_in(3)) { fabric["uplink"] = fabric["link"]; }
    return {{"nodes", hosts * draws_.between(2, 4)}, {"fabric", std::move(fabric)}};
  }

  /// GPUs on an NVSwitch, each with a NIC.
  Json nodes() {
    const unsigned gpus = draws_.one_of({2U, 4U});
    fabric_ = draws_.one_of({"star", "rail_optimized"});
    Json node{{"gpu", "A100-SXM-80GB"},
              {"gpus", gpus},
              {"scale_up", {{"kind", "nvswitch"}}},
              {"sockets", 1},
              {"pcie_link", "pcie4x16"},
              {"nic", "CX6-200GbE"},
              {"nics", gpus},
              {"pcie", Json::array()}};
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      node["pcie"].push_back({{"socket", 0}, {"gpus", {gpu}}, {"nics", {gpu}}, {"switch", draws_.one_in(2)}});
    }
    nodes_ = true;
    const unsigned count = draws_.between(1, 3);
    endpoints_ = gpus * count;
    Json fabric{{"kind", fabric_}, {"link", draws_.link()}};
    if (fabric_ == "rail_optimized") {
      fabric["leaves"] = gpus;
      fabric["spines"] = draws_.between(1, 2);
    }
    return {{"node", std::move(node)}, {"nodes", count}, {"fabric", std::move(fabric)}};
  }

  Json sides() {
    Json list = Json::array();
    const unsigned count = draws_.between(1, 3);
    for (unsigned i = 0; i < count; ++i) { list.push_back(draws_.between(2, count == 3 ? 2 : 4)); }
    return list;
  }

  Draws& draws_;
  std::string fabric_;
  bool nodes_ = false;
  unsigned endpoints_ = 0;
};

}  // namespace

RandomCluster random_cluster(Draws& draws) { return Generator(draws).any(); }

RandomCluster random_gpus(Draws& draws) { return Generator(draws).gpus(); }

RandomCluster random_machines(Draws& draws) {
  struct Machine {
    const char* node;
    unsigned gpus;
    const char* profile;
  };
  const auto [node, gpus, profile] = draws.one_of<Machine>({{"DGX-1V", 8, "nccl-generic-volta"},
                                                            {"DGX-A100", 8, "nccl-generic-ampere"},
                                                            {"DGX-H100", 8, "nccl-generic-hopper"},
                                                            {"DGX-H100", 8, "nccl-hopper-ib"}});
  RandomCluster cluster{.section = {{"node", node}, {"nodes", draws.between(1, 2)}},
                        .fabric = draws.one_of({"star", "rail_optimized"}),
                        .has_nodes = true,
                        .endpoints = 0,
                        .profile = profile};
  const unsigned nodes = cluster.section["nodes"];
  cluster.endpoints = gpus * nodes;
  cluster.section["fabric"] = {{"kind", cluster.fabric}, {"link", draws.link()}};
  if (cluster.fabric == "rail_optimized") { cluster.section["fabric"].update({{"leaves", gpus}, {"spines", 2}}); }
  return cluster;
}

}  // namespace athanor::fuzz
