#include "models/bill/bill.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"
#include "topologies/kinds/fabric_kind.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

namespace {

std::string name_of(const NodeConfig& node) { return node.preset.value_or(node.name.value_or("node")); }

/// Of each node, in the order of their numbers: kinds with how many nodes each has.
std::map<std::string, std::uint32_t> nodes_of(const ClusterConfig& config, std::uint32_t count) {
  std::map<std::string, std::uint32_t> nodes;
  for (const NodeCountConfig& kind : config.mixture) { nodes[name_of(kind.node)] += kind.count; }
  if (nodes.empty() && config.node) { nodes[name_of(*config.node)] = count; }
  if (nodes.empty() && count > 0) { nodes["node"] = count; }
  return nodes;
}

std::string name_of_switch(const Switching& switching) {
  return switching.device ? name_of(*switching.device) : "switch";
}

/// The preset of the switches of a network: 0 of the one that there is, else counted from 1.
std::string switch_of(const ClusterConfig& config, std::uint8_t network) {
  const FabricSettings* fabric = config.fabric ? &*config.fabric : nullptr;
  if (network > 0 && network <= config.fabrics.size()) { fabric = &config.fabrics[network - 1U]; }
  return fabric != nullptr ? name_of_switch(fabric->kind->switches()) : "switch";
}

/// The GPU of the node of this number where it is limited, else null.
const GpuConfig* limited_gpu(const ClusterConfig& config, std::uint32_t node) {
  const NodeConfig* of_kind = config.node ? &*config.node : nullptr;
  std::uint32_t first = 0;
  for (const NodeCountConfig& kind : config.mixture) {
    if (node >= first && node - first < kind.count) { of_kind = &kind.node; }
    first += kind.count;
  }
  const bool limited = of_kind != nullptr && of_kind->gpu && of_kind->gpu->figures.power;
  return limited && !of_kind->gpu->preset.empty() ? &*of_kind->gpu : nullptr;
}

void count_limited(const GpuConfig* gpu, std::vector<LimitedGpus>& limited) {
  if (gpu == nullptr) { return; }
  const double most = watts(*gpu->figures.power);
  if (limited.empty() || limited.back().preset != gpu->preset || limited.back().w != most) {
    limited.push_back({gpu->preset, most, 0});
  }
  ++limited.back().gpus;
}

/// What limits leave of the nodes' watts.
double saved_by_limits(const BillOfMaterials& parts, const PriceList& prices) {
  double saved = 0;
  for (const LimitedGpus& limited : parts.limited) {
    const auto most = prices.gpu_w.find(limited.preset);
    if (most != prices.gpu_w.end()) { saved += limited.gpus * std::max(0.0, most->second - limited.w); }
  }
  return saved;
}

/// Leaves, spines and cores are switches; so are routers of direct networks that no node has inside it.
bool is_switch(const Vertex& vertex) {
  switch (vertex.kind) {
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core: return true;
    case VertexKind::router: return vertex.node == kNoNode;
    default: return false;
  }
}

/// Adds up a part of the bill; false: it has no figure.
bool add(std::optional<double> figure, double count, std::optional<double>& sum) {
  if (!figure) { return false; }
  if (sum) { *sum += *figure * count; }
  return true;
}

/// Each figure of the scenario's, else that of the preset.
PartPrice price_of(const std::string& part, const PartPrice& own, const PriceList& prices) {
  const auto found = prices.parts.find(part);
  const PartPrice preset = found == prices.parts.end() ? PartPrice{} : found->second;
  return {own.usd ? own.usd : preset.usd, own.w ? own.w : preset.w};
}

/// Both sums of one kind of part. What has no figure makes them unknown.
void add_part(const std::string& name, std::uint32_t count, const PartPrice& price, Bill& bill) {
  if (!add(price.usd, count, bill.usd)) {
    bill.usd.reset();
    bill.unpriced.push_back(name + " (usd)");
  }
  if (!add(price.w, count, bill.w)) {
    bill.w.reset();
    bill.unpriced.push_back(name + " (w)");
  }
}

}  // namespace

std::uint32_t BillOfMaterials::all_switches() const {
  std::uint32_t sum = 0;
  for (const auto& [name, count] : switches) { sum += count; }
  return sum;
}

BillOfMaterials bill_of_materials(const Cluster& cluster, const ClusterConfig& config) {
  const Fabric& fabric = *cluster.fabric;
  BillOfMaterials bill;
  std::uint32_t nodes = 0;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    const Vertex& vertex = fabric.vertex(VertexId{v});
    if (vertex.node != kNoNode) { nodes = std::max(nodes, vertex.node + 1); }
    if (is_switch(vertex)) { ++bill.switches[switch_of(config, vertex.network)]; }
    bill.gpus += vertex.kind == VertexKind::gpu ? 1 : 0;
    if (vertex.kind == VertexKind::gpu) { count_limited(limited_gpu(config, vertex.node), bill.limited); }
    bill.nics += vertex.kind == VertexKind::nic ? 1 : 0;
    bill.hosts += vertex.kind == VertexKind::host ? 1 : 0;
  }
  std::uint32_t directions = 0;
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    directions += fabric.link(LinkId{l}).kind == LinkKind::network ? 1 : 0;
  }
  bill.cables = directions / 2;
  bill.nodes = nodes_of(config, nodes);
  return bill;
}

Bill priced(BillOfMaterials parts, const PriceList& prices) {
  Bill bill{.parts = std::move(parts), .usd = 0.0, .w = 0.0, .unpriced = {}};
  for (const auto& [name, count] : bill.parts.nodes) {
    add_part(name, count, price_of(name, prices.node, prices), bill);
  }
  if (bill.w && !prices.node.w) { *bill.w -= saved_by_limits(bill.parts, prices); }
  for (const auto& [name, count] : bill.parts.switches) {
    add_part(name, count, price_of(name, prices.network_switch, prices), bill);
  }
  if (bill.parts.hosts > 0 && bill.parts.nodes.empty()) { add_part("host", bill.parts.hosts, prices.node, bill); }
  for (const auto& [figure, sum, what] :
       {std::tuple(prices.cable.usd, &bill.usd, "cable (usd)"), std::tuple(prices.cable.w, &bill.w, "cable (w)")}) {
    if (bill.parts.cables > 0 && !add(figure, bill.parts.cables, *sum)) { bill.unpriced.emplace_back(what); }
  }
  return bill;
}

Bill bill_of(const Cluster& cluster, const ClusterConfig& config, PriceList own, const PriceList& published) {
  own.parts = published.parts;
  own.gpu_w = published.gpu_w;
  return priced(bill_of_materials(cluster, config), own);
}

std::string to_text(const Bill& bill) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : bill.parts.nodes) { parts.push_back(fmt::format("{} x {}", count, name)); }
  if (bill.parts.hosts > 0) { parts.push_back(fmt::format("{} hosts", bill.parts.hosts)); }
  for (const auto& [name, count] : bill.parts.switches) { parts.push_back(fmt::format("{} x {}", count, name)); }
  if (bill.parts.cables > 0) { parts.push_back(fmt::format("{} network cables", bill.parts.cables)); }
  std::string text = fmt::format("  {:<25} {}\n", "made of", joined(parts, ", "));
  const auto without = [&](std::string_view figure) {
    std::vector<std::string> names;
    for (const std::string& each : bill.unpriced) {
      if (each.ends_with(figure)) { names.push_back(each.substr(0, each.size() - figure.size())); }
    }
    return names.empty() ? "" : fmt::format(R"( (no figure of {}: give it in "prices"))", joined(names, ", "));
  };
  const auto sum = [](const std::optional<double>& value, double scale, std::string_view unit) {
    return value ? fmt::format("{:.4g} {}", *value / scale, unit) : std::string("unknown");
  };
  text += fmt::format("  {:<25} {}{}\n", "price", sum(bill.usd, 1e6, "million USD"), without(" (usd)"));
  return text + fmt::format("  {:<25} {}{}\n", "power", sum(bill.w, 1e3, "kW"), without(" (w)"));
}

JsonValue bill_json(const Bill& bill) {
  std::uint32_t nodes = bill.parts.hosts;
  for (const auto& [name, count] : bill.parts.nodes) { nodes += count; }
  JsonValue json = {{"bill_gpus", bill.parts.gpus},
                    {"bill_nodes", nodes},
                    {"bill_switches", bill.parts.all_switches()},
                    {"bill_cables", bill.parts.cables}};
  if (bill.usd) { json["bill_usd"] = *bill.usd; }
  if (bill.w) { json["bill_w"] = *bill.w; }
  return json;
}

}  // namespace athanor
