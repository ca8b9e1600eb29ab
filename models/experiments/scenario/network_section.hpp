#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/engines/nic_offload.hpp"
#include "models/execution/simulate.hpp"
#include "models/experiments/scenario/aggregation_section.hpp"
#include "sim/config/object_reader.hpp"
#include "topologies/router.hpp"

namespace athanor {

constexpr std::uint32_t kMostQueuePairs = 128;  ///< of a connection

/// The "network" of a scenario: how data travels.
struct NetworkSection {
  NetworkLevel level = NetworkLevel::flow;
  PacketSettings packet;
  std::optional<Routing> routing;
  std::optional<bool> pxn;
  std::string fabric;
  std::optional<std::uint32_t> queue_pairs;
  std::optional<AggregationSection> aggregation;
  std::optional<NicOffload> offload;
  Place routing_place;
  Place fabric_place;
};

void read(ObjectReader& reader, NetworkSection& section);

}  // namespace athanor
