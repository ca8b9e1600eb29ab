#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/config/json_value.hpp"
#include "tools/import/fabric/draft.hpp"

namespace athanor {

/// One tier of an htsim fat tree: 0 the leaves (ToR), 1 the spines (aggregation), 2 the cores. Links are those
/// downwards from it.
struct HtsimTier {
  std::int64_t gigabits = 0;
  std::int64_t radix_down = 0;
  std::int64_t radix_up = 0;  ///< 0: absent
  std::int64_t latency_ns = 0;
  std::int64_t switch_latency_ns = 0;
  std::int64_t oversubscribed = 1;
  std::int64_t bundle = 1;  ///< parallel cables to each device below
  int line = 0;
};

/// A fat tree as htsim's .topo files have it.
struct HtsimTopology {
  std::int64_t nodes = 0;
  std::int64_t tiers = 0;
  std::int64_t hosts_per_pod = 0;
  std::array<HtsimTier, 3> tier;

  std::int64_t leaves() const { return nodes / tier[0].radix_down; }
  std::int64_t leaves_per_pod() const { return hosts_per_pod / tier[0].radix_down; }
};

/// Reads and checks a .topo file: keys in any case, whole numbers, comments from '#' on. Queue sizes are left out, with
/// a note. None, and problems of the draft, for unknown keys, keys that come twice or are missing, and counts that do
/// not go together.
std::optional<HtsimTopology> read_htsim_topology(std::string_view text, FabricDraft& draft);

/// {"nodes": ..., "fabric": {"kind": "fat_tree", ...}}: exactly this fabric. Half of a switch's latency goes to each
/// of the two links on the way through it, so that every route from host to host takes as long as in htsim.
JsonValue cluster_json(const HtsimTopology& topology);

}  // namespace athanor
