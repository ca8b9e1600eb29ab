#pragma once

#include <nlohmann/json_fwd.hpp>

#include "models/engines/aggregator_settings.hpp"

namespace athanor {

/// What became of packets that switches add up one by one, as "slots" of a result. Keys are stable.
nlohmann::ordered_json slots_json(const AggregationJobResult& job);

}  // namespace athanor
