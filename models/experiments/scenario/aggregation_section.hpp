#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/engines/engine.hpp"
#include "models/experiments/scenario/slots_section.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct Cluster;

/// The "aggregation" of a scenario's network, as far as it can be read without cluster and collective.
struct AggregationSection {
  EngineModel engine;
  bool falls_back = false;
  std::optional<std::vector<std::string>> fallback;  ///< absent: see default_fallback()
  SlotsSection slots;
  SourceLocation switches_place;
  SourceLocation fallback_place;
};

void visit(Fields& fields, AggregationSection& section);

/// With what only cluster and collective tell. What is wrong is added to `problems`: a switch that is not there
/// ("no-such-switch"), an algorithm that is not known or needs engines itself; and as resolve() of slots does.
std::shared_ptr<const EngineDeployment> resolve(const AggregationSection& section, const Cluster& cluster,
                                                const SlotUsers& users, Problems& problems);

/// The same for the groups of a workload of so many ranks. Null, too, with a problem at `place`, for engines that add
/// up packet by packet: that is simulated for collectives alone.
std::shared_ptr<const EngineDeployment> resolve_for_groups(const AggregationSection& section, const Cluster& cluster,
                                                           std::uint32_t ranks, const SourceLocation& place,
                                                           Problems& problems);

}  // namespace athanor
