#include "models/training/layer_work.hpp"

#include <algorithm>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/models/training/small_models.hpp"

using namespace athanor;

namespace {

/// All parts of a layer as one.
PhasedKernels whole(const LayerWork& work) {
  PhasedKernels sum;
  const auto append = [](Kernels& to, const Kernels& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (const PhasedKernels* part :
       {&work.before_attention, &work.attention, &work.before_mlp, &work.mlp, &work.shared, &work.after_mlp}) {
    append(sum.forward, part->forward);
    append(sum.backward_input, part->backward_input);
    append(sum.backward_weight, part->backward_weight);
    append(sum.recompute, part->recompute);
  }
  return sum;
}

PhasedKernels layer(const Transformer& model, const ParallelPlan& plan, std::uint32_t number = 0) {
  REQUIRE(contradictions(model, plan).empty());
  return whole(layer_work(model, plan, number));
}

double flops_of(const Kernels& kernels) {
  double sum = 0;
  for (const Kernel& kernel : kernels) { sum += kernel.flops; }
  return sum;
}

double flops_of(const PhasedKernels& work) {
  return flops_of(work.forward) + flops_of(work.backward_input) + flops_of(work.backward_weight) +
         flops_of(work.recompute);
}

double bytes_of(const Kernels& kernels) {
  double sum = 0;
  for (const Kernel& kernel : kernels) { sum += kernel.bytes; }
  return sum;
}

Kernels labelled(const Kernels& kernels, std::string_view label) {
  Kernels found;
  std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(found),
               [&](const Kernel& kernel) { return kernel.label == label; });
  return found;
}

bool near(double a, double b) { return a == doctest::Approx(b).epsilon(1e-12); }

/// As before FlashAttention, on `tensor` ranks.
ParallelPlan unfused(std::uint32_t tensor, std::uint32_t sequence, std::uint32_t micro_batch) {
  ParallelPlan plan;
  plan.tensor = tensor;
  plan.sequence = sequence;
  plan.micro_batch = micro_batch;
  plan.fused_attention = false;
  return plan;
}

}  // namespace

TEST_CASE("a layer of GPT takes sbh (24 h + 4 s) forward, sbh (24 h + 8 s) for inputs and 24 s b h^2 for weights") {
  // Qi et al., Zero Bubble Pipeline Parallelism, table 1; Narayanan et al., SC 2021, appendix.
  for (const std::uint32_t tensor : {1U, 2U, 4U}) {
    for (const std::uint32_t sequence : {1U, 256U, 2048U}) {
      for (const std::uint32_t batch : {1U, 3U}) {
        CAPTURE(tensor);
        CAPTURE(sequence);
        CAPTURE(batch);
        const double h = 512;
        const double s = sequence;
        const PhasedKernels work = layer(gpt(2, 512, 8), unfused(tensor, sequence, batch));
        const double part = s * batch * h / tensor;
        CHECK(near(flops_of(work.forward), part * (24 * h + 4 * s)));
        CHECK(near(flops_of(work.backward_input), part * (24 * h + 8 * s)));
        CHECK(near(flops_of(work.backward_weight), part * 24 * h));
      }
    }
  }
}

TEST_CASE("a step of GPT that recomputes all takes 96 B s l h^2 (1 + s / 6h + V / 16 l h)") {
  const Transformer model = gpt(6, 768, 12);
  ParallelPlan plan = unfused(1, 1024, 2);
  plan.recompute = Recompute::full;
  const double h = 768;
  const double s = 1024;
  const double l = 6;
  const double vocabulary = model.vocabulary;
  const double all = l * flops_of(layer(model, plan)) + flops_of(output_work(model, plan));
  CHECK(near(all, 96 * 2 * s * l * h * h * (1 + s / (6 * h) + vocabulary / (16 * l * h))));
  CHECK(near(model_flops(model, 1024), 72 * s * l * h * h * (1 + s / (6 * h) + vocabulary / (12 * l * h))));
}

TEST_CASE("without recomputing, kernels of unfused attention do what publications count") {
  Transformer model = llama(5, 512, 8);
  model.attention.kv_heads = 2;
  for (const bool experts : {false, true}) {
    if (experts) { model = with_experts(model, 8, 2, 128, 2); }
    const ParallelPlan plan = unfused(1, 128, 1);
    double all = flops_of(output_work(model, plan));
    double routers = 0;
    for (std::uint32_t number = 0; number < model.layers; ++number) {
      const PhasedKernels work = layer(model, plan, number);
      all += flops_of(work);
      routers += 3 * flops_of(labelled(work.forward, "router"));
    }
    CHECK(near(all - routers, model_flops(model, 128)));
  }
}

TEST_CASE("beside attention a token takes 6 operations for each parameter of a matrix") {
  Transformer model = llama(3, 512, 8);
  model.attention.kv_heads = 2;
  const double matrices = parameters(model) - embedding_parameters(model) - (2 * 3 + 1) * 512;
  const double pairs = 3 * 4 * 512.0 * 64;  // per layer and token, forward
  CHECK(near(model_flops(model, 64), 64 * (6 * matrices + 3 * pairs)));
}

TEST_CASE("fused attention computes what the mask lets through, and backward five products for two") {
  for (const std::uint32_t sequence : {1U, 7U, 64U}) {
    for (const std::uint32_t window : {0U, 1U, 5U, 64U, 100U}) {
      CAPTURE(sequence);
      CAPTURE(window);
      Transformer model = gpt(2, 512, 8);
      model.attention.window = window;
      ParallelPlan plan;
      plan.sequence = sequence;
      double pairs = 0;
      for (std::uint32_t token = 1; token <= sequence; ++token) {
        pairs += window == 0 ? token : std::min(token, window);
      }
      const PhasedKernels work = layer(model, plan);
      const double forward = flops_of(labelled(work.forward, "attention"));
      CHECK(near(forward, 4 * pairs * 512));
      CHECK(near(flops_of(labelled(work.backward_input, "attention")), 2.5 * forward));
    }
  }
}

TEST_CASE("context ranks share all work evenly but the norms' parameters") {
  const Transformer model = llama(2, 512, 8);
  ParallelPlan plan;
  plan.sequence = 4096;
  const PhasedKernels alone = layer(model, plan);
  for (const std::uint32_t context : {2U, 8U}) {
    plan.context = context;
    const PhasedKernels part = layer(model, plan);
    CHECK(near(context * flops_of(part), flops_of(alone)));
    CHECK(near(context * bytes_of(labelled(part.forward, "norm")), bytes_of(labelled(alone.forward, "norm"))));
  }
}

TEST_CASE("tensor ranks share norms and residuals with sequence parallelism alone") {
  const Transformer model = llama(2, 512, 8);
  ParallelPlan plan;
  plan.dropout = true;
  const PhasedKernels alone = layer(model, plan);
  plan.tensor = 4;
  const PhasedKernels repeated = layer(model, plan);
  plan.sequence_parallel = true;
  const PhasedKernels shared = layer(model, plan);
  for (const char* label : {"norm", "residual"}) {
    const double bytes = bytes_of(labelled(alone.forward, label));
    CHECK(bytes > 0);
    CHECK(bytes_of(labelled(repeated.forward, label)) == bytes);
    CHECK(bytes_of(labelled(shared.forward, label)) == bytes / 4);
  }
  CHECK(near(4 * flops_of(shared), flops_of(alone)));
  CHECK(bytes_of(labelled(shared.forward, "activation")) == bytes_of(labelled(alone.forward, "activation")) / 4);
  // Norms of 2 h read and write, in 2 bytes each; dropout writes a byte beside.
  CHECK(bytes_of(labelled(alone.forward, "norm")) == 2 * 4 * 2048.0 * 512);
  CHECK(bytes_of(labelled(alone.forward, "residual")) == 2 * (6 + 1) * 2048.0 * 512);
}

TEST_CASE("heads of keys that are fewer than tensor ranks are computed by several") {
  Transformer model = llama(2, 512, 8);
  model.attention.kv_heads = 2;
  ParallelPlan plan;
  plan.tensor = 8;
  const Kernels qkv = labelled(layer(model, plan).forward, "qkv");
  REQUIRE(qkv.size() == 1);
  CHECK(qkv[0].n == 64 + 2 * 64);
}

TEST_CASE("the ranks of experts together compute each token's chosen experts once") {
  Transformer model = with_experts(llama(2, 512, 8), 8, 2, 256, 0);
  model.experts->shared_ffn = 128;
  const double tokens = 2048;
  const double once = tokens * 2 * 3 * 2 * 512 * 256;
  struct Spread {
    std::uint32_t tensor, expert, expert_tensor;
    bool sequence_parallel;
  };
  for (const Spread& spread : {Spread{1, 1, 1, false}, Spread{1, 8, 1, false}, Spread{2, 4, 1, true},
                               Spread{4, 2, 4, true}, Spread{4, 1, 4, false}}) {
    CAPTURE(spread.tensor);
    CAPTURE(spread.expert);
    ParallelPlan plan;
    plan.data = 8;
    plan.tensor = spread.tensor;
    plan.expert = spread.expert;
    plan.expert_tensor = spread.expert_tensor;
    plan.sequence_parallel = spread.sequence_parallel;
    REQUIRE(contradictions(model, plan).empty());
    const LayerWork work = layer_work(model, plan, 0);
    CHECK(near(flops_of(work.mlp.forward) * spread.tensor, once));  // of one data rank's tokens
    CHECK(near(flops_of(work.mlp.backward_weight) * spread.tensor, once));
    CHECK(near(flops_of(work.shared.forward) * spread.tensor, tokens * 3 * 2 * 512 * 128));
    const Kernels up = labelled(work.mlp.forward, "mlp up");
    REQUIRE(up.size() == 1);
    CHECK(up[0].count == 8.0 / spread.expert);
    CHECK(up[0].n == 2 * 256.0 / spread.expert_tensor);
  }
}

TEST_CASE("latent attention multiplies by its matrices, and scores have the rotary part") {
  Transformer model = llama(2, 512, 8);
  model.attention = {.kind = Attention::Kind::latent,
                     .heads = 8,
                     .head_size = 64,
                     .value_size = 32,
                     .rotary_size = 16,
                     .query_rank = 128,
                     .kv_rank = 96};
  ParallelPlan plan;
  plan.sequence = 100;
  const PhasedKernels work = layer(model, plan);
  const LayerParameters split = layer_parameters(model, 0);
  const double norms = 128 + 96 + 2 * 512;
  const double attention = flops_of(labelled(work.forward, "attention"));
  CHECK(near(attention, 2 * (100 * 101 / 2) * 8.0 * (64 + 16 + 32)));
  CHECK(near(flops_of(work.forward) - attention, 2 * 100 * (split.total() - norms)));
  CHECK(near(flops_of(labelled(work.backward_input, "attention")), 2 * 5050 * 8.0 * (3 * 80 + 2 * 32)));
}

TEST_CASE("recomputing does all of forward once more, or attention without its projections") {
  const Transformer model = gpt(2, 512, 8);
  for (const bool fused : {false, true}) {
    ParallelPlan plan;
    plan.fused_attention = fused;
    CHECK(layer(model, plan).recompute.empty());
    plan.recompute = Recompute::full;
    const PhasedKernels full = layer(model, plan);
    CHECK(flops_of(full.recompute) == flops_of(full.forward));
    CHECK(bytes_of(full.recompute) == bytes_of(full.forward));
    plan.recompute = Recompute::selective;
    const double s = plan.sequence;
    CHECK(near(flops_of(layer(model, plan).recompute), fused ? 2 * s * (s + 1) * 512 : 4 * s * s * 512));
  }
}

TEST_CASE("a module that is computed again does its part of forward once more") {
  Transformer model = with_experts(llama(2, 512, 8), 4, 2, 256, 1);
  model.experts->shared_ffn = 128;
  ParallelPlan plan;
  plan.recompute = Recompute::selective;
  const double s = plan.sequence;
  const auto again = [&](RecomputeModule module, std::uint32_t of_layer) {
    plan.recompute_modules = RecomputeModules({module});
    const LayerWork work = layer_work(model, plan, of_layer);
    Kernels all;
    for (const PhasedKernels* part :
         {&work.before_attention, &work.attention, &work.before_mlp, &work.mlp, &work.shared, &work.after_mlp}) {
      all.insert(all.end(), part->recompute.begin(), part->recompute.end());
    }
    return all;
  };
  using Module = RecomputeModule;
  CHECK(near(flops_of(again(Module::core_attn, 0)), 2 * s * (s + 1) * 512));
  CHECK(flops_of(again(Module::layernorm, 0)) == 0);
  CHECK(near(bytes_of(again(Module::layernorm, 0)), 2 * 2 * 2 * s * 512));  // two norms read and write
  CHECK(near(flops_of(again(Module::mlp, 0)), 2 * s * 3 * 512 * 1536));
  CHECK(again(Module::mlp, 1).empty());
  CHECK(again(Module::moe, 0).empty());
  CHECK(near(flops_of(again(Module::moe, 1)), 2 * s * 512 * (3 * (2 * 256 + 128) + 4)));  // with the router
  CHECK(near(flops_of(again(Module::shared_experts, 1)), 2 * s * 512 * 3 * 128));
  CHECK(flops_of(again(Module::moe_act, 1)) == 0);
  CHECK(near(bytes_of(again(Module::moe_act, 1)), 3 * 2 * 2 * s * 256));  // of two experts: halves in, product out
  model.attention = {.kind = Attention::Kind::latent,
                     .heads = 8,
                     .head_size = 64,
                     .value_size = 32,
                     .rotary_size = 16,
                     .query_rank = 128,
                     .kv_rank = 96};
  CHECK(near(flops_of(again(Module::mla_up_proj, 0)), 2 * s * 8 * (128 * 80 + 96 * (64 + 32))));
}

TEST_CASE("fp8 is for linear layers of the stack alone, and casts cost memory") {
  const Transformer model = with_experts(llama(2, 512, 8), 4, 2, 256, 0);
  ParallelPlan plan;
  const PhasedKernels wide = layer(model, plan);
  plan.precision = Precision::fp8;
  const PhasedKernels narrow = layer(model, plan);
  CHECK(flops_of(narrow) == flops_of(wide));
  for (const Kernel& kernel : narrow.forward) {
    const std::string_view label = kernel.label;
    const bool stays = label == "attention" || label == "router" || kernel.kind == Kernel::Kind::memory;
    CAPTURE(label);
    CHECK(kernel.precision == (stays ? Precision::bf16 : Precision::fp8));
  }
  CHECK(labelled(wide.forward, "cast").empty());
  // qkv and projection have 512 inputs for each of 2048 tokens, experts 512 and 256 for each of 4096.
  CHECK(bytes_of(labelled(narrow.forward, "cast")) == 4 * (2048.0 * (512 + 512) + 4096.0 * (512 + 256)));
  CHECK(output_work(model, plan).forward[0].precision == Precision::bf16);
}

TEST_CASE("with sequence parallelism each rank casts its part of what is gathered, and transposes all of it") {
  const Transformer model = llama(1, 512, 8);
  ParallelPlan plan;
  plan.precision = Precision::fp8;
  plan.tensor = 4;
  plan.sequence_parallel = true;
  const PhasedKernels work = layer(model, plan);
  const double gathered =
      2048.0 * 512 * ((2 + 1) / 4.0 + 2);  // of the two inputs of a block, and gradients of its output
  const double own = 4 * 2048.0 / 4;       // per element of a token that is split
  CHECK(bytes_of(labelled(work.forward, "cast")) == 2 * gathered + own * (512 + model.ffn));
  const double queries = 512 + 2.0 * model.attention.kv_heads * model.attention.head_size;
  CHECK(bytes_of(labelled(work.backward_input, "cast")) == 2 * gathered + own * (queries + 2.0 * model.ffn));
}

TEST_CASE("a fused loss reads logits once, and overwrites them in backward") {
  const Transformer model = llama(1, 512, 8);
  ParallelPlan plan;
  const double logits = 2048.0 * model.vocabulary;
  CHECK(bytes_of(labelled(output_work(model, plan).forward, "loss")) == 22 * logits);
  plan.fused_loss = true;
  CHECK(bytes_of(labelled(output_work(model, plan).forward, "loss")) == 2 * logits);
  CHECK(bytes_of(labelled(output_work(model, plan).backward_input, "loss")) == 4 * logits);
}

TEST_CASE("matrices' gradients are added up in the precision of gradients") {
  ParallelPlan plan;
  for (const std::uint32_t bytes : {2U, 4U}) {
    plan.gradient_bytes = bytes;
    const Kernels projection = labelled(layer(gpt(1, 512, 8), plan).backward_weight, "output projection");
    REQUIRE(projection.size() == 1);
    CHECK(projection[0].bytes == 2 * 2048.0 * (512 + 512) + 2.0 * bytes * 512 * 512);
  }
}

TEST_CASE("a layer of the next token is a layer and a projection of two vectors") {
  const Transformer model = llama(3, 512, 8);
  const ParallelPlan plan;
  const double more = flops_of(whole(next_token_work(model, plan)).forward) - flops_of(layer(model, plan).forward);
  CHECK(near(more, 2 * 2048.0 * 2 * 512 * 512));
}

TEST_CASE("a plain layer does twice as much backward unless it says otherwise") {
  PlainLayer layer{.name = "conv", .parameters = 100, .forward_flops = 1000, .activations = 40, .output = 20};
  ParallelPlan plan;
  plan.micro_batch = 32;
  const PhasedKernels work = plain_layer_work(layer, plan);
  CHECK(flops_of(work.forward) == 32'000);
  CHECK(flops_of(work.backward_input) + flops_of(work.backward_weight) == 64'000);
  layer.backward_flops = 1500;
  CHECK(flops_of(plain_layer_work(layer, plan)) == 32'000 + 48'000);
  CHECK(model_flops(TrainedModel{.name = "", .transformer = {}, .layers = {layer, layer}}, 1) == 5000);
}

TEST_CASE("an optimizer step touches 4 + 24 + 2 bytes of each updated parameter, and clips its gradient") {
  ParallelPlan plan;
  CHECK(bytes_of(optimizer_work(1000, 8000, plan)) == 1000 * (4 + 24 + 2) + 4 * 1000 + 4 * 8000);
  plan.precision = Precision::fp8;
  CHECK(bytes_of(optimizer_work(1000, 8000, plan)) == 1000 * (4 + 24 + 2) + 4 * 1000 + 4 * 8000 + 4 * 8000);
  plan.fp8_parameters = true;  // are written as they are, and transposed
  CHECK(bytes_of(optimizer_work(1000, 8000, plan)) == 1000 * (4 + 24 + 1) + 4 * 1000 + 4 * 8000 + 2 * 8000);
  plan.precision = Precision::fp32;
  CHECK(bytes_of(optimizer_work(1000, 1000, plan)) == 1000 * (4 + 24) + 4 * 1000 + 4 * 1000);
}

TEST_CASE("an optimizer touches the bytes of its states, and the parameter that holds a part of its copy") {
  ParallelPlan plan;
  plan.gradient_bytes = 2;
  const auto bytes = [&](std::uint32_t master, std::uint32_t moment) {
    plan.master_bytes = master;
    plan.moment_bytes = moment;
    return bytes_of(optimizer_work(1000, 0, plan)) / 1000 - 2;  // the gradient's norm apart
  };
  CHECK(bytes(4, 4) == 2 + 2 * (4 + 4 + 4) + 2);
  CHECK(bytes(2, 4) == 2 + 2 * (2 + 4 + 4) + 2 * 2);
  CHECK(bytes(0, 2) == 2 + 2 * (2 + 2) + 2 * 2);
}
