#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/engines/engine.hpp"
#include "models/execution/simulate.hpp"
#include "models/experiments/scenario/aggregation_section.hpp"
#include "sim/config/fields.hpp"
#include "topologies/fabric/router.hpp"

namespace athanor {

/// The "network" of a scenario: how data travels.
struct NetworkSection {
  NetworkSettings settings;
  std::optional<Routing> routing;
  std::optional<bool> pxn;
  std::string fabric;
  std::optional<AggregationSection> aggregation;
  std::optional<NicOffload> offload;
  SourceLocation routing_place;
  SourceLocation fabric_place;
};

void visit(Fields& fields, NetworkSection& section);

}  // namespace athanor
