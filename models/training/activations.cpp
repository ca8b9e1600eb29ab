#include <algorithm>

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
  kept.input = std::min(kept.sizes.element, bytes_of(kept.sizes.matrix));
  kept.local = kept.sizes.norm_tokens * model.hidden;
  return kept;
}

/// Queries, keys and values, and what softmax leaves: its sums alone where attention is fused; else scores behind
/// softmax, and with dropout its mask and what it lets through.
double attention_core(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes) {
  const Attention& attention = model.attention;
  const double heads = static_cast<double>(attention.heads) / plan.tensor;
  const bool latent = attention.kind == Attention::Kind::latent;
  const double kv_heads = latent ? heads : std::max(1.0, static_cast<double>(attention.kv_heads) / plan.tensor);
  const double query = static_cast<double>(attention.head_size) + attention.rotary_size;
  const double inputs = sizes.tokens * (heads * query + kv_heads * (query + attention.value_size)) * sizes.element;
  if (plan.fused_attention) { return inputs + (plan.recompute == Recompute::selective ? 0 : 4 * sizes.tokens * heads); }
  if (plan.recompute == Recompute::selective) { return inputs; }
  const double scores = plan.micro_batch * heads * plan.sequence * plan.sequence;
  return inputs + scores * (plan.dropout ? 2 * sizes.element + 1 : sizes.element);
}

/// Inputs of the norms of compressed vectors and of heads, and of the products that follow them.
double inner_norms(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Attention& attention = model.attention;
  const double tokens = kept.sizes.tokens;
  if (attention.kind == Attention::Kind::latent) {
    return tokens * (static_cast<double>(attention.query_rank) + attention.kv_rank) * (kept.sizes.element + kept.input);
  }
  if (!attention.norms) { return 0; }
  const double heads = static_cast<double>(attention.heads) + attention.kv_heads;
  return tokens * heads / plan.tensor * attention.head_size * kept.sizes.element;
}

double attention_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const double outputs = head_sizes(model.attention).values / plan.tensor;
  return kept.local * kept.input + inner_norms(model, plan, kept) + attention_core(model, plan, kept.sizes) +
         kept.sizes.tokens * outputs * kept.input;
}

/// What comes in, what the activation function reads, and what it gives.
double mlp_block(const Transformer& model, const Kept& kept, double input_elements, double inner_elements) {
  const double halves = model.gated ? 2 : 1;
  return input_elements * kept.input + inner_elements * (halves * kept.sizes.element + kept.input);
}

double experts_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Experts& experts = *model.experts;
  const double sent = kept.sizes.norm_tokens * experts.chosen;
  const double routed =
      kept.sizes.tokens / plan.tensor * plan.expert_tensor * experts.chosen * plan.busiest_expert_rank();
  const double ffn = static_cast<double>(experts.ffn) / plan.expert_tensor;
  double sum = mlp_block(model, kept, routed * model.hidden, routed * ffn);
  sum += sent * model.hidden * kept.sizes.element;      // what comes back, which the router's weights multiply
  sum += kept.local * kept.sizes.element;               // the router's input
  sum += 4 * kept.sizes.norm_tokens * experts.experts;  // its scores
  const double shared = kept.sizes.tokens * experts.shared_ffn / plan.tensor;
  return sum + (shared > 0 ? mlp_block(model, kept, kept.local, shared) : 0);
}

}  // namespace

double layer_activations(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  const Kept kept = kept_sizes(model, plan);
  if (plan.recompute == Recompute::full) { return kept.local * kept.sizes.element; }
  const double inner = kept.sizes.tokens * model.ffn / plan.tensor;
  double sum = model.norms * kept.local * kept.sizes.element + attention_block(model, plan, kept);
  sum += has_experts(model, layer) ? experts_block(model, plan, kept) : mlp_block(model, kept, kept.local, inner);
  if (plan.dropout) { sum += 2 * kept.local; }
  return sum;
}

}  // namespace athanor
