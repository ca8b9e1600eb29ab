#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/record.hpp"
#include "models/layouts/layout_graph.hpp"
#include "models/training/compute_profile.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"
#include "topologies/hardware/gpu.hpp"

namespace athanor {

/// How layouts that are not given are found.
enum class LayoutStrategy : std::uint8_t {
  propagated,  ///< they follow from those that are given
  searched,    ///< so that all takes least time
};

/// The layout of a tensor as a scenario writes it: by dimension the axes that shard it, with blanks between.
struct GivenLayoutText {
  std::string tensor;
  std::vector<std::string> layout;
  SourceLocation place;
};

/// The "layouts" of a scenario.
struct LayoutsConfig {
  DeviceMesh mesh;
  LayoutModelText model;
  std::vector<GivenLayoutText> given;
  LayoutStrategy strategy = LayoutStrategy::propagated;
  bool training = false;
  Precision precision = Precision::bf16;
  std::optional<std::uint32_t> optimizer_bytes;
  std::optional<bool> keep_gathered;
  std::optional<Bytes> memory;
  std::optional<ComputeProfile> compute;
  std::optional<GpuConfig> gpu;
  std::map<const Column*, std::optional<Ratio>> measured;
  std::optional<Ratio> max_error;
  std::map<std::string, SourceLocation, std::less<>> places;
  std::vector<std::vector<SourceLocation>> operator_places;  ///< by block
  std::vector<SourceLocation> block_places;
};

struct ReadingContext;
void visit(Fields& fields, ReadingContext& context, LayoutsConfig& config);

class ExperimentReader;
std::unique_ptr<ExperimentReader> layouts_reader();

}  // namespace athanor
