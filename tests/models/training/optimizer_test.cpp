// What optimizers keep and move, in closed form, and beside what their authors say.
#include "models/training/optimizer.hpp"

#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "models/training/layer_work.hpp"
#include "models/training/memory.hpp"
#include "models/training/parameter_share.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;

namespace {

StageLoad all_of(const Transformer& model) {
  StageLoad load;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) { load.layers.push_back(layer); }
  load.embedding = load.output = true;
  return load;
}

ParallelPlan plan_with(OptimizerKind optimizer) {
  ParallelPlan plan;
  plan.optimizer = optimizer;
  return plan;
}

double kept(const Transformer& model, ParallelPlan plan) {
  plan.master_bytes = 0;
  return memory_of(model, plan, all_of(model)).optimizer;
}

double flops_of(const Kernels& kernels) {
  double sum = 0;
  for (const Kernel& kernel : kernels) { sum += kernel.flops; }
  return sum;
}

double bytes_of(const Kernels& kernels, const std::string& label) {
  double sum = 0;
  for (const Kernel& kernel : kernels) { sum += kernel.label == label ? kernel.bytes : 0; }
  return sum;
}

bool near(double a, double b) { return a == doctest::Approx(b).epsilon(1e-12); }

}  // namespace

TEST_CASE("a layer's matrices hold all of its parameters but norms, biases and routers") {
  for (const std::uint32_t tensor : {1U, 2U, 8U}) {
    CAPTURE(tensor);
    ParallelPlan plan;
    plan.tensor = tensor;
    const auto elements = [&](const Transformer& model, std::uint32_t layer, bool experts) {
      double sum = 0;
      for (const LayerMatrix& matrix : layer_matrices(model, plan, layer)) {
        sum += matrix.experts == experts ? matrix.elements() : 0;
      }
      return sum;
    };
    Transformer model = llama(2, 512, 8);
    model.attention.kv_heads = 2;
    CHECK(elements(model, 0, false) == layer_share(model, plan, 0).dense - 2 * 512);
    model = with_experts(model, 16, 2, 128, 1);
    model.experts->shared_ffn = 64;
    plan.expert_tensor = tensor;
    CHECK(elements(model, 1, false) == layer_share(model, plan, 1).dense - 2 * 512 - 16 * 512);
    CHECK(elements(model, 1, true) == layer_share(model, plan, 1).experts);
    plan.expert_tensor = 1;
  }
}

TEST_CASE("projections into compressed vectors, and of two tokens, are matrices, too") {
  Transformer model = llama(1, 512, 8);
  model.attention.kind = Attention::Kind::latent;
  model.attention.rotary_size = 16;
  model.attention.kv_rank = 64;
  for (const std::uint32_t rank : {0U, 96U}) {
    model.attention.query_rank = rank;
    double sum = 0;
    for (const LayerMatrix& matrix : layer_matrices(model, ParallelPlan{}, 0)) { sum += matrix.elements(); }
    CHECK(sum == layer_share(model, ParallelPlan{}, 0).dense - 2 * 512 - 64 - rank);
    double further = 0;
    for (const LayerMatrix& matrix : layer_matrices(model, ParallelPlan{}, 1)) { further += matrix.elements(); }
    CHECK(further == sum + 2 * 512 * 512);
  }
}

TEST_CASE("states: none, one moment, two, two of 8 bits with 4 bytes for 256, rows and columns, one of matrices") {
  const Transformer model = llama(3, 256, 4);
  const double n = parameters(model);
  CHECK(kept(model, plan_with(OptimizerKind::sgd)) == 0);
  CHECK(kept(model, plan_with(OptimizerKind::sgd_momentum)) == 4 * n);
  CHECK(kept(model, plan_with(OptimizerKind::adam)) == 8 * n);
  CHECK(near(kept(model, plan_with(OptimizerKind::adam_8bit)), (2 + 8.0 / 256) * n));
  const double h = 256;
  const double norms = 3 * 2 * h + h;
  const double of_layer = 4 * (h + h) + 3 * (h + 3 * h);  // rows and columns
  CHECK(near(kept(model, plan_with(OptimizerKind::adafactor)), 4 * (norms + 3 * of_layer + 2 * (51200 + h))));
  const double matrices = 3 * (4 * h * h + 3 * h * 3 * h);
  CHECK(near(kept(model, plan_with(OptimizerKind::muon)), 4 * matrices + 8 * (n - matrices)));
  ParallelPlan plan = plan_with(OptimizerKind::muon);
  plan.moment_bytes = 2;
  CHECK(near(kept(model, plan), 2 * matrices + 4 * (n - matrices)));
}

TEST_CASE("the master copy is the plan's, whatever the optimizer") {
  const Transformer model = llama(1, 256, 4);
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adafactor, OptimizerKind::adam_8bit}) {
    const ParallelPlan plan = plan_with(kind);
    CHECK(near(memory_of(model, plan, all_of(model)).optimizer, kept(model, plan) + 4 * parameters(model)));
  }
}

TEST_CASE("Adam in 8 bits saves three quarters of its states, as bitsandbytes says") {
  // Dettmers et al. 2022 (8-bit Optimizers via Block-wise Quantization): 75 % less; of a model of 1 billion
  // parameters 8 GB become 2 GB.
  const double n = 1e9;
  const double wide = optimizer_state_bytes(n, {}, plan_with(OptimizerKind::adam));
  const double narrow = optimizer_state_bytes(n, {}, plan_with(OptimizerKind::adam_8bit));
  CHECK(wide == 8e9);
  CHECK(narrow / 2e9 - 1 == doctest::Approx(0.0156).epsilon(0.01));
}

TEST_CASE("shared out among d ranks, optimizers of single numbers keep a d-th, those of matrices whole ones") {
  const Transformer model = llama(1, 256, 4);
  for (const OptimizerKind kind :
       {OptimizerKind::sgd_momentum, OptimizerKind::adam_8bit, OptimizerKind::adafactor, OptimizerKind::muon}) {
    ParallelPlan plan = plan_with(kind);
    const double alone = kept(model, plan);
    plan.sharding = Sharding::optimizer;
    plan.data = 4;
    // Of a stage: matrices of the layer and its ends are counted apart, 7 and 2.
    if (!needs_matrices(kind)) { CHECK(near(kept(model, plan), alone / 4)); }
    StageLoad layer;
    layer.layers = {0};
    plan.master_bytes = 0;
    plan.data = 1;
    const double one = memory_of(model, plan, layer).optimizer;
    plan.data = 7;
    CHECK(near(memory_of(model, plan, layer).optimizer, one / 7));
    plan.data = 700;
    CHECK(near(memory_of(model, plan, layer).optimizer, one / (needs_matrices(kind) ? 7 : 700)));
  }
}

TEST_CASE("an update reads gradients, and reads and writes states and master copy") {
  const auto bytes = [](OptimizerKind kind) { return bytes_of(optimizer_work(1024, 0, plan_with(kind)), "optimizer"); };
  CHECK(bytes(OptimizerKind::sgd) == 1024 * (4 + 8 + 2));
  CHECK(bytes(OptimizerKind::sgd_momentum) == 1024 * (4 + 8 + 8 + 2));
  CHECK(bytes(OptimizerKind::adam) == 1024 * (4 + 8 + 16 + 2));
  CHECK(bytes(OptimizerKind::adam_8bit) == 1024 * (4 + 8 + 2) + 2 * (2 * 1024 + 8 * 4));
  const std::vector<LayerMatrix> square{{.in = 32, .out = 32}};
  const ParallelPlan plan = plan_with(OptimizerKind::adafactor);
  CHECK(bytes_of(optimizer_work(1024, 0, plan, square), "optimizer") == 1024 * (3 * 4 + 8 + 2) + 2 * 4 * 64);
}

TEST_CASE("positions and routers are matrices to Adafactor, and Adam's to Muon") {
  Transformer model = with_experts(llama(2, 512, 8), 16, 2, 128, 1);
  const auto more = [&](OptimizerKind kind) {
    Transformer other = model;
    other.positions = 64;
    return kept(other, plan_with(kind)) - kept(model, plan_with(kind));
  };
  CHECK(near(more(OptimizerKind::adafactor), 4 * (64 + 512)));
  CHECK(near(more(OptimizerKind::muon), 2 * 4 * 64 * 512));
  double routers = 0;
  for (const LayerMatrix& matrix : layer_share(model, plan_with(OptimizerKind::adafactor), 1).matrices) {
    routers += matrix.table ? matrix.elements() : 0;
  }
  CHECK(routers == 16 * 512);
}

TEST_CASE("Muon's iterations are of 16 bits, whatever is trained in") {
  const auto time_in = [](Precision precision) {
    ParallelPlan plan = plan_with(OptimizerKind::muon);
    plan.precision = precision;
    std::set<Precision> used;
    for (const Kernel& kernel : optimizer_work(1e6, 1e6, plan, {{.in = 512, .out = 512}})) {
      if (kernel.label == std::string("orthogonalization") && kernel.flops > 0) { used.insert(kernel.precision); }
    }
    return used;
  };
  CHECK(time_in(Precision::fp32) == std::set<Precision>{Precision::bf16});
  CHECK(time_in(Precision::fp8) == std::set<Precision>{Precision::bf16});
  CHECK(time_in(Precision::fp16) == std::set<Precision>{Precision::fp16});
}

TEST_CASE("Muon makes matrices orthogonal: 5 (4 a^2 b + 2 a^3) operations, and none of tables") {
  const ParallelPlan plan = plan_with(OptimizerKind::muon);
  const LayerMatrix wide{.in = 64, .out = 256, .count = 3};
  const double once = 5 * (4.0 * 64 * 64 * 256 + 2.0 * 64 * 64 * 64);
  CHECK(orthogonalization_flops(wide) == once);
  CHECK(flops_of(optimizer_work(3 * 64 * 256, 0, plan, {wide})) == 3 * once);
  CHECK(flops_of(optimizer_work(1000, 0, plan, {{.in = 10, .out = 100, .table = true}})) == 0);
}

TEST_CASE(
    "Muon's operations are 0.7 % of a step of NanoGPT and 0.5 % of one of Llama 405B, as its author bounds them") {
  // Jordan 2024, "Muon: An optimizer for hidden layers in neural networks": T m / B with m x n matrices, B tokens and T
  // = 5: 5 x 768 / 524,288 = 0.7 %, 5 x 16,384 / 16,000,000 = 0.5 %, with 6 m^2 n an iteration against 6 m n B a step.
  for (const auto& [m, tokens, percent] : {std::tuple{768.0, 524288.0, 0.7}, std::tuple{16384.0, 16e6, 0.5}}) {
    const double square = orthogonalization_flops({.in = m, .out = m}) / (6 * m * m * tokens);
    CHECK(near(square, 5 * m / tokens));
    CHECK(std::abs(100 * square - percent) < 0.05);
    CHECK(orthogonalization_flops({.in = m, .out = 4 * m}) / (6 * m * 4 * m * tokens) < square);
  }
}

TEST_CASE("optimizers of whole matrices are refused where sharding cuts these") {
  const Transformer model = llama(2, 256, 4);
  for (const OptimizerKind kind : {OptimizerKind::muon, OptimizerKind::adafactor}) {
    ParallelPlan plan = plan_with(kind);
    plan.data = 2;
    for (const Sharding sharding : {Sharding::none, Sharding::optimizer}) {
      plan.sharding = sharding;
      CHECK(contradictions(model, plan).empty());
    }
    for (const Sharding sharding : {Sharding::gradients, Sharding::parameters}) {
      plan.sharding = sharding;
      REQUIRE(contradictions(model, plan).size() == 1);
      CHECK(contradictions(model, plan).front().find("whole matrices") != std::string::npos);
    }
  }
}
