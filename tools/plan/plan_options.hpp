#pragma once

#include <cstdint>

#include "models/training/search/plan_search.hpp"
#include "tools/cli/scenarios.hpp"

namespace athanor {

/// What a plan leaves free by default: CUDA context, buffers of NCCL, workspaces and what an allocator wastes. An
/// assumption; no table of the sources says it.
constexpr double kReserve = 4e9;

struct PlanOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  PlanSpace space;  ///< what is asked for; empty: as default_space() says
  std::optional<std::vector<std::string>> schedules, sharding, recompute;  ///< "all": every kind
  std::optional<Bytes> reserve;  ///< of each GPU's memory that plans may not use; none: kReserve
  std::uint32_t top = 10;
  std::uint32_t most = 0;
  std::optional<std::string> output;

  double reserved() const { return reserve ? static_cast<double>(reserve->count()) : kReserve; }
};
void visit(OptionFields& fields, PlanOptions& options);

/// What to search, as the options say it; what they leave open is as default_space() says. `endpoints`: of the cluster;
/// `domain`: of them those that are in one node. Throws UsageError.
PlanSpace space_of(const PlanOptions& options, const TrainingSetup& setup, std::uint32_t endpoints,
                   std::uint32_t domain);

}  // namespace athanor
