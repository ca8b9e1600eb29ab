#include "topologies/scenario/make_cluster.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "sim/words.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"
#include "topologies/kinds/fabric_kind.hpp"
#include "topologies/node/node_template.hpp"
#include "topologies/scenario/make_network.hpp"

namespace athanor {

namespace {

/// Every two GPUs or processes of a node must reach each other, and each of them a NIC where there are any.
void check_reachable(const NodeSpec& spec, const SourceLocation& place, Problems& problems) {
  const NodeTemplate node(spec);
  const auto joined = [&](std::uint32_t from, std::uint32_t to) {
    return from == to || node.next_port(from, to) != NodeTemplate::kNoPort;
  };
  const char* const rank = spec.processes > 0 ? "process" : "GPU";
  for (std::uint32_t from = 0; from < spec.endpoints(); ++from) {
    for (std::uint32_t to = 0; to < spec.endpoints(); ++to) {
      if (joined(from, to)) { continue; }
      problems.add({"unreachable", fmt::format("{0} {1} of the node cannot reach {0} {2}", rank, from, to), place,
                    "join the sockets by \"socket_link\", or the GPUs by NVLink"});
      return;
    }
    if (spec.nics > 0 && !joined(from, node.nic_vertex(node.nearest_nic(from)))) {
      problems.add({"unreachable", fmt::format("{} {} of the node reaches no NIC", rank, from), place,
                    "put a NIC on its socket, or join the sockets by \"socket_link\""});
      return;
    }
  }
}

void check_node(const NodeConfig& config, const Presets& presets, Problems& problems) {
  Problems seen_later;
  const std::optional<NodeSpec> node = make_node(config, presets, seen_later);
  if (node) { check_reachable(*node, config.place, problems); }
}

std::optional<Cluster> make_single(const ClusterConfig& config, const Presets& presets, const RoutingRequest& routing,
                                   Problems& problems) {
  const std::optional<NodeSpec> node = make_node(*config.node, presets, problems);
  if (config.nodes.value_or(1) > 1) {
    problems.add({"missing-key", fmt::format("{} nodes need a \"fabric\" that joins them", *config.nodes),
                  config.nodes_place, R"(write "fabric": {"kind": "star", "switch": "QM9700"})"});
    return std::nullopt;
  }
  const bool of_networks = routing.routing && *routing.routing != Routing::ecmp && *routing.routing != Routing::d_mod_k;
  if (of_networks) {
    throw ScenarioError(Problem{"routing",
                                fmt::format("a single node cannot be routed by {}", name(*routing.routing)),
                                {},
                                "leave out the routing"});
  }
  if (routing.pxn.value_or(false)) {
    throw ScenarioError(Problem{"routing", "pxn chooses NICs, which one node alone does not use", {}, "leave it out"});
  }
  if (!node) { return std::nullopt; }
  return single_node(*node);
}

std::optional<Cluster> make_graph(const GraphConfig& config, const RoutingRequest& routing, Problems& problems) {
  const std::optional<ExplicitGraph> graph = make_explicit_graph(config, problems);
  if (!graph) { return std::nullopt; }
  return explicit_graph(*graph, routing);
}

/// Makes the cluster of nodes or hosts on one fabric or several.
class ClusterMaker {
 public:
  ClusterMaker(const ClusterConfig& config, const Presets& presets, Problems& problems)
      : config_(config), presets_(presets), problems_(problems) {
    if (config.fabric) { fabrics_.push_back(&*config.fabric); }
    for (const FabricSettings& fabric : config.fabrics) { fabrics_.push_back(&fabric); }
  }

  std::optional<Cluster> make(const RoutingRequest& routing, const SourceLocation& fabric_place) {
    const std::size_t before = problems_.size();
    find_members();
    if (problems_.size() > before) {
      check_switches();
      return std::nullopt;
    }
    check_positions();
    check_shared_nics();
    for (const FabricSettings* fabric : fabrics_) { add_network(*fabric); }
    if (problems_.size() > before) { return std::nullopt; }
    const std::optional<std::size_t> used = used_fabric(routing.fabric, fabric_place);
    if (!used || !same_members()) { return std::nullopt; }
    Cluster cluster = assemble(networks_, *used, routing);
    warn_of_idle_nics(cluster);
    return cluster;
  }

 private:
  void find_members() {
    const auto add = [&](const NodeConfig& config) {
      if (const auto made = make_node(config, presets_, problems_)) {
        members_.nodes.push_back(std::make_shared<const NodeTemplate>(*made));
      }
    };
    if (config_.node) { add(*config_.node); }
    for (const NodeCountConfig& kind : config_.mixture) { add(kind.node); }
    for (const FabricSettings* fabric : fabrics_) {
      if (fabric->kind->positions() != VertexKind::host) { members_.positions = fabric->kind->positions(); }
    }
  }

  /// Told beside what is wrong with the nodes.
  void check_switches() {
    for (const FabricSettings* fabric : fabrics_) {
      const Switching& switches = fabric->kind->switches();
      if (switches.device) { made(*switches.device, presets_.switches, problems_); }
    }
  }

  /// What is wrong with one fabric is reported there.
  void add_network(const FabricSettings& fabric) {
    try {
      auto made = make_network(fabric, config_, members_, presets_, problems_);
      if (made) { networks_.push_back(std::move(*made)); }
    } catch (const ScenarioError& error) {
      if (fabrics_.size() == 1) { throw; }
      for (Problem problem : error.problems()) {
        problem.place = fabric.place;
        problem.message = fmt::format("{}: {}", fabric.name, problem.message);
        problems_.add(std::move(problem));
      }
    }
  }

  /// Of hosts that are the routers of a network: they are of one only.
  void check_positions() {
    const FabricSettings* first = nullptr;
    for (const FabricSettings* fabric : fabrics_) {
      if (!fabric->kind->members_are_routers() || !members_.nodes.empty()) { continue; }
      if (first != nullptr) {
        problems_.add({"conflict", fmt::format("hosts are the positions of both {} and {}", first->name, fabric->name),
                       fabric->place, "make them positions of one, and join them by switches in the other"});
      }
      first = fabric;
    }
  }

  void check_shared_nics() {
    std::map<std::uint32_t, const FabricSettings*> owners;
    for (const FabricSettings* fabric : fabrics_) {
      if (fabrics_.size() > 1 && !fabric->nics && !members_.nodes.empty()) {
        problems_.add({"missing-key", fmt::format("which NICs are on {}?", fabric->name), fabric->place,
                       R"(say so by their numbers, as in "nics": [0, 1, 2, 3])"});
      }
      if (!fabric->nics) { continue; }
      for (const std::uint32_t nic : *fabric->nics) {
        const auto [owner, first] = owners.emplace(nic, fabric);
        if (first || owner->second == fabric) { continue; }
        problems_.add({"conflict", fmt::format("NIC {} is on {} and on {}", nic, owner->second->name, fabric->name),
                       fabric->nics_place, "a NIC has a port to one of them"});
      }
    }
  }

  /// As asked for; else the one with the most bandwidth out of a node.
  std::optional<std::size_t> used_fabric(const std::string& wanted, const SourceLocation& place) {
    std::vector<std::string> names;
    for (const AttachedNetwork& network : networks_) { names.push_back(network.name); }
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (!wanted.empty() && found != names.end()) { return found - names.begin(); }
    if (!wanted.empty() && networks_.size() == 1 && names[0].empty()) {
      problems_.add({"no-such-fabric",
                     fmt::format("there is no fabric \"{}\": the cluster has one without a name", wanted), place,
                     "leave it out"});
      return std::nullopt;
    }
    if (!wanted.empty()) {
      const std::string near = nearest(wanted, names);
      problems_.add({"no-such-fabric", fmt::format("there is no fabric \"{}\"", wanted), place,
                     near.empty() ? fmt::format("there are {}", joined(names, ", "))
                                  : fmt::format("did you mean \"{}\"?", near)});
      return std::nullopt;
    }
    std::vector<Bandwidth> rates;
    for (const AttachedNetwork& network : networks_) { rates.push_back(network.member_rate); }
    const auto most = std::max_element(rates.begin(), rates.end());
    if (std::count(rates.begin(), rates.end(), *most) == 1) { return most - rates.begin(); }
    problems_.add({"missing-key", fmt::format("which of the fabrics {} do ranks use?", joined(names, ", ")),
                   config_.fabrics_place,
                   fmt::format(R"(several are equally fast: write "network": {{"fabric": "{}"}})", names[0])});
    return std::nullopt;
  }

  bool same_members() {
    for (const AttachedNetwork& network : networks_) {
      if (network.population.members == networks_.front().population.members) { continue; }
      problems_.add({"missing-key",
                     fmt::format("{} has room for {} members and {} for {}", networks_.front().name,
                                 networks_.front().population.members, network.name, network.population.members),
                     config_.place, R"(say how many there are, as in "nodes": 16)"});
      return false;
    }
    return true;
  }

  void warn_of_idle_nics(Cluster& cluster) const {
    if (!fabrics_.front()->nics) { return; }
    for (const std::shared_ptr<const NodeTemplate>& node : members_.nodes) {
      std::vector<std::uint32_t> idle;
      for (std::uint32_t nic = 0; nic < node->nics(); ++nic) {
        const bool joined = std::any_of(networks_.begin(), networks_.end(), [&](const AttachedNetwork& network) {
          return std::count(network.nics.begin(), network.nics.end(), nic) > 0;
        });
        if (!joined) { idle.push_back(nic); }
      }
      if (idle.empty()) { continue; }
      cluster.warnings.push_back(fmt::format("of {} NIC {} {} on no fabric", node->spec().name, joined(idle, ", "),
                                             idle.size() == 1 ? "is" : "are"));
    }
  }

  const ClusterConfig& config_;
  const Presets& presets_;
  Problems& problems_;
  std::vector<const FabricSettings*> fabrics_;
  Members members_;
  std::vector<AttachedNetwork> networks_;
};

SourceLocation place_of(const Problem& problem, const ClusterConfig& config, const RoutingPlaces& places) {
  if (problem.code == "routing") { return places.routing; }
  if (problem.code == "too-large" && (config.nodes || !config.mixture.empty())) { return config.nodes_place; }
  if (config.graph) { return config.graph->place; }
  if (!config.fabrics.empty()) { return config.fabrics_place; }
  return config.fabric ? config.fabric->place : config.place;
}

std::optional<Cluster> make(const ClusterConfig& config, const Presets& presets, const RoutingRequest& routing,
                            const RoutingPlaces& places, Problems& problems) {
  const bool networks = config.fabric || !config.fabrics.empty();
  if (!networks && !routing.fabric.empty()) {
    problems.add({"no-such-fabric",
                  fmt::format("there is no fabric \"{}\": the cluster has none by name", routing.fabric), places.fabric,
                  "leave it out"});
    return std::nullopt;
  }
  if (config.shared_memory) { return shared_memory(config.shared_memory->ranks, config.shared_memory->processors); }
  if (config.shared_gpus) { return shared_gpus(config.shared_gpus->ranks, config.shared_gpus->gpus); }
  if (config.graph) { return make_graph(*config.graph, routing, problems); }
  if (!networks) { return make_single(config, presets, routing, problems); }
  return ClusterMaker(config, presets, problems).make(routing, places.fabric);
}

}  // namespace

std::optional<Cluster> make_cluster(const ClusterConfig& config, const Presets& presets, const RoutingRequest& routing,
                                    const RoutingPlaces& places, Problems& problems) {
  const std::size_t before = problems.size();
  if (config.node) { check_node(*config.node, presets, problems); }
  for (const NodeCountConfig& kind : config.mixture) { check_node(kind.node, presets, problems); }
  std::optional<Cluster> cluster;
  try {
    cluster = make(config, presets, routing, places, problems);
    if (cluster && problems.size() == before) { apply_overrides(*cluster, config.overrides, problems); }
  } catch (const ScenarioError& error) {
    for (Problem problem : error.problems()) {
      problem.place = place_of(problem, config, places);
      problems.add(std::move(problem));
    }
  }
  if (problems.size() > before) { return std::nullopt; }
  return cluster;
}

}  // namespace athanor
