#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/schedulers/volcano/revocable_zones.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

enum class VolcanoAction : std::uint8_t { enqueue, allocate, backfill, preempt, reclaim };
enum class VolcanoPlugin : std::uint8_t {
  priority,
  gang,
  sla,
  drf,
  proportion,
  capacity,
  overcommit,
  nodeorder,
  binpack,
  tdm,
};

/// Weights of scores of nodes.
struct BinpackWeights {
  std::uint32_t weight = 1;
  std::uint32_t cpu = 1;
  std::uint32_t memory = 1;
  std::uint32_t gpus = 0;  ///< Volcano counts GPUs only where they are named
};
struct NodeorderWeights {
  std::uint32_t least_requested = 1;
  std::uint32_t most_requested = 0;
  std::uint32_t balanced = 1;
};

/// A plugin of a tier, with its arguments.
struct VolcanoPluginUse {
  VolcanoPlugin plugin = VolcanoPlugin::priority;
  bool preemptable = true;  ///< it has a say in who loses nodes to others of its queue
  bool reclaimable = true;  ///< the same, to other queues
  Ratio factor{6, 5};       ///< overcommit
  WallTime waiting_time;    ///< sla
  BinpackWeights binpack;
  NodeorderWeights nodeorder;
  RevocableZoneRules zones;  ///< tdm
};

/// Amounts as they are written: what is absent is not limited, or not guaranteed.
struct WrittenAmounts {
  std::optional<std::uint32_t> gpus;
  std::optional<std::uint32_t> cpu_milli;
  std::optional<Bytes> memory;
};

struct VolcanoQueue {
  std::string name;
  std::uint32_t weight = 1;
  std::int32_t priority = 0;
  bool reclaimable = true;
  std::optional<WrittenAmounts> capability;
  std::optional<WrittenAmounts> deserved;
  std::optional<WrittenAmounts> guarantee;
};

using VolcanoTier = std::vector<VolcanoPluginUse>;

/// What a scheduler's ConfigMap and the queues say.
struct VolcanoSettings {
  WallTime period{1'000'000};
  WallTime grace_period{30'000'000};
  std::vector<VolcanoAction> actions = {VolcanoAction::enqueue, VolcanoAction::allocate, VolcanoAction::backfill};
  std::vector<VolcanoTier> tiers = installed_tiers();
  std::vector<VolcanoQueue> queues;  ///< empty: those that jobs name

  /// What Volcano is installed with.
  static std::vector<VolcanoTier> installed_tiers();
  /// Null: it is in no tier.
  const VolcanoPluginUse* use_of(VolcanoPlugin plugin) const;
  bool has(VolcanoPlugin plugin) const { return use_of(plugin) != nullptr; }
  bool has(VolcanoAction action) const;
  /// The first tier that says which jobs starve has tdm in it: preemptible ones do not, and preempt nobody.
  bool spares_by_tdm() const;
  /// Plugins say which node is the best: else a placement does.
  bool scores_nodes() const {
    return has(VolcanoPlugin::nodeorder) || has(VolcanoPlugin::binpack) || has(VolcanoPlugin::tdm);
  }
};

void visit(Fields& fields, VolcanoSettings& settings);

}  // namespace athanor
