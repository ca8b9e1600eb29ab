#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/embeddings/recommender_step.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"
#include "topologies/hardware/gpu.hpp"

namespace athanor {

/// How the rows of a table are looked up, as a scenario says it.
struct AccessConfig {
  enum class Law : std::uint8_t { uniform, zipf, steps, counts, indices };
  struct Step {
    Ratio rows{1, 1};
    Ratio lookups{1, 1};
    bool operator==(const Step&) const = default;
  };
  Law law = Law::uniform;
  Ratio exponent{1, 1};     ///< zipf
  std::vector<Step> steps;  ///< steps
  std::string file;         ///< counts and indices
  SourceLocation place;
  bool operator==(const AccessConfig& other) const {
    return law == other.law && exponent == other.exponent && steps == other.steps && file == other.file;
  }
};

/// Tables that differ in their rows alone.
struct TableConfig {
  std::string name;
  std::vector<std::uint64_t> rows;  ///< a table for each
  std::uint32_t count = 1;          ///< of tables with these rows
  std::optional<std::uint32_t> width;
  Ratio lookups{1, 1};
  std::optional<AccessConfig> access;
  std::optional<TableSharding> sharding;
  std::optional<std::uint32_t> column_shards;
  std::vector<std::uint32_t> ranks;
  std::optional<RowCachePolicy> cache;  ///< absent with a `kept` of 0: all rows are read in the host's memory
  std::optional<Ratio> kept;
  std::map<std::string, SourceLocation, std::less<>> places;
};

/// The "recommender" of a scenario: what is trained, and how.
struct RecommenderConfig {
  RecommenderModel model;  ///< all but tables
  std::optional<std::uint32_t> width;
  AccessConfig access;
  std::vector<TableConfig> tables;
  std::uint64_t batch = 1;
  std::optional<std::uint32_t> gpus;  ///< absent: all endpoints
  EmbeddingNumbers numbers;
  std::optional<TableSharding> sharding;
  Precision precision = Precision::fp32;
  bool fused = true;
  bool host_inputs = true;
  BatchPipeline pipeline = BatchPipeline::none;
  Ratio stream_share{9, 10};
  Ratio memory_share{85, 100};
  std::optional<ComputeProfile> compute;
  std::optional<GpuConfig> gpu;
  std::optional<Ratio> measured_samples;  ///< a second
  std::optional<Time> measured_step;
  std::optional<Ratio> max_error;
  std::map<std::string, SourceLocation, std::less<>> places;  ///< "" is the whole
};

struct ReadingContext;
void visit(Fields& fields, ReadingContext& context, RecommenderConfig& config);

class ExperimentReader;
std::unique_ptr<ExperimentReader> recommender_reader();

}  // namespace athanor
