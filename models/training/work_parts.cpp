#include "models/training/work_parts.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/adapters.hpp"
#include "models/training/element_wise.hpp"
#include "models/training/layer_work.hpp"

namespace athanor {

WorkSizes sizes_of(const ParallelPlan& plan) {
  const bool narrow = plan.precision == Precision::fp8 || plan.precision == Precision::fp4;
  WorkSizes sizes;
  sizes.tokens = tokens_of(plan);
  sizes.norm_tokens = plan.sequence_parallel ? sizes.tokens / plan.tensor : sizes.tokens;
  sizes.wide = narrow ? Precision::bf16 : plan.precision;
  sizes.matrix = plan.precision;
  sizes.casts = narrow;
  sizes.element = bytes_of(sizes.wide);
  sizes.gradient = plan.gradient_bytes;
  const bool looks_first = plan.precision == Precision::fp8 && plan.fp8_recipe == Fp8Recipe::current;
  sizes.cast_reads = (looks_first ? 2 : 1) * sizes.element;
  sizes.narrow = plan.narrow_bytes();
  sizes.cast_writes = plan.cast_bytes();
  sizes.blocks = plan.precision == Precision::fp8 && has_blocks(plan.fp8_recipe);
  sizes.eager = plan.execution == ExecutionMode::eager;
  sizes.autocast = plan.casts_parameters();
  sizes.lora = plan.lora;
  if (plan.quantizes_base()) { sizes.dequantized = nf4_bytes() + sizes.element; }
  sizes.accumulated = plan.global_batch > 0 ? 1.0 - 1.0 / plan.micro_batches() : 0;
  return sizes;
}

Kernel gemm(const char* label, Precision precision, double count, double m, double n, double k) {
  Kernel kernel{.kind = Kernel::Kind::gemm, .label = label, .precision = precision};
  kernel.count = count;
  kernel.m = m;
  kernel.n = n;
  kernel.k = k;
  kernel.flops = 2 * count * m * n * k;
  const double out = std::max(2.0, bytes_of(precision));  // narrow products are written as bf16
  kernel.bytes = count * ((m * k + k * n) * bytes_of(precision) + m * n * out);
  return kernel;
}

Kernel memory(const char* label, double bytes) {
  Kernel kernel{.kind = Kernel::Kind::memory, .label = label};
  kernel.bytes = bytes;
  return kernel;
}

void add_memory(const char* label, double forward_bytes, double backward_bytes, PhasedKernels& work) {
  if (forward_bytes > 0) { work.forward.push_back(memory(label, forward_bytes)); }
  if (backward_bytes > 0) { work.backward_input.push_back(memory(label, backward_bytes)); }
}

namespace {

/// Read wide, written narrow: twice, as it is and for the product of the other phase, unless one cast does for both. Of
/// what is gathered each rank casts its own part, before. A whole tensor's is transposed behind that, read once more;
/// one in blocks is cast for the other phase, too, and gathered once more.
Kernel cast(double elements, bool gathered, const WorkSizes& sizes) {
  const double ranks = sizes.tokens / sizes.norm_tokens;
  const double all = sizes.cast_reads + sizes.cast_writes;
  if (!gathered || ranks == 1) { return memory("cast", elements * all); }
  if (sizes.blocks) { return memory("cast", elements * all / ranks); }
  const double transposed = sizes.cast_writes > sizes.narrow ? 2 * sizes.narrow : 0;
  return memory("cast", elements * ((sizes.cast_reads + sizes.narrow) / ranks + transposed));
}

/// The product that gives gradients of weights is added to those of earlier micro-batches: read and written. Under
/// autocast it is written in 16 bits, and what follows adds it.
Kernel weight_gemm(const LinearWork& linear, Precision precision, const WorkSizes& sizes) {
  Kernel kernel = gemm(linear.label, precision, linear.count, linear.out, linear.in, linear.tokens);
  const double written = sizes.autocast ? sizes.element : 2 * sizes.gradient;
  kernel.bytes = linear.count *
                 (linear.tokens * (linear.in + linear.out) * bytes_of(precision) + linear.in * linear.out * written);
  return kernel;
}

/// Weights are kept in fp32, and cast in forward; gradients come in 16 bits, are cast back, and added to those of
/// earlier micro-batches: two read, one written (torch.autocast, torch.autograd's AccumulateGrad).
void add_weight_casts(const LinearWork& linear, const WorkSizes& sizes, PhasedKernels& work) {
  if (!sizes.autocast) { return; }
  constexpr double kWide = 4;  // bytes of fp32
  const double elements = linear.count * linear.in * linear.out;
  const double parameters = linear.biases ? 2 : 1;
  const auto add = [&](Kernels& to, const char* label, double bytes) {
    if (bytes == 0) { return; }
    to.push_back(memory(label, elements * bytes));
    to.back().launches = parameters;
  };
  add(work.forward, "cast of weights", sizes.element + kWide);
  add(work.backward_weight, "sum of gradients", sizes.accumulated * 3 * kWide);
  add(work.backward_weight, "cast of gradients", sizes.element + kWide);
}

/// Whether rows of its matrices are whole 16 bytes; what does not divide evenly among ranks is padded, and so is.
bool is_aligned(const LinearWork& linear, Precision precision) {
  const auto aligned = [&](double side) {
    constexpr double kBytes = 16;
    return side != std::floor(side) || std::fmod(side * bytes_of(precision), kBytes) == 0;
  };
  return aligned(linear.in) && aligned(linear.out);
}

}  // namespace

namespace {

/// Of a linear layer whose weights are not trained: gradients of what comes in alone.
void add_frozen_linear(const LinearWork& linear, const WorkSizes& sizes, PhasedKernels& work) {
  const auto add = [&](Kernels& to, double out, double in) {
    if (sizes.dequantized > 0 && !linear.wide) {
      to.push_back(memory("dequantization", linear.count * linear.in * linear.out * sizes.dequantized));
    }
    to.push_back(gemm(linear.label, sizes.wide, linear.count, linear.tokens, out, in));
    to.back().unaligned = !is_aligned(linear, sizes.wide);
  };
  add(work.forward, linear.out, linear.in);
  add(work.backward_input, linear.in, linear.out);
}

}  // namespace

/// Eager, what the adapter gives is scaled by a kernel of its own, and its gradient (PEFT).
void add_adapter(LoraTarget target, const LinearWork& linear, const WorkSizes& sizes, PhasedKernels& work) {
  if (sizes.lora.rank == 0 || !sizes.lora.targets.has(target)) { return; }
  const double rank = sizes.lora.rank;
  const double rows = linear.count * linear.tokens;
  LinearWork inner = linear;
  LinearWork outer = linear;
  inner.label = outer.label = "adapter";
  inner.out = outer.in = rank;
  for (const LinearWork* each : {&inner, &outer}) {
    const double m = each->tokens;
    work.forward.push_back(gemm(each->label, sizes.wide, each->count, m, each->out, each->in));
    work.backward_input.push_back(gemm(each->label, sizes.wide, each->count, m, each->in, each->out));
    work.backward_weight.push_back(weight_gemm(*each, sizes.wide, sizes));
  }
  if (sizes.eager) {
    add_memory("scaling", 2 * rows * linear.out * sizes.element, 2 * rows * linear.out * sizes.element, work);
  }
  add_memory("sum with adapter", 3 * rows * linear.out * sizes.element, 3 * rows * linear.in * sizes.element, work);
}

void add_linear(const LinearWork& linear, const WorkSizes& sizes, PhasedKernels& work) {
  if (sizes.lora.rank > 0) { return add_frozen_linear(linear, sizes, work); }
  const Precision precision = linear.wide ? sizes.wide : sizes.matrix;
  const double in = linear.count * linear.tokens * linear.in;
  const double out = linear.count * linear.tokens * linear.out;
  if (sizes.casts && !linear.wide) { work.forward.push_back(cast(in, linear.gathers_in, sizes)); }
  add_weight_casts(linear, sizes, work);
  const bool unaligned = !is_aligned(linear, precision);
  const auto add = [&](Kernels& to, Kernel product) {
    product.unaligned = unaligned;
    to.push_back(product);
  };
  add(work.forward, gemm(linear.label, precision, linear.count, linear.tokens, linear.out, linear.in));
  if (sizes.casts && !linear.wide) { work.backward_input.push_back(cast(out, linear.gathers_out, sizes)); }
  add(work.backward_input, gemm(linear.label, precision, linear.count, linear.tokens, linear.in, linear.out));
  add(work.backward_weight, weight_gemm(linear, precision, sizes));
  if (linear.biases) { work.backward_weight.push_back(memory("bias gradients", out * sizes.element)); }
}

void add_norm(const char* label, double elements, const WorkSizes& sizes, PhasedKernels& work) {
  add_operator(label, elements, norm_cost(sizes), work);
}

void add_residual(const Transformer& model, const ParallelPlan& plan, PhasedKernels& work) {
  const WorkSizes sizes = sizes_of(plan);
  const double elements = sizes.norm_tokens * model.hidden;
  const double sum = 3 * elements * sizes.element;
  const double mask = plan.dropout ? elements : 0;
  if (plan.dropout && sizes.eager) { work.forward.push_back(memory("dropout", 2 * elements * sizes.element + mask)); }
  add_memory("residual", sum + (sizes.eager ? 0 : mask), sum, work);
  if (plan.dropout) { add_memory("dropout", 0, elements * (2 * sizes.element + 1), work); }
}

void add_mlp(const Transformer& model, const WorkSizes& sizes, double ffn, double tokens, double count, bool gathers,
             PhasedKernels& work) {
  const double hidden = model.hidden;
  const double halves = model.gated ? 2 : 1;
  const double elements = count * tokens * ffn;
  const LinearWork up{.tokens = tokens, .in = hidden, .out = ffn, .count = count};
  add_linear({.label = "mlp up",
              .tokens = tokens,
              .in = hidden,
              .out = halves * ffn,
              .count = count,
              .biases = model.biases,
              .gathers_in = gathers},
             sizes, work);
  add_adapter(LoraTarget::gate, up, sizes, work);
  add_adapter(LoraTarget::up, up, sizes, work);
  add_operator(kActivation, elements, activation_cost(sizes, model.gated), work);
  add_linear({.label = "mlp down",
              .tokens = tokens,
              .in = ffn,
              .out = hidden,
              .count = count,
              .biases = model.biases,
              .gathers_out = gathers},
             sizes, work);
  add_adapter(LoraTarget::down, {.tokens = tokens, .in = ffn, .out = hidden, .count = count}, sizes, work);
}

namespace {

/// Elements of the matrices of a layer that one token is multiplied with; no router.
double matrix_elements(const Transformer& model, std::uint32_t layer) {
  const Attention& attention = model.attention;
  const double hidden = model.hidden;
  const HeadSizes sizes = head_sizes(attention);
  double sum = sizes.values * hidden;
  if (attention.kind == Attention::Kind::latent) {
    const double rank = attention.query_rank;
    sum += rank > 0 ? rank * (hidden + sizes.queries) : hidden * sizes.queries;
    sum += hidden * (static_cast<double>(attention.kv_rank) + attention.rotary_size);
    sum += attention.kv_rank * static_cast<double>(attention.heads) * (attention.head_size + attention.value_size);
  } else {
    sum += hidden * (sizes.queries + 2.0 * attention.kv_heads * attention.head_size);
  }
  const bool experts = has_experts(model, layer);
  const double ffn =
      experts ? static_cast<double>(model.experts->chosen) * model.experts->ffn + model.experts->shared_ffn : model.ffn;
  return sum + (model.gated ? 3 : 2) * hidden * ffn;
}

double layer_flops(const Transformer& model, double sequence, std::uint32_t layer) {
  const double window = window_of(model, layer);
  const double attended = window > 0 ? std::min(window, sequence) : sequence;
  const HeadSizes sizes = head_sizes(model.attention);
  return 2 * sequence * (matrix_elements(model, layer) + attended * (sizes.queries + sizes.values));
}

}  // namespace

double model_flops(const Transformer& model, std::uint32_t sequence) {
  const double hidden = model.hidden;
  double sum = 0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) { sum += layer_flops(model, sequence, layer); }
  const double further = model.next_token_layers;
  sum += further * (layer_flops(model, sequence, model.layers) + 4.0 * sequence * hidden * hidden);
  sum += (1 + further) * 2.0 * sequence * hidden * model.vocabulary;
  return 3 * sum;
}

namespace {

/// Of all adapters beside a layer, of those experts that a token chooses: elements that one is multiplied with.
double adapter_elements(const Transformer& model, const Lora& lora, std::uint32_t layer) {
  double sum = 0;
  for (const LayerMatrix& matrix : layer_matrices(model, ParallelPlan{}, layer)) {
    if (!matrix.target || !lora.targets.has(*matrix.target)) { continue; }
    const double count = matrix.experts ? model.experts->chosen : matrix.count;
    sum += count * lora.rank * (matrix.in + matrix.out);
  }
  return sum;
}

}  // namespace

double model_flops(const TrainedModel& model, const ParallelPlan& plan) {
  const double all = model_flops(model, plan.sequence);
  if (!plan.freezes() || !model.transformer) { return all; }
  const Transformer& transformer = *model.transformer;
  double frozen = static_cast<double>(transformer.hidden) * transformer.vocabulary;
  double adapters = 0;
  for (std::uint32_t layer = 0; layer < transformer.layers; ++layer) {
    frozen += matrix_elements(transformer, layer);
    adapters += adapter_elements(transformer, plan.lora, layer);
  }
  return all + 2.0 * plan.sequence * (3 * adapters - frozen);
}

double model_flops(const TrainedModel& model, std::uint32_t sequence) {
  if (model.transformer) { return model_flops(*model.transformer, sequence); }
  double sum = 0;
  for (const PlainLayer& layer : model.layers) {
    sum += layer.forward_flops + (layer.backward_flops > 0 ? layer.backward_flops : 2 * layer.forward_flops);
  }
  return sum;
}

}  // namespace athanor
