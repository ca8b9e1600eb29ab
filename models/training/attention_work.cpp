#include <algorithm>
#include <cmath>

#include "models/training/element_wise.hpp"
#include "models/training/work_parts.hpp"

namespace athanor {

namespace {

/// What one tensor rank has of the heads, and what one token meets.
struct HeadShare {
  double heads = 0;
  double kv_heads = 0;
  double query_size = 0;  ///< of one head, the rotary part included
  double value_size = 0;
  double attended = 0;  ///< tokens that one attends to, on average over the sequence

  double queries() const { return heads * query_size; }
  double keys() const { return kv_heads * query_size; }
  double values() const { return kv_heads * value_size; }
  double outputs() const { return heads * value_size; }
};

/// Token i of s attends to itself and those before it, w at most: the average of min(i, w), i from 1 to s.
double attended_tokens(const Attention& attention, double sequence, double window) {
  const double most = window > 0 ? std::min(window, sequence) : sequence;
  if (!attention.causal) { return most; }
  return most - most * (most - 1) / (2 * sequence);
}

HeadShare head_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  const Attention& attention = model.attention;
  const bool latent = attention.kind == Attention::Kind::latent;
  HeadShare share;
  share.heads = static_cast<double>(attention.heads) / plan.tensor;
  share.kv_heads = latent ? share.heads : std::max(1.0, static_cast<double>(attention.kv_heads) / plan.tensor);
  share.query_size = static_cast<double>(attention.head_size) + attention.rotary_size;
  share.value_size = attention.value_size;
  share.attended = attended_tokens(attention, plan.sequence, window_of(model, layer));
  return share;
}

/// What surrounds the loop of fused attention over the tokens that one attends to, in such tokens: of causal attention
/// on an H100, forward and backward, over 1,024 to 32,768 tokens (scenarios/measurements/kernels_h100.csv).
constexpr double kForwardFilling = 175;
constexpr double kBackwardFilling = 600;

/// `per_pair`: products of a query with a key or value, elements of all heads.
Kernel fused(const HeadShare& share, double tokens, double per_pair, double bytes, double filling,
             Precision precision) {
  Kernel kernel{.kind = Kernel::Kind::attention, .label = "attention", .precision = precision};
  kernel.n = share.attended;
  kernel.k = (share.query_size + share.value_size) / 2;
  kernel.filling = filling;
  kernel.flops = 2 * tokens * share.attended * per_pair;
  kernel.bytes = bytes;
  return kernel;
}

/// FlashAttention: two products forward, and five backward, of which the first is once more that of forward.
void add_fused(const HeadShare& share, const WorkSizes& sizes, PhasedKernels& work) {
  const double in = sizes.tokens * (share.queries() + share.keys() + share.values()) * sizes.element;
  const double out = sizes.tokens * share.outputs() * sizes.element;
  const double sums = sizes.tokens * share.heads * 4;  // logarithms of softmax's sums, in fp32
  work.forward.push_back(
      fused(share, sizes.tokens, share.queries() + share.outputs(), in + out + sums, kForwardFilling, sizes.wide));
  work.backward_input.push_back(fused(share, sizes.tokens, 3 * share.queries() + 2 * share.outputs(),
                                      2 * in + 2 * out + sums, kBackwardFilling, sizes.wide));
}

/// Scores of all pairs of a sequence in memory, those that a mask hides too.
void add_unfused(const HeadShare& share, const ParallelPlan& plan, const WorkSizes& sizes, PhasedKernels& work) {
  const double sequence = plan.sequence;
  const double batch = plan.micro_batch * share.heads;
  const double scores = batch * sequence * sequence;
  const auto product = [&](const char* label, double m, double n, double k) {
    return gemm(label, sizes.wide, batch, m, n, k);
  };
  work.forward.push_back(product("scores", sequence, sequence, share.query_size));
  add_memory("softmax", 2 * scores * sizes.element, 0, work);
  if (plan.dropout) { add_memory("attention dropout", scores * (2 * sizes.element + 1), 0, work); }
  work.forward.push_back(product("context", sequence, share.value_size, sequence));
  work.backward_input.push_back(product("context", sequence, sequence, share.value_size));
  work.backward_input.push_back(product("context", sequence, share.value_size, sequence));
  if (plan.dropout) { add_memory("attention dropout", 0, scores * (2 * sizes.element + 1), work); }
  add_memory("softmax", 0, 3 * scores * sizes.element, work);
  work.backward_input.push_back(product("scores", sequence, share.query_size, sequence));
  work.backward_input.push_back(product("scores", sequence, share.query_size, sequence));
}

/// Attention between its projections: what selective recomputation does twice.
void add_core(const HeadShare& share, const ParallelPlan& plan, const WorkSizes& sizes, PhasedKernels& work) {
  PhasedKernels core;
  if (plan.fused_attention) {
    add_fused(share, sizes, core);
  } else {
    add_unfused(share, plan, sizes, core);
  }
  if (recomputes(plan, RecomputeModule::core_attn)) {
    work.recompute.insert(work.recompute.end(), core.forward.begin(), core.forward.end());
  }
  work.forward.insert(work.forward.end(), core.forward.begin(), core.forward.end());
  work.backward_input.insert(work.backward_input.end(), core.backward_input.begin(), core.backward_input.end());
}

void add_grouped(const Transformer& model, const HeadShare& share, const WorkSizes& sizes, PhasedKernels& work) {
  const bool biases = model.biases || model.qkv_biases;
  const double turned = sizes.tokens * (share.queries() + share.keys());
  add_linear({.label = "qkv",
              .tokens = sizes.tokens,
              .in = static_cast<double>(model.hidden),
              .out = share.queries() + share.keys() + share.values(),
              .biases = biases,
              .gathers_in = true},
             sizes, work);
  const auto adapter = [&](LoraTarget target, double out) {
    add_adapter(target, {.tokens = sizes.tokens, .in = static_cast<double>(model.hidden), .out = out}, sizes, work);
  };
  adapter(LoraTarget::query, share.queries());
  adapter(LoraTarget::key, share.keys());
  adapter(LoraTarget::value, share.values());
  if (model.attention.norms) { add_norm("head norms", turned, sizes, work); }
  // PyTorch puts gradients of the three together.
  if (sizes.eager) { add_memory("split", 0, 2 * (turned + sizes.tokens * share.values()) * sizes.element, work); }
  if (model.positions == 0) { add_operator("rotary", turned, rotary_cost(sizes), work); }
}

/// Every tensor rank compresses all tokens, and makes its own heads of that.
void add_compression(const Transformer& model, const WorkSizes& sizes, PhasedKernels& work) {
  const Attention& attention = model.attention;
  const double tokens = sizes.tokens;
  const double hidden = model.hidden;
  const double rank = attention.query_rank;
  const double kv_rank = attention.kv_rank;
  if (rank > 0) {
    add_linear({.label = "compress queries", .tokens = tokens, .in = hidden, .out = rank, .biases = model.qkv_biases},
               sizes, work);
  }
  add_linear({.label = "compress keys",
              .tokens = tokens,
              .in = hidden,
              .out = kv_rank + attention.rotary_size,
              .biases = model.qkv_biases},
             sizes, work);
}

/// Queries, keys and values from compressed vectors.
void add_expansion(const Transformer& model, const HeadShare& share, const WorkSizes& sizes, PhasedKernels& work) {
  const Attention& attention = model.attention;
  const double tokens = sizes.tokens;
  const double rank = attention.query_rank;
  const double kv_rank = attention.kv_rank;
  if (rank > 0) { add_norm("latent norm", tokens * rank, sizes, work); }
  add_linear({.label = "queries",
              .tokens = tokens,
              .in = rank > 0 ? rank : static_cast<double>(model.hidden),
              .out = share.queries()},
             sizes, work);
  add_norm("latent norm", tokens * kv_rank, sizes, work);
  add_linear({.label = "keys and values",
              .tokens = tokens,
              .in = kv_rank,
              .out = share.heads * (static_cast<double>(attention.head_size) + attention.value_size)},
             sizes, work);
  const double turned = tokens * (share.heads + 1) * attention.rotary_size;
  const double joined = tokens * share.keys();  // each key: its own part beside the one that heads share
  const double bytes = 2 * (turned + joined) * sizes.element;
  add_memory("rotary", bytes, bytes, work);
}

}  // namespace

void add_attention(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer, PhasedKernels& work) {
  const WorkSizes sizes = sizes_of(plan);
  const HeadShare share = head_share(model, plan, layer);
  if (model.attention.kind == Attention::Kind::latent) {
    add_compression(model, sizes, work);
    const auto before = static_cast<std::ptrdiff_t>(work.forward.size());
    add_expansion(model, share, sizes, work);
    if (recomputes(plan, RecomputeModule::mla_up_proj)) {
      work.recompute.assign(work.forward.begin() + before, work.forward.end());
    }
  } else {
    add_grouped(model, share, sizes, work);
  }
  add_core(share, plan, sizes, work);
  add_linear({.label = "output projection",
              .tokens = sizes.tokens,
              .in = share.outputs(),
              .out = static_cast<double>(model.hidden),
              .biases = model.biases,
              .gathers_out = true},
             sizes, work);
  add_adapter(LoraTarget::output,
              {.tokens = sizes.tokens, .in = share.outputs(), .out = static_cast<double>(model.hidden)}, sizes, work);
}

}  // namespace athanor
