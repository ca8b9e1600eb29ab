#include "topologies/scenario/make_network.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "topologies/kinds/fabric_kind.hpp"

namespace athanor {

namespace {

using Node = std::shared_ptr<const NodeTemplate>;

class NetworkMaker {
 public:
  NetworkMaker(const FabricSettings& fabric, const ClusterConfig& config, const Members& members,
               const Presets& presets, Problems& problems)
      : config_(config), fabric_(fabric), all_(members), presets_(presets), problems_(problems) {}

  std::optional<AttachedNetwork> make() {
    const std::size_t before = problems_.size();
    take_nics();
    if (problems_.size() > before) { return std::nullopt; }
    take_fastest();
    if (switching().device) { switch_ = made(*switching().device, presets_.switches, problems_); }
    const std::uint32_t members = member_count();
    fabric_.kind->check(nics_per_node(), fabric_.place, problems_);
    check_mixture();
    if (problems_.size() > before) { return std::nullopt; }
    return attached(population_of(members));
  }

 private:
  const Switching& switching() const { return fabric_.kind->switches(); }
  NicsPerNode nics_per_node() const { return node_ ? NicsPerNode(node_->nics()) : std::nullopt; }

  AttachedNetwork attached(Population population) const {
    if (nodes_.empty() && !config_.fabrics.empty()) {
      population.ports_before = std::make_shared<std::vector<std::uint32_t>>();
    }
    check_population(population);
    const FabricSite site{population, radix(), cable(), host_cable(), nic_cable()};
    const bool hashes = switch_ && switch_->hashes;
    const Bandwidth rate = node_ ? nic_.rate * node_->nics() : site.host_cable.rate;
    return {fabric_.name, population, fabric_.kind->build(site), nics(), hashes, rate};
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
    if (config_.mixture.empty()) { return {members, nodes_.front(), VertexKind::gpu}; }
    std::vector<NodeKind> kinds;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (nodes_[k]->nics() == 0) {
        throw ScenarioError(
            Problem{"does-not-fit", "nodes without a NIC cannot be on a network", {}, "give them NICs"});
      }
      NodeKind kind;
      kind.members = config_.mixture[k].count;
      kind.node = nodes_[k];
      kind.port_rate = port_rate(nodes_[k]->nic());
      const Ratio share = switching().link ? switching().link->efficiency : nodes_[k]->nic().efficiency;
      kind.port_usable = scaled_down(kind.port_rate, share);
      kinds.push_back(std::move(kind));
    }
    return mixture(std::move(kinds));
  }

  /// Of one network port of a NIC: planes share its rate.
  Bandwidth port_rate(const NicSpec& nic) const { return nic.rate / fabric_.kind->ports_per_nic(); }

  void check_mixture() {
    if (config_.mixture.empty() || !fabric_.kind->members_are_routers()) { return; }
    problems_.add({"does-not-fit", "a network whose positions are nodes has nodes of one kind", config_.nodes_place,
                   "write one \"node\", or take a fat_tree"});
  }

  /// As said, or as the fabric implies.
  std::uint32_t member_count() {
    if (config_.nodes) { return *config_.nodes; }
    Wide implied = 0;
    for (const NodeCountConfig& kind : config_.mixture) { implied += kind.count; }
    if (implied > 0) { return static_cast<std::uint32_t>(std::min<Wide>(implied, kNoNode)); }
    implied = fabric_.kind->capacity(nics_per_node());
    if (implied > 0) { return static_cast<std::uint32_t>(std::min<Wide>(implied, kNoNode)); }
    problems_.add({"missing-key", "a cluster on a fabric needs \"nodes\"", config_.place, R"(write "nodes": 16)"});
    return 0;
  }

  std::optional<std::uint32_t> radix() const {
    if (switching().radix) { return switching().radix; }
    return switch_ ? switch_->radix : std::nullopt;
  }

  /// Between switches: the figures of "link", or the port rate of the preset.
  CableSpec cable() const {
    if (!switch_) { return cable_of(switching().link.value()); }
    const Ratio share = node_ ? nic_.efficiency : payload_share(switch_->protocol);
    return {switch_->rate, scaled_down(switch_->rate, share), switching().cable_latency, switch_->latency};
  }

  /// No faster than the NIC, which several ports share.
  CableSpec host_cable() const {
    CableSpec result = cable();
    if (!node_) { return result; }
    const Bandwidth port = port_rate(nic_);
    if (port >= result.rate) { return result; }
    const Ratio share = switching().link ? switching().link->efficiency : nic_.efficiency;
    result.rate = port;
    result.usable = scaled_down(result.rate, share);
    return result;
  }

  /// From a NIC to the router of its position.
  CableSpec nic_cable() const {
    if (!node_) { return {}; }
    return {nic_.rate, scaled_down(nic_.rate, nic_.efficiency), Time::zero(), Time::zero()};
  }

  const ClusterConfig& config_;
  const FabricSettings& fabric_;
  const Members& all_;
  const Presets& presets_;
  Problems& problems_;
  std::vector<Node> nodes_;  // with the NICs that are on this network
  Node node_;                // the fastest of them
  NicSpec nic_;              // its
  std::optional<SwitchPreset> switch_;
};

}  // namespace

std::optional<AttachedNetwork> make_network(const FabricSettings& fabric, const ClusterConfig& config,
                                            const Members& members, const Presets& presets, Problems& problems) {
  return NetworkMaker(fabric, config, members, presets, problems).make();
}

}  // namespace athanor
