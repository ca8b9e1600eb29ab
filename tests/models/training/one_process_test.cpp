#include "models/training/one_process.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "models/training/memory.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;

namespace {

bool near(double a, double b) { return a == doctest::Approx(b).epsilon(1e-12); }

StageLoad all_of(const Transformer& model) {
  StageLoad load;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) { load.layers.push_back(layer); }
  load.embedding = load.output = true;
  return load;
}

/// In bf16 with gradients of 2 bytes.
ParallelPlan one_process(std::uint32_t gpus, std::uint32_t micro_batch, std::uint32_t sequence) {
  ParallelPlan plan;
  plan.single_process = true;
  plan.data = gpus;
  plan.micro_batch = micro_batch;
  plan.global_batch = gpus * micro_batch;
  plan.sequence = sequence;
  plan.gradient_bytes = 2;
  return plan;
}

TrainedModel of(const Transformer& model) { return {.name = "", .transformer = model, .layers = {}}; }

/// Two layers that keep `first` and 10 elements of a sample, the second of which puts out 30; of 1000 and 4000
/// parameters.
TrainedModel two_layers(double first) {
  TrainedModel model;
  model.layers = {{.name = "a", .parameters = 1000, .forward_flops = 1, .activations = first, .output = 20},
                  {.name = "b", .parameters = 4000, .forward_flops = 1, .activations = 10, .output = 30}};
  model.input = 100;
  return model;
}

}  // namespace

TEST_CASE("the first GPU of a process holds the logits of all, and what their loss makes; the others their own") {
  const Transformer model = llama(2, 256, 4);
  ParallelPlan plan = one_process(4, 2, 128);
  const double n = parameters(model);
  const double tokens = 256;
  const double logits = tokens * 51200;
  const double kept = 2 * layer_activations(model, plan, 0) + 2 * tokens * 256 * 2;
  const double ids = 8 * tokens;
  // Parameters, gradients that stay, master copy and moments; a loss of fused kernels: fp32 and the gradient.
  const MemoryUse first = memory_of(model, plan, all_of(model));
  CHECK(near(first.total(), (2 + 2 + 12) * n + kept + 4 * logits * (2 + 4 + 2) + ids + 4 * ids));
  CHECK(near(first.activations, kept));
  // While the last layer is in backward, it has gradients of its norm and matrix, and of its own logits.
  const MemoryUse others = memory_of_others(of(model), plan);
  CHECK(near(others.total(), 2 * n + kept + 2 * (256 + 51200 * 256) + 2 * logits + ids));
  CHECK(others.optimizer == 0);
  plan.execution = ExecutionMode::eager;  // three tensors in fp32
  CHECK(near(memory_of(model, plan, all_of(model)).total(), first.total() + 4 * logits * (12 - 6)));
  plan.fused_loss = true;  // gradients in place of logits: then adding up two gradients of all parameters is more
  CHECK(near(memory_of(model, plan, all_of(model)).total(), 16 * n + 2 * 2 * n + 4 * logits * 2 + 5 * ids));
}

TEST_CASE("where tokens are few, the fullest moment is when gradients of replicas are added up") {
  const Transformer model = llama(2, 256, 4);
  const ParallelPlan plan = one_process(4, 1, 16);
  const double n = parameters(model);
  const double logits = 16 * 51200;
  const double ids = 8 * 16;
  // Gradients that stay, those of its own replica, and their sum; the logits of all are still there.
  const MemoryUse first = memory_of(model, plan, all_of(model));
  CHECK(near(first.total(), (2 + 12) * n + 3 * 2 * n + 4 * 2 * logits + 5 * ids));
  CHECK(near(first.gradients, 6 * n));
  CHECK(first.activations == 0);
  CHECK(near(memory_of_others(of(model), plan).total(), 2 * n + 2 * n + ids));
}

TEST_CASE("PyTorch's autocast drops gradients of a single micro-batch, and keeps those of several") {
  const Transformer model = llama(2, 256, 4);
  ParallelPlan plan = one_process(4, 1, 16);
  plan.autocast = true;
  plan.gradient_bytes = 4;
  const double n = parameters(model);
  CHECK(near(memory_of(model, plan, all_of(model)).gradients, 2 * 4 * n));
  plan.global_batch = 8;
  CHECK(near(memory_of(model, plan, all_of(model)).gradients, 3 * 4 * n));
}

TEST_CASE("a matrix that embedding and output share has gradients from the output's backward on") {
  const Transformer model = gpt(2, 256, 4);
  const ParallelPlan plan = one_process(2, 2, 128);
  const double tokens = 256;
  const double kept = 2 * layer_activations(model, plan, 0) + 2 * tokens * 256 * 2;
  const double last = 2 * (2 * 256 + 51200.0 * 256);
  CHECK(near(memory_of_others(of(model), plan).total(),
             2 * parameters(model) + kept + last + 2 * tokens * 51200 + 8 * tokens));
}

TEST_CASE("plain layers on the first GPU of three and on the others, by hand") {
  ParallelPlan plan = one_process(3, 2, 1);
  plan.precision = Precision::fp32;
  plan.gradient_bytes = 4;
  // Kept of two samples: 400 and 240 bytes; put out: 240, of all 720; inputs: 200. Gradients: 4000 and 16000.
  // The fullest moment adds up gradients: those that stay, its own and the sum.
  const MemoryUse first = memory_of_layers(two_layers(50), plan);
  CHECK(first.parameters == 20'000);
  CHECK(first.optimizer == 40'000);
  CHECK(first.gradients == 60'000);
  CHECK(first.activations == 0);
  CHECK(first.buffers == 720 + 200);
  // The others': the first layer's backward.
  const MemoryUse others = memory_of_others(two_layers(50), plan);
  CHECK(others.total() == 20'000 + 20'000 + 400 + 200);
  // Kept by the first layer 40,000: its backward, when the second one's gradients are there, is fuller than the sum.
  const MemoryUse large = memory_of_layers(two_layers(5000), plan);
  CHECK(large.gradients == 20'000 + 20'000);
  CHECK(large.activations == 40'000);
  CHECK(large.buffers == 720 + 200);
  // Kept by the first layer 400,000: the second one's backward has what both keep, and the gradients of all outputs.
  const MemoryUse largest = memory_of_layers(two_layers(50'000), plan);
  CHECK(largest.total() == std::max(80'000 + 400'000 + 240 + 16'000 + 720, 80'000 + 400'000 + 20'000) + 920);
}

TEST_CASE("without other GPUs one process is any process") {
  const Transformer model = llama(2, 256, 4);
  ParallelPlan plan = one_process(1, 2, 128);
  const double alone = memory_of(model, plan, all_of(model)).total();
  plan.single_process = false;
  CHECK(memory_of(model, plan, all_of(model)).total() == alone);
}

TEST_CASE("what the first GPU holds grows with the number of GPUs, what the others hold does not") {
  const Transformer model = gpt(4, 512, 8);
  double before = 0;
  const double other = memory_of_others(of(model), one_process(2, 4, 512)).total();
  for (const std::uint32_t gpus : {2U, 4U, 8U, 16U}) {
    const ParallelPlan plan = one_process(gpus, 4, 512);
    const double first = memory_of(model, plan, all_of(model)).total();
    CHECK(first > before);
    CHECK(first > other);
    CHECK(memory_of_others(of(model), plan).total() == other);
    before = first;
  }
}

TEST_CASE("advice for one process names what leaves it, and changes that stay possible") {
  const Transformer model = gpt(4, 512, 8);
  const ParallelPlan plan = one_process(8, 4, 512);
  const double before = fullest_stage(model, plan, {4}).use.total();
  bool alone = false;
  for (const MemoryAdvice& advice : memory_advice(model, plan, {4}, before / 2)) {
    CAPTURE(advice.change);
    CHECK(advice.use.total() < before);
    CHECK(advice.plan.tensor == 1);
    CHECK((advice.plan.sharding == Sharding::none || !advice.plan.single_process));
    alone = alone || advice.change == "a process for each GPU";
  }
  CHECK(alone);
}
