#include "models/experiments/mixed_columns.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "models/training/parameter_share.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr Column kGpuKinds{"gpu_kinds"};  ///< of unequal GPUs a list of `{"gpu", "gpus", "computing"}`: how many, and
                                          ///< the share of the step in which these compute
constexpr Column kLayersOfStages{"layers_of_stages"};  ///< where they are not as even as can be: layers of each place
constexpr Column kMicroBatchesOfCopies{
    "micro_batches_of_copies"};  ///< where copies have unlike numbers of them: of each, by data rank

/// Of unequal GPUs, those that ranks have; the faster ones wait.
void put_kinds(const TrainingSetup& setup, const StepResult& result, Record& record) {
  if (setup.others.empty()) { return; }
  JsonValue kinds = JsonValue::list();
  std::vector<std::string> parts;
  for (std::size_t kind = 0; kind < result.kinds.size(); ++kind) {
    const auto& [ranks, computing] = result.kinds[kind];
    const GpuRates& gpu = kind == 0 ? setup.gpu : setup.others[kind - 1].gpu;
    if (ranks == 0) { continue; }
    kinds.push_back({{"gpu", gpu.name}, {"gpus", ranks}, {"computing", computing}});
    parts.push_back(fmt::format("{} {:.1f} %", gpu.name, computing * 100));
  }
  record.put(kGpuKinds, std::move(kinds));
  record.remarks.push_back(fmt::format("computing by GPU: {}", joined(parts, ", ")));
}

void put_shares(const TrainingSetup& setup, Record& record) {
  const std::uint32_t layers = layers_of(setup.model);
  if (setup.layers != layers_of_places(layers, static_cast<std::uint32_t>(setup.layers.size()))) {
    record.put(kLayersOfStages, setup.layers);
  }
  const std::vector<std::uint32_t>& each = setup.plan.mixed.micro_batches;
  if (std::any_of(each.begin(), each.end(), [&](std::uint32_t count) { return count != each.front(); })) {
    record.put(kMicroBatchesOfCopies, each);
  }
}

}  // namespace

void put_mixture(const TrainingSetup& setup, const StepResult& result, Record& record) {
  put_kinds(setup, result, record);
  put_shares(setup, record);
}

}  // namespace athanor
