#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace athanor {

struct Cluster;
struct ClusterConfig;
class JsonValue;
class Library;

/// What one part costs and draws; absent: nobody says.
struct PartPrice {
  std::optional<double> usd;
  std::optional<double> w;
};

/// What parts cost and draw, by the names of their presets.
struct PriceList {
  std::map<std::string, PartPrice> parts;
  std::map<std::string, double> gpu_w;  ///< what GPUs draw at most, by the names of their presets
  PartPrice node;                       ///< of the scenario; win over those of presets
  PartPrice network_switch;             ///< likewise
  PartPrice cable;                      ///< of a network cable with its transceivers; only scenarios say it
};

/// GPUs that are limited to less than their preset draws.
struct LimitedGpus {
  std::string preset;
  double w = 0;  ///< of one at most
  std::uint32_t gpus = 0;
};

/// What a cluster is made of, as counted in its graph.
struct BillOfMaterials {
  std::map<std::string, std::uint32_t> nodes;     ///< by preset; "node" where there is none
  std::map<std::string, std::uint32_t> switches;  ///< of networks, by preset; "switch" where there is none
  std::uint32_t gpus = 0;
  std::uint32_t nics = 0;
  std::uint32_t hosts = 0;   ///< of fabrics without nodes
  std::uint32_t cables = 0;  ///< of networks, both directions being one
  std::vector<LimitedGpus> limited;

  std::uint32_t all_switches() const;
};

/// A bill with its sums. Sums are absent where a part that is there has no figure, which `unpriced` names.
struct Bill {
  BillOfMaterials parts;
  std::optional<double> usd;
  std::optional<double> w;
  std::vector<std::string> unpriced;  ///< "QM8700 (usd)"
};

/// `text`: what the cluster was made from, which names its presets.
BillOfMaterials bill_of_materials(const Cluster& cluster, const ClusterConfig& config);

/// Nodes whose figure is their preset's draw less by what their GPUs are limited to less.
/// Cables without a figure count nothing and are named: nobody publishes them, and they are a few percent.
Bill priced(BillOfMaterials parts, const PriceList& prices);

/// The bill of a cluster at the scenario's own prices and those that are published for presets.
Bill bill_of(const Cluster& cluster, const ClusterConfig& config, PriceList own, const PriceList& published);

/// The figures of presets/prices.json, and what GPUs of presets/gpus.json draw. Throws FileError and ScenarioError.
PriceList load_prices(const Library& library);

/// Lines for people: parts, price, power, and of what there is no figure. Each ends in '\n'.
std::string to_text(const Bill& bill);

/// {"bill_gpus", "bill_nodes", "bill_switches", "bill_cables", "bill_usd", "bill_w"}: sums that are absent are not
/// there.
JsonValue bill_json(const Bill& bill);

}  // namespace athanor
