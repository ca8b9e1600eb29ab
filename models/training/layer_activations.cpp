#include <algorithm>
#include <initializer_list>

#include "models/training/memory.hpp"
#include "models/training/work_parts.hpp"

namespace athanor {

namespace {

/// Sizes that are kept. `input`: bytes of an element that a product of matrices reads, narrow where it is fp8.
struct Kept {
  WorkSizes sizes;
  double input = 2;
  double local = 0;  ///< elements of the residual stream on this rank: tokens that norms see x hidden
};

Kept kept_sizes(const Transformer& model, const ParallelPlan& plan) {
  Kept kept;
  kept.sizes = sizes_of(plan);
  kept.input = kept.sizes.casts ? kept.sizes.narrow : kept.sizes.element;
  kept.local = kept.sizes.norm_tokens * model.hidden;
  return kept;
}

/// Queries, keys and values.
double attention_inputs(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes) {
  const Attention& attention = model.attention;
  const double heads = static_cast<double>(attention.heads) / plan.tensor;
  const bool latent = attention.kind == Attention::Kind::latent;
  const double kv_heads = latent ? heads : std::max(1.0, static_cast<double>(attention.kv_heads) / plan.tensor);
  const double query = static_cast<double>(attention.head_size) + attention.rotary_size;
  return sizes.tokens * (heads * query + kv_heads * (query + attention.value_size)) * sizes.element;
}

/// What softmax leaves: its sums alone where attention is fused; else scores behind softmax, and with dropout its mask
/// and what it lets through.
double softmax(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes) {
  const double heads = static_cast<double>(model.attention.heads) / plan.tensor;
  if (plan.fused_attention) { return 4 * sizes.tokens * heads; }
  const double scores = plan.micro_batch * heads * plan.sequence * plan.sequence;
  return scores * (plan.dropout ? 2 * sizes.element + 1 : sizes.element);
}

/// Inputs of the norms of compressed vectors and of heads, and of the products that follow them.
double inner_norms(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Attention& attention = model.attention;
  const double tokens = kept.sizes.tokens;
  if (attention.kind == Attention::Kind::latent) {
    const double products = plan.freezes() ? 0 : kept.input;
    return tokens * (static_cast<double>(attention.query_rank) + attention.kv_rank) * (kept.sizes.element + products);
  }
  if (!attention.norms) { return 0; }
  const double heads = static_cast<double>(attention.heads) + attention.kv_heads;
  return tokens * heads / plan.tensor * attention.head_size * kept.sizes.element;
}

/// Compressed vectors before their norms, and the key that heads share: from these the rest is made again.
double compressed(const Attention& attention, const Kept& kept) {
  const double elements = static_cast<double>(attention.query_rank) + attention.kv_rank + attention.rotary_size;
  return kept.sizes.tokens * elements * kept.sizes.element;
}

/// Whether products need what comes into these matrices once more in backward: for gradients of their weights, or of
/// those of adapters that read the same. The rest of a frozen model needs no inputs of products.
bool needs_inputs(const ParallelPlan& plan, std::initializer_list<LoraTarget> matrices) {
  return !plan.freezes() || std::any_of(matrices.begin(), matrices.end(),
                                        [&](LoraTarget target) { return plan.lora.targets.has(target); });
}

/// What the first of an adapter's two products gives, of each of `matrices`.
double adapter_vectors(const ParallelPlan& plan, const Kept& kept, double tokens,
                       std::initializer_list<LoraTarget> matrices) {
  if (!plan.freezes()) { return 0; }
  const auto adapters =
      std::count_if(matrices.begin(), matrices.end(), [&](LoraTarget target) { return plan.lora.targets.has(target); });
  return tokens * plan.lora.rank * kept.sizes.element * static_cast<double>(adapters);
}

constexpr std::initializer_list<LoraTarget> kAttention{LoraTarget::query, LoraTarget::key, LoraTarget::value,
                                                       LoraTarget::output};
constexpr std::initializer_list<LoraTarget> kMlp{LoraTarget::gate, LoraTarget::up, LoraTarget::down};

double attention_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const double outputs = head_sizes(model.attention).values / plan.tensor;
  // Fused attention needs what it gives for its own backward, too.
  const bool keeps_output = plan.fused_attention || needs_inputs(plan, {LoraTarget::output});
  const bool keeps_input = needs_inputs(plan, {LoraTarget::query, LoraTarget::key, LoraTarget::value});
  double sum = keeps_output ? kept.sizes.tokens * outputs * kept.input : 0;
  sum += adapter_vectors(plan, kept, kept.sizes.tokens, kAttention);
  if (keeps_input && !recomputes(plan, RecomputeModule::layernorm)) { sum += kept.local * kept.input; }
  if (!recomputes(plan, RecomputeModule::core_attn)) { sum += softmax(model, plan, kept.sizes); }
  if (recomputes(plan, RecomputeModule::mla_up_proj)) { return sum + compressed(model.attention, kept); }
  return sum + inner_norms(model, plan, kept) + attention_inputs(model, plan, kept.sizes);
}

/// Whether what an activation function gives is kept for the product behind it.
bool drops_given(const ParallelPlan& plan) { return !needs_inputs(plan, {LoraTarget::down}); }

/// What the activation function reads, and, where it is not made again, what it gives.
double inner_activations(const Transformer& model, const Kept& kept, double elements, bool again) {
  const double halves = model.gated ? 2 : 1;
  return elements * (halves * kept.sizes.element + (again ? 0 : kept.input));
}

double mlp_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const bool norm_again = recomputes(plan, RecomputeModule::layernorm);
  if (recomputes(plan, RecomputeModule::mlp)) { return norm_again ? 0 : kept.local * kept.sizes.element; }
  const double inner = kept.sizes.tokens * model.ffn / plan.tensor;
  const bool keeps_input = needs_inputs(plan, {LoraTarget::gate, LoraTarget::up});
  return (norm_again || !keeps_input ? 0 : kept.local * kept.input) +
         inner_activations(model, kept, inner, drops_given(plan)) +
         adapter_vectors(plan, kept, kept.sizes.tokens, kMlp);
}

double routed_experts(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Experts& experts = *model.experts;
  const double sent = kept.sizes.norm_tokens * experts.chosen;
  const double routed = kept.sizes.tokens / plan.tensor * plan.expert_tensor * experts.chosen * plan.expert_kept *
                        plan.busiest_expert_rank();
  const double ffn = static_cast<double>(experts.ffn) / plan.expert_tensor;
  double sum = needs_inputs(plan, {LoraTarget::gate, LoraTarget::up}) ? routed * model.hidden * kept.input : 0;
  sum += adapter_vectors(plan, kept, routed, kMlp);
  sum += inner_activations(model, kept, routed * ffn, drops_given(plan) || recomputes(plan, RecomputeModule::moe_act));
  sum += sent * model.hidden * kept.sizes.element;            // what comes back, which the router's weights multiply
  return sum + 4 * kept.sizes.norm_tokens * experts.experts;  // the router's scores
}

double experts_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const bool norm_again = recomputes(plan, RecomputeModule::layernorm);
  const double norm = norm_again ? 0 : kept.local * kept.sizes.element;  // the router's input
  if (recomputes(plan, RecomputeModule::moe)) { return norm; }
  const double sum = (plan.freezes() ? 0 : norm) + routed_experts(model, plan, kept);
  const double shared = kept.sizes.tokens * model.experts->shared_ffn / plan.tensor;
  if (shared == 0 || recomputes(plan, RecomputeModule::shared_experts)) { return sum; }
  const bool keeps_input = needs_inputs(plan, {LoraTarget::gate, LoraTarget::up});
  return sum + (norm_again || !keeps_input ? 0 : kept.local * kept.input) +
         inner_activations(model, kept, shared, drops_given(plan)) +
         adapter_vectors(plan, kept, kept.sizes.tokens, kMlp);
}

}  // namespace

double layer_activations(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  const Kept kept = kept_sizes(model, plan);
  if (plan.recompute == Recompute::full) { return kept.local * kept.sizes.element; }
  double sum = model.norms * kept.local * kept.sizes.element + attention_block(model, plan, kept);
  sum += has_experts(model, layer) ? experts_block(model, plan, kept) : mlp_block(model, plan, kept);
  if (plan.dropout) { sum += 2 * kept.local; }
  return sum;
}

}  // namespace athanor
