#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "models/experiments/record.hpp"
#include "models/experiments/scenario/model_section.hpp"
#include "models/serving/request_rules.hpp"
#include "models/serving/serving_summary.hpp"
#include "models/serving/simulate_serving.hpp"
#include "models/training/compute_profile.hpp"
#include "models/training/step/simulate_step.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"
#include "topologies/hardware/gpu.hpp"

namespace athanor {

/// Replicas of a pool.
struct PoolConfig {
  std::optional<std::uint32_t> replicas;  ///< absent: searched
  std::uint32_t tensor = 1;
  std::optional<EngineRules> batching;  ///< absent: as of all
  SourceLocation place;                 ///< of "tensor"
};

/// Prefill and decode on replicas of their own.
struct PoolsConfig {
  PoolConfig prefill;
  PoolConfig decode;
  bool search = false;  ///< how many replicas each has
  KvTransferRules transfer;
  SourceLocation place_of_pieces;
};

/// The "serving" of a scenario: which model answers which requests, and how.
struct ServingConfig {
  ModelSection model;
  Precision precision = Precision::bf16;
  std::optional<Precision> kv_precision;  ///< absent: 16 bits, as weights where these have them
  std::uint32_t tensor = 1;
  std::optional<std::uint32_t> replicas;  ///< absent: as many as the cluster has room for
  std::optional<PoolsConfig> pools;       ///< absent: each replica does all
  ServingRules rules;                     ///< all but replicas, pages and the pool that prefills
  Ratio memory_share{9, 10};
  Ratio stream_share{9, 10};
  Time overhead{400'000'000};  ///< of each iteration
  std::optional<ComputeProfile> compute;
  std::optional<GpuConfig> gpu;
  RequestRules drawn;  ///< where there is no trace
  std::string trace;   ///< a file; "": requests are drawn
  ServingLimits limits;
  CostFigures costs;
  std::map<const Column*, std::optional<Ratio>> measured;
  std::optional<Ratio> max_error;
  SourceLocation place;
  std::map<std::string, SourceLocation, std::less<>> places;
};

struct ReadingContext;
void visit(Fields& fields, ReadingContext& context, ServingConfig& config);

class ExperimentReader;
std::unique_ptr<ExperimentReader> serving_reader();

}  // namespace athanor
