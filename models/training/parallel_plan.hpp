#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/experts/expert_settings.hpp"
#include "models/training/compression/compression.hpp"
#include "models/training/lora.hpp"
#include "models/training/mixed_plan.hpp"
#include "models/training/optimizer.hpp"
#include "models/training/recompute.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"

namespace athanor {

/// In which order micro-batches go through the stages of a pipeline.
enum class PipelineKind : std::uint8_t { gpipe, one_f_one_b, interleaved, zb_h1, zb_h2, zb_v, dual_pipe };

/// "gpipe", "1f1b", ...: as in scenarios.
std::string_view name(PipelineKind kind);

/// What data-parallel ranks share out among themselves.
enum class Sharding : std::uint8_t {
  none,        ///< all-reduce of gradients (DDP)
  optimizer,   ///< ZeRO-1, Megatron's distributed optimizer: reduce-scatter of gradients, all-gather of parameters
  gradients,   ///< ZeRO-2; with gather_again SHARD_GRAD_OP
  parameters,  ///< ZeRO-3, FSDP FULL_SHARD
};

/// "none", "optimizer", "gradients", "parameters".
std::string_view name(Sharding sharding);

/// The precision that matrices are multiplied in.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8, fp4 };
std::string_view name(Precision precision);
/// Of one number of it; fp4: a half.
double bytes_of(Precision precision);

/// How operators come to the GPU.
enum class ExecutionMode : std::uint8_t {
  eager,        ///< one by one, as PyTorch has them, each from memory to memory
  fused,        ///< one by one, with kernels that do several (Transformer Engine, Apex, Megatron-LM's own)
  compiled,     ///< fused by a compiler (torch.compile)
  cuda_graphs,  ///< fused kernels, launched at once from a recording: the host dispatches none of them
};

/// "eager", "fused", "compiled", "cuda_graphs".
std::string_view name(ExecutionMode execution);

/// By what numbers are scaled before they become fp8, and what the scales are found from.
enum class Fp8Recipe : std::uint8_t {
  delayed,    ///< one scale a tensor, from largest elements of earlier steps
  current,    ///< one scale a tensor, from its own largest element, for which it is read once more
  blockwise,  ///< one in fp32 for 128 elements along the sum, of weights for 128 x 128 (DeepSeek-V3)
  mxfp8,      ///< one of 8 bits (E8M0) for 32 elements along the sum (Open Compute Project; Blackwell multiplies so)
};

/// "delayed", "current", "blockwise", "mxfp8".
std::string_view name(Fp8Recipe recipe);
/// Blocks lie along the sum: what another product sums over the other way is another cast, not the same one transposed.
bool has_blocks(Fp8Recipe recipe);
/// Bytes of scales per element.
double scale_bytes(Fp8Recipe recipe);

/// How a model is spread over GPUs. ranks = tensor x context x pipeline x data; expert groups are made of the
/// data (and context) dimension: expert x expert_tensor divides tensor x context x data.
struct ParallelPlan {
  std::uint32_t tensor = 1;
  std::uint32_t context = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t data = 1;
  std::uint32_t expert = 1;
  std::uint32_t expert_tensor = 1;   ///< of experts; 1 or `tensor`
  ExpertSettings experts = {};       ///< how tokens get to experts and back
  bool overlap_experts = false;      ///< ... beside the computing of another micro-batch, in 1f1b and interleaved
  double expert_kept = 1;            ///< share of tokens' choices that experts have room for
  double expert_imbalance = 1;       ///< how many tokens the busiest expert rank gets per token of the average one
  std::uint32_t virtual_stages = 1;  ///< chunks of layers of each stage (interleaved)
  PipelineKind schedule = PipelineKind::one_f_one_b;
  /// Which dimension of ranks varies fastest, as Megatron-LM spells it.
  std::string order = "tp-cp-ep-dp-pp";

  std::uint32_t micro_batch = 1;   ///< sequences (samples)
  std::uint32_t global_batch = 1;  ///< of all ranks, per step; micro_batch x data divides it, unless copies are `mixed`
  std::uint32_t sequence = 2048;   ///< tokens
  Precision precision = Precision::bf16;

  bool sequence_parallel = false;   ///< all-gather and reduce-scatter in place of all-reduce over tensor ranks
  bool overlap_tensor = false;      ///< their communication beside the GEMMs that need it, in pieces
  bool overlap_gradients = false;   ///< reduction beside backward, in buckets
  bool overlap_parameters = false;  ///< all-gather beside forward
  bool single_process = false;      ///< PyTorch's DataParallel: GPU 0 alone holds parameters and has the optimizer
  bool overlap_pipeline = true;     ///< activations are sent beside computing
  bool fused_attention = true;      ///< FlashAttention and its kin; else scores are made, kept and read (before 2022)
  bool fused_loss = false;          ///< one kernel reads logits, another makes gradients of them in their place
  bool dropout = false;             ///< masks are made and kept
  ExecutionMode execution = ExecutionMode::fused;
  bool autocast = false;  ///< parameters of 4 bytes, cast for every micro-batch, as are their gradients (PyTorch's AMP)
  Fp8Recipe fp8_recipe = Fp8Recipe::delayed;
  bool any_order = false;  ///< fp8 matrices are multiplied as they lie: no cast of a whole tensor is transposed too
  Recompute recompute = Recompute::none;
  RecomputeModules recompute_modules{{RecomputeModule::core_attn}};  ///< selective; Megatron Core's default
  std::uint32_t recompute_layers = 0;  ///< full, of each stage (or chunk): so many; 0: all
  std::uint32_t offload_layers = 0;    ///< of each chunk, the first: whose activations wait in the host's memory
  Sharding sharding = Sharding::none;
  std::uint32_t shard_group = 0;     ///< hierarchical sharding: ranks that hold one copy; 0: all data ranks
  Bytes bucket{40'000'000};          ///< of gradients that are reduced at once
  std::uint32_t gradient_bytes = 4;  ///< of a gradient that is reduced
  std::uint32_t reduce_every = 1;    ///< micro-batches after which it is (sharding gradients, parameters)
  std::uint32_t master_bytes = 4;    ///< of the optimizer's copy of a parameter: 4; 2: what bf16 lacks of fp32; 0: none
  std::uint32_t moment_bytes = 4;    ///< of each of Adam's two moments, of momentum
  OptimizerKind optimizer = OptimizerKind::adam;
  MixedPlan mixed = {};
  Lora lora = {};                 ///< of rank 0: all parameters are trained
  Compression compression = {};   ///< of what copies send each other
  bool fp8_parameters = false;    ///< of layers are kept and gathered in fp8, where matrices are multiplied in it
  std::uint32_t prefetch = 1;     ///< layers that are gathered ahead (sharding parameters)
  std::uint32_t shard_calls = 1;  ///< in which a layer is gathered, and reduced (sharding gradients, parameters)
  /// For recomputing and for backward apart (sharding parameters), for each micro-batch (sharding gradients).
  bool gather_again = false;
  Time host_per_rank{};  ///< before each of these calls, for each of its ranks: what the host takes

  std::uint32_t ranks() const { return tensor * context * pipeline * data; }
  /// Not more than if one expert rank got all tokens.
  double busiest_expert_rank() const { return expert_imbalance < expert ? expert_imbalance : expert; }
  /// Of layers, on each stage.
  std::uint32_t chunks() const { return schedule == PipelineKind::zb_v ? 2 : virtual_stages; }
  bool casts_parameters() const { return autocast && (precision == Precision::fp16 || precision == Precision::bf16); }
  /// Of a number cast to `precision`, with its part of the scales.
  double narrow_bytes() const;
  /// Of all casts of a number that products need: a second one for the other direction, unless one does for both.
  double cast_bytes() const;
  /// Of a parameter that is kept in fp8, as it is gathered: a cast of a whole tensor, which is transposed where it
  /// arrives; of blocks both casts.
  double kept_fp8_bytes() const { return has_blocks(fp8_recipe) ? cast_bytes() : narrow_bytes(); }
  /// Whether adapters alone are trained.
  bool freezes() const { return lora.rank > 0; }
  /// ... beside matrices that are kept in 4 bits.
  bool quantizes_base() const { return freezes() && lora.base == BasePrecision::nf4; }
  /// Whether one process has several GPUs.
  bool has_one_process() const { return single_process && data > 1; }
  /// Of a copy; where they have unlike ones, of the copy with most.
  std::uint32_t micro_batches() const {
    const auto& each = mixed.micro_batches;
    return each.empty() ? global_batch / (micro_batch * data) : *std::max_element(each.begin(), each.end());
  }
  /// Whether parameters of layers are narrow themselves, not copies of wide ones.
  bool keeps_fp8() const { return fp8_parameters && precision == Precision::fp8; }
  bool operator==(const ParallelPlan&) const = default;
};

struct Transformer;

/// Why its optimizer cannot be shared out as `sharding` has it, in the user's words; empty: it can.
std::string sharding_fault(const ParallelPlan& plan);

/// Why this transformer cannot be spread like that, in the user's words; empty: it can. How layers go to pipeline
/// stages is not asked here.
std::vector<std::string> contradictions(const Transformer& model, const ParallelPlan& plan);

}  // namespace athanor
