#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// What is computed a second time in backward instead of being kept.
enum class Recompute : std::uint8_t { none, selective, full };

/// "none", "selective", "full".
std::string_view name(Recompute recompute);

/// Parts of a layer that selective recomputation may do twice, by Megatron Core's names (recompute_modules of
/// megatron/core/transformer/transformer_config.py).
enum class RecomputeModule : std::uint8_t {
  core_attn,       ///< attention between its projections: scores of unfused attention, sums of softmax
  layernorm,       ///< the norms before attention and before the MLP or experts: what they give
  mla_up_proj,     ///< latent attention: queries, keys and values from their compressed vectors
  moe_act,         ///< the activation function of routed experts: what it gives
  mlp,             ///< the whole MLP of layers without experts, but what comes in
  moe,             ///< router, exchange, experts and shared expert, but what comes in
  shared_experts,  ///< the shared expert, but what comes in
};

/// "core_attn", "layernorm", ...
std::string_view name(RecomputeModule module);
/// In the order of the enumeration.
const std::vector<RecomputeModule>& all_recompute_modules();

/// A set of them.
class RecomputeModules {
 public:
  RecomputeModules() = default;
  explicit RecomputeModules(const std::vector<RecomputeModule>& modules);

  bool has(RecomputeModule module) const { return (bits_ & bit(module)) != 0; }
  RecomputeModules with(RecomputeModule module) const;
  std::vector<RecomputeModule> list() const;
  auto operator<=>(const RecomputeModules&) const = default;

 private:
  static std::uint8_t bit(RecomputeModule module) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(module));
  }

  std::uint8_t bits_ = 0;
};

/// "layernorm+mlp"; of none "".
std::string text_of(const RecomputeModules& modules);

struct ParallelPlan;
struct Transformer;

/// Whether the plan recomputes selectively, and this.
bool recomputes(const ParallelPlan& plan, RecomputeModule module);

/// What the model lacks that this would recompute: "experts"; "": nothing.
std::string_view lacks(const Transformer& model, RecomputeModule module);

/// As a plan's results say it: "none", "selective: layernorm+mlp", "full".
std::string recompute_text(const ParallelPlan& plan);

}  // namespace athanor
