// Adapters beside a frozen model: what is trained, computed, kept and sent, in closed form and beside what their
// authors say.
#include "models/training/lora.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "models/training/adapters.hpp"
#include "models/training/layer_work.hpp"
#include "models/training/memory.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;

namespace {

const std::vector<LoraTarget> kAll = all_lora_targets();

StageLoad all_of(const Transformer& model) {
  StageLoad load;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) { load.layers.push_back(layer); }
  load.embedding = load.output = true;
  return load;
}

ParallelPlan plan_with(std::uint32_t rank, const std::vector<LoraTarget>& targets,
                       BasePrecision base = BasePrecision::wide) {
  ParallelPlan plan;
  plan.lora = {.rank = rank, .targets = LoraTargets(targets), .base = base};
  return plan;
}

double flops_of(const Kernels& kernels) {
  double sum = 0;
  for (const Kernel& kernel : kernels) { sum += kernel.flops; }
  return sum;
}

/// Of one phase of a layer.
double flops_of(const LayerWork& work, Kernels PhasedKernels::*phase) {
  double sum = 0;
  for (const PhasedKernels* part :
       {&work.before_attention, &work.attention, &work.before_mlp, &work.mlp, &work.shared, &work.after_mlp}) {
    sum += flops_of(part->*phase);
  }
  return sum;
}

double bytes_of(const LayerWork& work, Kernels PhasedKernels::*phase, const std::string& label) {
  double sum = 0;
  for (const PhasedKernels* part : {&work.attention, &work.mlp}) {
    for (const Kernel& kernel : part->*phase) { sum += kernel.label == label ? kernel.bytes : 0; }
  }
  return sum;
}

bool near(double a, double b) { return a == doctest::Approx(b).epsilon(1e-12); }

Transformer gpt3() {
  Transformer model = gpt(96, 12288, 96);
  model.vocabulary = 50257;
  return model;
}

Transformer llama_65b() {
  Transformer model = llama(80, 8192, 64);
  model.ffn = 22016;
  model.vocabulary = 32000;
  return model;
}

}  // namespace

TEST_CASE("an adapter has rank x (in + out) parameters, of what a GPU holds of the matrix") {
  const Transformer model = llama(1, 512, 8);
  for (const std::uint32_t tensor : {1U, 2U, 4U}) {
    CAPTURE(tensor);
    const double t = tensor;
    const auto trained = [&](const std::vector<LoraTarget>& targets) {
      ParallelPlan plan = plan_with(4, targets);
      plan.tensor = tensor;
      return trained_share(model, plan, 0).dense;
    };
    CHECK(trained({LoraTarget::query}) == 4 * (512 + 512 / t));
    CHECK(trained({LoraTarget::output}) == 4 * (512 / t + 512));
    CHECK(trained({LoraTarget::gate}) == 4 * (512 + 1536 / t));
    CHECK(trained({LoraTarget::down}) == 4 * (1536 / t + 512));
    CHECK(trained(kAll) == 4 * (4 * (512 + 512 / t) + 3 * (512 + 1536 / t)));
  }
  ParallelPlan plan = plan_with(4, kAll);
  CHECK(trained_mlp_share(model, plan, 0) == 4 * 3 * (512 + 1536));
  const Transformer mixture = with_experts(model, 8, 2, 256, 0);
  CHECK(trained_share(mixture, plan, 0).experts == 8 * 4 * 3 * (512 + 256));
  plan.expert = 4;
  CHECK(trained_share(mixture, plan, 0).experts == 2 * 4 * 3 * (512 + 256));
  CHECK(trained_share(mixture, plan, 0).dense == 4 * 4 * (512 + 512));
}

TEST_CASE("products of a frozen layer run forward and for gradients of inputs, those of adapters three times") {
  Transformer model = llama(1, 512, 8);
  const double tokens = 2048;
  const double r = 16;
  const LayerWork full = layer_work(model, ParallelPlan{}, 0);
  const LayerWork lora = layer_work(model, plan_with(16, kAll), 0);
  const double adapters = 2 * tokens * r * (4 * 1024 + 3 * 2048);
  CHECK(near(flops_of(lora, &PhasedKernels::forward), flops_of(full, &PhasedKernels::forward) + adapters));
  CHECK(
      near(flops_of(lora, &PhasedKernels::backward_input), flops_of(full, &PhasedKernels::backward_input) + adapters));
  CHECK(near(flops_of(lora, &PhasedKernels::backward_weight), adapters));
  CHECK(embedding_work(model, plan_with(16, kAll)).backward_weight.empty());
  CHECK(output_work(model, plan_with(16, kAll)).backward_weight.empty());
}

TEST_CASE("model FLOPs are 2/3 of frozen matrices' and all of adapters' and attention's") {
  const Transformer model = llama(3, 512, 8);
  const TrainedModel trained{.name = "", .transformer = model, .layers = {}};
  ParallelPlan plan;
  const double all = model_flops(trained, plan.sequence);
  CHECK(model_flops(trained, plan) == all);
  const double matrices = 3 * (4.0 * 512 * 512 + 3 * 512 * 1536) + 512.0 * 51200;
  plan.lora = {.rank = 8, .targets = LoraTargets(kAll)};
  const double adapters = 3 * 8 * (4 * 1024 + 3 * 2048);
  CHECK(near(model_flops(trained, plan), all + 2 * 2048.0 * (3 * adapters - matrices)));
}

TEST_CASE("a frozen layer of GPT keeps sbh (20 + 5 a s / h) of sbh (34 + 5 a s / h), and adapters what they read") {
  // Korthikanti et al. 2022 without inputs of products: 2 of queries, keys and values, 2 of the output projection, 2
  // and 8 of the MLP. Fused attention needs its own output once more.
  const Transformer model = gpt(1, 1024, 16);
  const double whole = 2048.0 * 1024;  // s b h
  const double scores = 5.0 * 16 * 2048 / 1024;
  const double vectors = 2 * 2048.0 * 8;  // 2 s b r
  const auto kept = [&](const std::vector<LoraTarget>& targets) {
    ParallelPlan plan = plan_with(8, targets);
    plan.fused_attention = false;
    plan.dropout = true;
    return layer_activations(model, plan, 0);
  };
  CHECK(near(kept({}), whole * (20 + scores)));
  CHECK(near(kept({LoraTarget::query, LoraTarget::value}), whole * (22 + scores) + 2 * vectors));
  CHECK(near(kept({LoraTarget::output}), whole * (22 + scores) + vectors));
  CHECK(near(kept({LoraTarget::up}), whole * (22 + scores) + vectors));
  CHECK(near(kept({LoraTarget::down}), whole * (28 + scores) + vectors));
}

TEST_CASE("of fused attention a frozen layer of Llama keeps 2 + 3 + 1 + 6 of 17 tensors") {
  // Inputs of two norms, queries, keys and values, what attention gives, and gate and up of 3 h each.
  const Transformer model = llama(1, 1024, 16);
  const double sums = 4.0 * 2048 * 16;
  const double tensor = 2 * 2048.0 * 1024;
  CHECK(near(layer_activations(model, ParallelPlan{}, 0), 17 * tensor + sums));
  CHECK(near(layer_activations(model, plan_with(8, {}), 0), 12 * tensor + sums));
  CHECK(near(layer_activations(model, plan_with(8, kAll), 0), 17 * tensor + sums + 7 * 2 * 2048.0 * 8));
  ParallelPlan plan = plan_with(8, kAll);
  plan.recompute = Recompute::full;
  CHECK(near(layer_activations(model, plan, 0), tensor));
}

TEST_CASE("the base has 2 bytes a number and no more, adapters 2 + 4 + 12, shared out as the plan has it") {
  const Transformer model = llama(2, 512, 8);
  const double base = 2 * parameters(model);
  ParallelPlan plan = plan_with(4, {LoraTarget::query, LoraTarget::value});
  const double adapters = 2 * 2 * 4 * 1024;
  plan.data = 4;
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
    plan.sharding = sharding;
    const auto among = [&](Sharding from) { return sharding >= from ? 4.0 : 1.0; };
    const MemoryUse use = memory_of(model, plan, all_of(model));
    CHECK(near(use.parameters, (base + 2 * adapters) / among(Sharding::parameters)));
    CHECK(near(use.gradients, 4 * adapters / among(Sharding::gradients)));
    CHECK(near(use.optimizer, 12 * adapters / among(Sharding::optimizer)));
  }
}

TEST_CASE("in nf4 a number has 4.127 bits, and a matrix becomes wide before each of its products") {
  CHECK(8 * nf4_bytes() == 4 + 8.0 / 64 + 32.0 / 16384);
  CHECK(std::abs(8 * nf4_bytes() - 4 - 0.127) < 0.0005);  // QLoRA, section 3
  const Transformer model = llama(2, 512, 8);
  const double matrices = 4.0 * 512 * 512 + 3 * 512 * 1536;
  ParallelPlan plan = plan_with(4, {}, BasePrecision::nf4);
  const MemoryUse use = memory_of(model, plan, all_of(model));
  CHECK(near(use.parameters, 2 * parameters(model) - 2 * matrices * (2 - nf4_bytes())));
  const ParallelPlan wide = plan_with(4, {});
  CHECK(near(use.buffers, memory_of(model, wide, all_of(model)).buffers + 2 * 512 * 1536));
  const LayerWork work = layer_work(model, plan, 0);
  CHECK(near(bytes_of(work, &PhasedKernels::forward, "dequantization"), matrices * (nf4_bytes() + 2)));
  CHECK(near(bytes_of(work, &PhasedKernels::backward_input, "dequantization"), matrices * (nf4_bytes() + 2)));
  CHECK(bytes_of(layer_work(model, wide, 0), &PhasedKernels::forward, "dequantization") == 0);
}

TEST_CASE("GPT-3 with adapters of queries and values: 4.7 million parameters by rank, 350 GB, 35 MB of checkpoint") {
  // Hu et al. 2021, table 4 (ranks 1 and 8) and section 4.2 (rank 4: 350 GB of memory, a checkpoint of 35 MB).
  const Transformer model = gpt3();
  const auto trained = [&](std::uint32_t rank) {
    const ParallelPlan plan = plan_with(rank, {LoraTarget::query, LoraTarget::value});
    return 96 * trained_share(model, plan, 0).dense;
  };
  CHECK(std::abs(trained(1) / 4.7e6 - 1) < 0.005);
  CHECK(std::abs(trained(8) / 37.7e6 - 1) < 0.005);
  CHECK(2 * trained(4) / 35e6 - 1 == doctest::Approx(0.0785).epsilon(0.01));
  ParallelPlan plan = plan_with(4, {LoraTarget::query, LoraTarget::value});
  plan.recompute = Recompute::full;
  const MemoryUse use = memory_of(model, plan, all_of(model));
  CHECK(std::abs((use.parameters + use.gradients + use.optimizer) / 350e9 - 1) < 0.005);
}

TEST_CASE("LLaMA 65B: 780 GB when all is trained, less than 48 GB by QLoRA") {
  // Dettmers et al. 2023: 16-bit weights and gradients, Adam in fp32; adapters of rank 64 beside all linear layers,
  // sequences of 512 tokens with gradient checkpointing.
  const Transformer model = llama_65b();
  ParallelPlan plan;
  plan.gradient_bytes = 2;
  plan.master_bytes = 0;
  plan.sequence = 512;
  const MemoryUse full = memory_of(model, plan, all_of(model));
  CHECK(std::abs((full.parameters + full.gradients + full.optimizer) / 780e9 - 1) < 0.005);
  plan.lora = {.rank = 64, .targets = LoraTargets(kAll), .base = BasePrecision::nf4};
  plan.recompute = Recompute::full;
  const double total = memory_of(model, plan, all_of(model)).total();
  CHECK(total < 48e9);
  CHECK(total > 43e9);
}

TEST_CASE("adapters of what a model has not, of full rank, in 8 bits or under autocast are refused") {
  const auto fault = [](const Transformer& model, const ParallelPlan& plan) {
    const std::vector<std::string> faults = contradictions(model, plan);
    return faults.empty() ? "" : faults.front();
  };
  CHECK(fault(llama(1, 512, 8), plan_with(8, kAll)).empty());
  CHECK(fault(gpt(1, 512, 8), plan_with(8, kAll)).find("\"gate\"") != std::string::npos);
  CHECK(fault(gpt(1, 512, 8), plan_with(512, {LoraTarget::up})).find("rank") != std::string::npos);
  CHECK(fault(gpt(1, 512, 8), plan_with(511, {LoraTarget::up})).empty());
  ParallelPlan plan = plan_with(8, {LoraTarget::up});
  plan.autocast = true;
  CHECK(fault(gpt(1, 512, 8), plan).find("autocast") != std::string::npos);
  plan = plan_with(8, {LoraTarget::up});
  plan.precision = Precision::fp8;
  CHECK(fault(gpt(1, 512, 8), plan).find("fp8") != std::string::npos);
  Transformer model = gpt(1, 512, 8);
  model.next_token_layers = 1;
  CHECK(fault(model, plan_with(8, {LoraTarget::up})).find("next_token_layers") != std::string::npos);
}

TEST_CASE("one process for several GPUs holds the whole base on each, and gradients of adapters alone") {
  const Transformer model = llama(2, 512, 8);
  ParallelPlan plan = plan_with(4, {LoraTarget::query, LoraTarget::value});
  plan.single_process = true;
  plan.data = 4;
  plan.global_batch = 4;
  const double adapters = 2 * 2 * 4 * 1024;
  const MemoryUse use = memory_of(model, plan, all_of(model));
  CHECK(near(use.parameters, 2 * parameters(model) + 2 * adapters));
  CHECK(near(use.optimizer, 12 * adapters));
  CHECK(use.gradients <= 3 * 4 * adapters);
}
