#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "models/experts/expert_settings.hpp"
#include "sim/config/fields.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What was measured of one direction.
struct MeasuredExchange {
  std::optional<Time> time;
  std::optional<Bandwidth> bandwidth;  ///< of the bytes that counted_bytes() counts
};

/// The "expert_exchange" of a scenario.
struct ExpertExchangeConfig {
  ExpertSettings settings;
  ExpertLayer layer;
  std::optional<std::uint32_t> ranks;  ///< absent: all endpoints
  std::uint64_t tokens = 4096;
  MeasuredExchange dispatch;
  MeasuredExchange combine;
  std::map<std::string, SourceLocation, std::less<>> places;  ///< of keys, "" for the whole
};

class ExperimentReader;
std::unique_ptr<ExperimentReader> expert_exchange_reader();

}  // namespace athanor
