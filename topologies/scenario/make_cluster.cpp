#include "topologies/scenario/make_cluster.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "topologies/node/node_template.hpp"
#include "topologies/scenario/make_direct.hpp"

namespace athanor {

namespace {

using Kind = FabricText::Kind;

/// Makes one Cluster of nodes or hosts on a fabric.
class ClusterMaker {
 public:
  ClusterMaker(const ClusterText& text, const Presets& presets, Problems& problems)
      : text_(text), fabric_(*text.fabric), presets_(presets), problems_(problems) {}

  std::optional<Cluster> make(const RoutingRequest& routing) {
    const std::size_t before = problems_.size();
    if (text_.node) { node_ = make_node(*text_.node, presets_, problems_); }
    for (const NodeCountText& kind : text_.mixture) {
      if (auto made = make_node(kind.node, presets_, problems_)) { mixture_.push_back(std::move(*made)); }
    }
    if (!mixture_.empty()) { node_ = fastest_of_mixture(); }
    if (fabric_.switch_name) {
      switch_ = find_preset(presets_.switches, "switch", *fabric_.switch_name, fabric_.switch_place, problems_);
    }
    const std::uint32_t members = member_count();
    check_group();
    check_mixture();
    if (problems_.size() > before) { return std::nullopt; }
    const Population population = population_of(members);
    switch (fabric_.kind) {
      case Kind::star: return star(population, host_cable(), radix(), routing);
      case Kind::fat_tree: return fat_tree(population, clos(), routing);
      case Kind::rail_optimized: return rail_optimized(population, clos(), routing);
      case Kind::rail_only: return make_rail_only(population, routing);
      case Kind::dual_plane: return dual_plane(population, clos(), fabric_.planes, by_rail(), routing);
      case Kind::k_ary_n_tree: return make_k_ary_n_tree(population, routing);
      case Kind::direct: return make_direct(fabric_.direct, population, direct_cables(), routing);
    }
    return std::nullopt;
  }

 private:
  /// What the network's own cables are chosen for; single nodes then limit theirs.
  NodeSpec fastest_of_mixture() const {
    return *std::max_element(mixture_.begin(), mixture_.end(),
                             [](const NodeSpec& a, const NodeSpec& b) { return a.nic_rate < b.nic_rate; });
  }

  Population population_of(std::uint32_t members) const {
    if (mixture_.empty()) { return node_ ? nodes(members, *node_) : hosts(members, fabric_.direct.positions); }
    std::vector<NodeKind> kinds;
    for (std::size_t k = 0; k < mixture_.size(); ++k) {
      const NodeSpec& spec = mixture_[k];
      if (spec.nics == 0) {
        throw ScenarioError(
            Problem{"does-not-fit", "nodes without a NIC cannot be on a network", {}, "give them NICs"});
      }
      NodeKind kind;
      kind.members = text_.mixture[k].count;
      kind.node = std::make_shared<const NodeTemplate>(spec);
      kind.port_rate = port_rate(spec);
      kind.port_usable = scaled_down(kind.port_rate, fabric_.link ? fabric_.link->efficiency : spec.nic_efficiency);
      kinds.push_back(std::move(kind));
    }
    return mixture(std::move(kinds));
  }

  /// Of one network port of a NIC: planes share its rate.
  Bandwidth port_rate(const NodeSpec& node) const {
    return fabric_.kind == Kind::dual_plane ? node.nic_rate / fabric_.planes : node.nic_rate;
  }

  void check_mixture() {
    const bool of_one_kind = fabric_.kind == Kind::direct && members_are_routers(fabric_.direct);
    if (text_.mixture.empty() || !of_one_kind) { return; }
    problems_.add({"does-not-fit", "a network whose positions are nodes has nodes of one kind", text_.nodes_place,
                   "write one \"node\", or take a fat_tree"});
  }

  bool by_rail() const {
    return fabric_.kind == Kind::rail_optimized || fabric_.kind == Kind::rail_only ||
           (fabric_.kind == Kind::dual_plane && fabric_.by_rail.value_or(node_.has_value()));
  }

  /// Of planes only one of two words for what is on a leaf means something.
  void check_group() {
    if (fabric_.kind != Kind::dual_plane) { return; }
    const bool wrong = by_rail() ? fabric_.hosts_per_leaf.has_value() : fabric_.nodes_per_group.has_value();
    if (!wrong) { return; }
    problems_.add({"conflict",
                   by_rail() ? "planes by rail have \"nodes_per_group\", not \"hosts_per_leaf\""
                             : "planes that are not by rail have \"hosts_per_leaf\", not \"nodes_per_group\"",
                   fabric_.place, by_rail() ? R"(or say "by_rail": false)" : R"(or say "by_rail": true)"});
  }

  Cluster make_rail_only(const Population& population, const RoutingRequest& routing) const {
    if (node_) { return rail_only(population, clos(), routing); }
    throw ScenarioError(Problem{"does-not-fit", "hosts without an inside have no rails", {}, "name a \"node\""});
  }

  Cluster make_k_ary_n_tree(const Population& population, const RoutingRequest& routing) const {
    const std::uint32_t ports = fabric_.arity * (fabric_.levels > 1 ? 2 : 1);
    if (radix() && *radix() < ports) {
      throw ScenarioError(Problem{"does-not-fit",
                                  fmt::format("a switch of a {}-ary {}-tree needs {} ports, but the switches have {}",
                                              fabric_.arity, fabric_.levels, ports, *radix()),
                                  {},
                                  "use a lesser arity, or larger switches"});
    }
    const KaryTreeSpec spec{fabric_.arity, fabric_.levels, host_cable(), cable(fabric_.link)};
    return k_ary_n_tree(population, spec, routing);
  }

  /// As said, or as the fabric implies.
  std::uint32_t member_count() {
    if (text_.nodes) { return *text_.nodes; }
    Wide implied = 0;
    for (const NodeCountText& kind : text_.mixture) { implied += kind.count; }
    if (implied > 0) { return static_cast<std::uint32_t>(std::min<Wide>(implied, kNoNode)); }
    if (fabric_.kind == Kind::direct) {
      implied = implied_members(fabric_.direct, node_ ? node_->nics : 1);
    } else if (fabric_.kind == Kind::k_ary_n_tree) {
      implied = Wide{kary_tree_hosts(fabric_.arity, fabric_.levels)} / std::max(node_ ? node_->nics : 1, 1U);
    } else if (!by_rail() && fabric_.leaves && fabric_.hosts_per_leaf) {
      implied = Wide{*fabric_.leaves} * *fabric_.hosts_per_leaf / std::max(node_ ? node_->nics : 1, 1U);
    } else if (by_rail() && fabric_.leaves && fabric_.nodes_per_group && node_) {
      const std::uint32_t rails = fabric_.kind == Kind::rail_only ? 1 : node_->nics;
      implied = Wide{*fabric_.leaves} / std::max(rails, 1U) * *fabric_.nodes_per_group;
    }
    if (implied > 0) { return static_cast<std::uint32_t>(std::min<Wide>(implied, kNoNode)); }
    if ((!text_.node && text_.mixture.empty()) || node_) {
      problems_.add({"missing-key", "a cluster on a fabric needs \"nodes\"", text_.place, R"(write "nodes": 16)"});
    }
    return 0;
  }

  std::optional<std::uint32_t> radix() const {
    if (fabric_.radix) { return fabric_.radix; }
    return switch_ != nullptr ? std::optional(switch_->radix) : std::nullopt;
  }

  /// Between switches: the port rate of the preset, or the figures of `link`, by default those of all links.
  CableSpec cable(const std::optional<NetworkLinkText>& link) const {
    if (link) { return {link->rate, scaled_down(link->rate, link->efficiency), link->latency, Time::zero()}; }
    if (switch_ == nullptr) { return cable(fabric_.link); }
    const Ratio share = node_ ? node_->nic_efficiency : payload_share(switch_->protocol);
    return {switch_->rate, scaled_down(switch_->rate, share), fabric_.cable_latency, switch_->latency};
  }

  /// No faster than the NIC, which planes share by its ports.
  CableSpec host_cable() const {
    CableSpec result = cable(std::nullopt);
    if (!node_) { return result; }
    const Bandwidth port = port_rate(*node_);
    if (port >= result.rate) { return result; }
    const Ratio share = fabric_.link ? fabric_.link->efficiency : node_->nic_efficiency;
    result.rate = port;
    result.usable = scaled_down(result.rate, share);
    return result;
  }

  /// From a NIC to the router of its position.
  CableSpec nic_cable() const {
    if (!node_) { return {}; }
    return {node_->nic_rate, scaled_down(node_->nic_rate, node_->nic_efficiency), Time::zero(), Time::zero()};
  }

  DirectCables direct_cables() const {
    DirectCables cables;
    cables.radix = radix();
    cables.local = cable(fabric_.link);
    cables.global = cable(fabric_.direct.global_link);
    cables.host = host_cable();
    cables.nic = nic_cable();
    return cables;
  }

  ClosSpec clos() const {
    ClosSpec spec;
    spec.tiers = fabric_.tiers;
    spec.radix = radix();
    spec.hosts_per_leaf = by_rail() ? fabric_.nodes_per_group : fabric_.hosts_per_leaf;
    spec.leaves = fabric_.leaves;
    spec.spines = fabric_.spines;
    spec.pods = fabric_.pods;
    spec.leaves_per_pod = fabric_.leaves_per_pod;
    spec.cores = fabric_.cores;
    if (!fabric_.oversubscription.empty()) { spec.leaf_oversubscription = fabric_.oversubscription[0]; }
    if (fabric_.oversubscription.size() > 1) { spec.spine_oversubscription = fabric_.oversubscription[1]; }
    spec.host_cable = host_cable();
    spec.up_cable = cable(fabric_.uplink);
    spec.core_cable = fabric_.core_link ? cable(fabric_.core_link) : spec.up_cable;
    return spec;
  }

  const ClusterText& text_;
  const FabricText& fabric_;
  const Presets& presets_;
  Problems& problems_;
  std::optional<NodeSpec> node_;
  std::vector<NodeSpec> mixture_;
  const SwitchPreset* switch_ = nullptr;
};

/// Every two GPUs of a node must reach each other, and every GPU a NIC where there are any.
void check_reachable(const NodeSpec& spec, const Place& place, Problems& problems) {
  const NodeTemplate node(spec);
  const auto joined = [&](std::uint32_t from, std::uint32_t to) {
    return from == to || node.next_port(from, to) != NodeTemplate::kNoPort;
  };
  for (std::uint32_t from = 0; from < spec.gpus; ++from) {
    for (std::uint32_t to = 0; to < spec.gpus; ++to) {
      if (joined(from, to)) { continue; }
      problems.add({"unreachable", fmt::format("GPU {} of the node cannot reach GPU {}", from, to), place,
                    "join the sockets by \"socket_link\", or the GPUs by NVLink"});
      return;
    }
    if (spec.nics > 0 && !joined(from, node.nic_vertex(node.nearest_nic(from)))) {
      problems.add({"unreachable", fmt::format("GPU {} of the node reaches no NIC", from), place,
                    "put a NIC on its socket, or join the sockets by \"socket_link\""});
      return;
    }
  }
}

void check_node(const NodeText& text, const Presets& presets, Problems& problems) {
  Problems seen_later;
  const std::optional<NodeSpec> node = make_node(text, presets, seen_later);
  if (node) { check_reachable(*node, text.place, problems); }
}

std::optional<Cluster> make_single(const ClusterText& text, const Presets& presets, const RoutingRequest& routing,
                                   Problems& problems) {
  const std::optional<NodeSpec> node = make_node(*text.node, presets, problems);
  if (text.nodes.value_or(1) > 1) {
    problems.add({"missing-key", fmt::format("{} nodes need a \"fabric\" that joins them", *text.nodes),
                  text.nodes_place, R"(write "fabric": {"kind": "star", "switch": "QM9700"})"});
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

std::optional<Cluster> make_graph(const GraphText& text, const RoutingRequest& routing, Problems& problems) {
  const std::optional<ExplicitGraph> graph = make_explicit_graph(text, problems);
  if (!graph) { return std::nullopt; }
  return explicit_graph(*graph, routing);
}

Place place_of(const Problem& problem, const ClusterText& text, const Place& routing) {
  if (problem.code == "routing") { return routing; }
  if (problem.code == "too-large" && (text.nodes || !text.mixture.empty())) { return text.nodes_place; }
  if (text.graph) { return text.graph->place; }
  return text.fabric ? text.fabric->place : text.place;
}

std::optional<Cluster> make(const ClusterText& text, const Presets& presets, const RoutingRequest& routing,
                            Problems& problems) {
  if (text.shared_memory) { return shared_memory(text.shared_memory->ranks, text.shared_memory->processors); }
  if (text.graph) { return make_graph(*text.graph, routing, problems); }
  if (!text.fabric) { return make_single(text, presets, routing, problems); }
  return ClusterMaker(text, presets, problems).make(routing);
}

}  // namespace

std::optional<Cluster> make_cluster(const ClusterText& text, const Presets& presets, const RoutingRequest& routing,
                                    const Place& routing_place, Problems& problems) {
  const std::size_t before = problems.size();
  if (text.node) { check_node(*text.node, presets, problems); }
  for (const NodeCountText& kind : text.mixture) { check_node(kind.node, presets, problems); }
  std::optional<Cluster> cluster;
  try {
    cluster = make(text, presets, routing, problems);
    if (cluster && problems.size() == before) { apply_overrides(*cluster, text.overrides, problems); }
  } catch (const ScenarioError& error) {
    for (Problem problem : error.problems()) {
      problem.place = place_of(problem, text, routing_place);
      problems.add(std::move(problem));
    }
  }
  if (problems.size() > before) { return std::nullopt; }
  return cluster;
}

}  // namespace athanor
