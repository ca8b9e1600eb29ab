#include "topologies/scenario/make_network.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "topologies/generators.hpp"
#include "topologies/scenario/make_direct.hpp"

namespace athanor {

namespace {

using Kind = FabricText::Kind;
using Node = std::shared_ptr<const NodeTemplate>;

class NetworkMaker {
 public:
  NetworkMaker(const FabricText& fabric, const ClusterText& text, const Members& members, const Presets& presets,
               Problems& problems)
      : text_(text), fabric_(fabric), all_(members), presets_(presets), problems_(problems) {}

  std::optional<MadeNetwork> make() {
    const std::size_t before = problems_.size();
    take_nics();
    if (problems_.size() > before) { return std::nullopt; }
    take_fastest();
    if (fabric_.switch_name) {
      switch_ = find_preset(presets_.switches, "switch", *fabric_.switch_name, fabric_.switch_place, problems_);
    }
    const std::uint32_t members = member_count();
    check_group();
    check_mixture();
    if (problems_.size() > before) { return std::nullopt; }
    Population population = population_of(members);
    if (nodes_.empty() && !text_.fabrics.empty()) {
      population.ports_before = std::make_shared<std::vector<std::uint32_t>>();
    }
    const bool hashes = switch_ != nullptr && switch_->hashes;
    MadeNetwork made{{fabric_.name, population, generate(population), nics(), hashes}, host_cable().rate};
    if (node_) { made.rate = nic_.rate * node_->nics(); }
    return made;
  }

 private:
  GeneratedNetwork generate(const Population& population) const {
    switch (fabric_.kind) {
      case Kind::star: return star_network(population, host_cable(), radix());
      case Kind::fat_tree: return fat_tree_network(population, clos());
      case Kind::rail_optimized: return rail_optimized_network(population, clos());
      case Kind::rail_only: return make_rail_only(population);
      case Kind::dual_plane: return dual_plane_network(population, clos(), fabric_.planes, by_rail());
      case Kind::k_ary_n_tree: return make_k_ary_n_tree(population);
      case Kind::direct: return make_direct(fabric_.direct, population, direct_cables());
    }
    require(false, "a fabric of an unknown kind");
    return {};
  }

  /// The nodes as this network sees them. NICs of one network are of one model.
  void take_nics() {
    if (all_.nodes.empty() && fabric_.nics) { problem("hosts without an inside have no NICs", "leave out \"nics\""); }
    for (const Node& node : all_.nodes) {
      nodes_.push_back(node);
      if (fabric_.nics) {
        if (!check_numbers(*node)) { return; }
        nodes_.back() = std::make_shared<const NodeTemplate>(node->with_nics(*fabric_.nics));
      }
      check_models(*nodes_.back());
    }
  }

  bool check_numbers(const NodeTemplate& node) {
    const std::vector<std::uint32_t>& given = *fabric_.nics;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i] >= node.nics()) {
        problem(fmt::format("there is no NIC {}: {} has {}, counted from 0", given[i], node.spec().name, node.nics()),
                "write \"nics\": [0] for the first of them");
        return false;
      }
      if (std::count(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(i), given[i]) == 0) { continue; }
      problem(fmt::format("NIC {} stands twice", given[i]), "name it once");
      return false;
    }
    return true;
  }

  void check_models(const NodeTemplate& node) {
    for (std::uint32_t nic = 1; nic < node.nics(); ++nic) {
      if (node.nic(nic) == node.nic(0)) { continue; }
      const std::vector<std::uint32_t> numbers = nics();
      problem(fmt::format("the NICs {} and {} of {} are of different models: a network takes equal ones", numbers[0],
                          numbers[nic], node.spec().name),
              R"(name the NICs that are on it, as in "nics": [0, 1], or join the others by another of "fabrics")");
      return;
    }
  }

  void problem(std::string message, std::string hint) {
    problems_.add({"nics", std::move(message), fabric_.nics ? fabric_.nics_place : fabric_.place, std::move(hint)});
  }

  /// Of the node.
  std::vector<std::uint32_t> nics() const {
    if (fabric_.nics) { return *fabric_.nics; }
    std::vector<std::uint32_t> all(all_.nodes.empty() ? 0 : all_.nodes.front()->nics());
    for (std::uint32_t nic = 0; nic < all.size(); ++nic) { all[nic] = nic; }
    return all;
  }

  /// What the network's own cables are chosen for; single nodes then limit theirs.
  void take_fastest() {
    for (const Node& node : nodes_) {
      const NicSpec nic = node->nics() > 0 ? node->nic() : NicSpec{};
      if (node_ && nic.rate <= nic_.rate) { continue; }
      node_ = node;
      nic_ = nic;
    }
  }

  Population population_of(std::uint32_t members) const {
    if (nodes_.empty()) { return hosts(members, all_.positions); }
    if (text_.mixture.empty()) { return {members, nodes_.front(), VertexKind::gpu}; }
    std::vector<NodeKind> kinds;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (nodes_[k]->nics() == 0) {
        throw ScenarioError(
            Problem{"does-not-fit", "nodes without a NIC cannot be on a network", {}, "give them NICs"});
      }
      NodeKind kind;
      kind.members = text_.mixture[k].count;
      kind.node = nodes_[k];
      kind.port_rate = port_rate(nodes_[k]->nic());
      const Ratio share = fabric_.link ? fabric_.link->efficiency : nodes_[k]->nic().efficiency;
      kind.port_usable = scaled_down(kind.port_rate, share);
      kinds.push_back(std::move(kind));
    }
    return mixture(std::move(kinds));
  }

  /// Of one network port of a NIC: planes share its rate.
  Bandwidth port_rate(const NicSpec& nic) const {
    return fabric_.kind == Kind::dual_plane ? nic.rate / fabric_.planes : nic.rate;
  }

  void check_mixture() {
    const bool of_one_kind = fabric_.kind == Kind::direct && members_are_routers(fabric_.direct);
    if (text_.mixture.empty() || !of_one_kind) { return; }
    problems_.add({"does-not-fit", "a network whose positions are nodes has nodes of one kind", text_.nodes_place,
                   "write one \"node\", or take a fat_tree"});
  }

  bool by_rail() const {
    return fabric_.kind == Kind::rail_optimized || fabric_.kind == Kind::rail_only ||
           (fabric_.kind == Kind::dual_plane && fabric_.by_rail.value_or(node_ != nullptr));
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

  GeneratedNetwork make_rail_only(const Population& population) const {
    if (node_) { return rail_only_network(population, clos()); }
    throw ScenarioError(Problem{"does-not-fit", "hosts without an inside have no rails", {}, "name a \"node\""});
  }

  GeneratedNetwork make_k_ary_n_tree(const Population& population) const {
    const std::uint32_t ports = fabric_.arity * (fabric_.levels > 1 ? 2 : 1);
    if (radix() && *radix() < ports) {
      throw ScenarioError(Problem{"does-not-fit",
                                  fmt::format("a switch of a {}-ary {}-tree needs {} ports, but the switches have {}",
                                              fabric_.arity, fabric_.levels, ports, *radix()),
                                  {},
                                  "use a lesser arity, or larger switches"});
    }
    const KaryTreeSpec spec{fabric_.arity, fabric_.levels, host_cable(), cable(fabric_.link)};
    return k_ary_n_tree_network(population, spec);
  }

  /// As said, or as the fabric implies.
  std::uint32_t member_count() {
    if (text_.nodes) { return *text_.nodes; }
    Wide implied = 0;
    for (const NodeCountText& kind : text_.mixture) { implied += kind.count; }
    if (implied > 0) { return static_cast<std::uint32_t>(std::min<Wide>(implied, kNoNode)); }
    if (fabric_.kind == Kind::direct) {
      implied = implied_members(fabric_.direct, node_ ? node_->nics() : 1);
    } else if (fabric_.kind == Kind::k_ary_n_tree) {
      implied = Wide{kary_tree_hosts(fabric_.arity, fabric_.levels)} / std::max(node_ ? node_->nics() : 1, 1U);
    } else if (!by_rail() && fabric_.leaves && fabric_.hosts_per_leaf) {
      implied = Wide{*fabric_.leaves} * *fabric_.hosts_per_leaf / std::max(node_ ? node_->nics() : 1, 1U);
    } else if (by_rail() && fabric_.leaves && fabric_.nodes_per_group && node_) {
      const std::uint32_t rails = fabric_.kind == Kind::rail_only ? 1 : node_->nics();
      implied = Wide{*fabric_.leaves} / std::max(rails, 1U) * *fabric_.nodes_per_group;
    }
    if (implied > 0) { return static_cast<std::uint32_t>(std::min<Wide>(implied, kNoNode)); }
    problems_.add({"missing-key", "a cluster on a fabric needs \"nodes\"", text_.place, R"(write "nodes": 16)"});
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
    const Ratio share = node_ ? nic_.efficiency : payload_share(switch_->protocol);
    return {switch_->rate, scaled_down(switch_->rate, share), fabric_.cable_latency, switch_->latency};
  }

  /// No faster than the NIC, which planes share by its ports.
  CableSpec host_cable() const {
    CableSpec result = cable(std::nullopt);
    if (!node_) { return result; }
    const Bandwidth port = port_rate(nic_);
    if (port >= result.rate) { return result; }
    const Ratio share = fabric_.link ? fabric_.link->efficiency : nic_.efficiency;
    result.rate = port;
    result.usable = scaled_down(result.rate, share);
    return result;
  }

  /// From a NIC to the router of its position.
  CableSpec nic_cable() const {
    if (!node_) { return {}; }
    return {nic_.rate, scaled_down(nic_.rate, nic_.efficiency), Time::zero(), Time::zero()};
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
  const Members& all_;
  const Presets& presets_;
  Problems& problems_;
  std::vector<Node> nodes_;  // with the NICs that are on this network
  Node node_;                // the fastest of them
  NicSpec nic_;              // its
  const SwitchPreset* switch_ = nullptr;
};

}  // namespace

std::optional<MadeNetwork> make_network(const FabricText& fabric, const ClusterText& text, const Members& members,
                                        const Presets& presets, Problems& problems) {
  return NetworkMaker(fabric, text, members, presets, problems).make();
}

}  // namespace athanor
