#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/software/pooled_figure.hpp"
#include "models/training/architecture.hpp"
#include "models/training/compute_profile.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// Figures of compute profiles by which GPUs and software differ, each a positive number.
enum class ComputeFigure : std::uint8_t {
  share,  ///< of the peak, that the largest products in 16 bits and more reach
  depth,  ///< elements: ProductEfficiency::depth of these
  waves,
  narrow_share,  ///< that of products in fp8 and fp4, as a factor of `share`
  narrow_depth,  ///< as a factor of `depth`
  attention,
  memory,
  interference,
  straggler_growth,
  pass_overhead,  ///< us
};
constexpr std::size_t kComputeFigures = 10;
using ComputeValues = std::array<double, kComputeFigures>;

struct ComputeFigureRange {
  const char* key;
  double least;  ///< bounds that plausible GPUs keep
  double most;
  double typical;  ///< of A100: where the search for a better one begins
};
const std::array<ComputeFigureRange, kComputeFigures>& compute_figure_ranges();

/// What a step is computed on and with, as far as compute profiles differ by it.
struct ComputeParts {
  std::string gpu;  ///< its generation: "hopper"; "": not known
  Precision precision = Precision::bf16;
  bool experts = false;    ///< some layers have several MLPs, of which each token goes through some
  std::string software{};  ///< "": not known
  bool operator==(const ComputeParts&) const = default;
};

/// Of a model that is trained in this precision on such a GPU, by software that nothing is known of.
ComputeParts compute_parts(const GpuRates& gpu, Precision precision, const TrainedModel& model);

/// Which parts a figure is a property of: "gpu hopper", "fp8", "hopper fp8", "experts", "software megatron-bridge".
std::vector<std::string> parts_of(ComputeFigure figure, const ComputeParts& parts);
/// Whether steps depend on it at all: nothing of narrow products where there are none.
bool matters(ComputeFigure figure, const ComputeParts& parts);
/// The profile of these figures, within their bounds; without a name.
ComputeProfile compute_profile(const ComputeValues& values, Precision precision);

/// How much of a software's steps had been measured before the time of one was predicted, from most to least.
enum class StepKnowledge : std::uint8_t {
  steps,     ///< others of the same model
  models,    ///< those of other models
  one_step,  ///< one of them
  nothing,   ///< steps of other software alone
};
inline constexpr std::array kStepKnowledges{StepKnowledge::steps, StepKnowledge::models, StepKnowledge::one_step,
                                            StepKnowledge::nothing};
std::string_view name(StepKnowledge knowledge);

/// How far predicted steps were off that no fit had seen: a measured time over the simulated one.
struct StepError {
  StepKnowledge knowledge = StepKnowledge::nothing;
  double low = 1;            ///< one measured time in ten is below this multiple of the simulated one
  double high = 1;           ///< one in ten is above
  double shared = 0;         ///< of the variance of its logarithm, what predictions for one software have in common
  std::uint32_t tables = 0;  ///< that were held out
};

/// What all measured steps together tell of the figures of GPUs and software that were not measured:
/// `athanor calibrate --backend steps` makes it.
struct ComputePool {
  std::string name;
  std::string description;
  std::string source;
  std::array<PooledFigure, kComputeFigures> figures;
  std::vector<StepError> errors;  ///< empty: nothing was held out

  /// Whether steps of such GPUs were measured, in this precision where it is a narrow one.
  bool knows(const ComputeParts& parts) const;
  /// Whether steps of this software were, on whatever GPU.
  bool knows_software(const ComputeParts& parts) const;
  /// Null: none was held out.
  const StepError* error_of(StepKnowledge knowledge) const;
};
void visit(Fields& fields, ComputePool& pool);

/// What is expected of GPUs and software of these parts.
ComputeProfile pooled_compute(const ComputePool& pool, const ComputeParts& parts);
/// "hopper, fp8, with experts".
std::string text_of(const ComputeParts& parts);

}  // namespace athanor
