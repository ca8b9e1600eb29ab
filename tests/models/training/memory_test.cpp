#include "models/training/memory.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

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

double states(const MemoryUse& use) { return use.parameters + use.gradients + use.optimizer; }

/// As in Korthikanti et al.: with dropout, scores in memory.
ParallelPlan of_2022(std::uint32_t tensor, bool sequence_parallel, Recompute recompute) {
  ParallelPlan plan;
  plan.tensor = tensor;
  plan.sequence_parallel = sequence_parallel;
  plan.recompute = recompute;
  plan.fused_attention = false;
  plan.dropout = true;
  return plan;
}

bool near(double a, double b) { return a == doctest::Approx(b).epsilon(1e-12); }

}  // namespace

TEST_CASE("states take 16 N, 4 N + 12 N / d, 2 N + 14 N / d and 16 N / d bytes, by what d ranks share out") {
  // Rajbhandari et al., ZeRO, 2020, figure 1; gradients of 2 bytes.
  const Transformer model = llama(3, 256, 4);
  const double n = parameters(model);
  for (const std::uint32_t ranks : {1U, 2U, 64U}) {
    CAPTURE(ranks);
    ParallelPlan plan;
    plan.data = ranks;
    plan.gradient_bytes = 2;
    const double d = ranks;
    const auto bytes = [&](Sharding sharding) {
      plan.sharding = sharding;
      return states(memory_of(model, plan, all_of(model)));
    };
    CHECK(near(bytes(Sharding::none), 16 * n));
    CHECK(near(bytes(Sharding::optimizer), 4 * n + 12 * n / d));
    CHECK(near(bytes(Sharding::gradients), 2 * n + 14 * n / d));
    CHECK(near(bytes(Sharding::parameters), 16 * n / d));
  }
}

TEST_CASE("context ranks share states out like data ranks, and groups of ranks among themselves") {
  const Transformer model = llama(2, 256, 4);
  ParallelPlan plan;
  plan.data = 4;
  plan.context = 2;
  plan.gradient_bytes = 2;
  plan.sharding = Sharding::parameters;
  CHECK(near(states(memory_of(model, plan, all_of(model))), 2 * parameters(model)));
  plan.shard_group = 4;
  CHECK(near(states(memory_of(model, plan, all_of(model))), 4 * parameters(model)));
}

TEST_CASE("experts' states are shared out among the ranks that hold the same experts") {
  const Transformer model = with_experts(llama(2, 256, 4), 8, 2, 128, 0);
  double experts = 0;
  for (std::uint32_t layer = 0; layer < 2; ++layer) { experts += layer_parameters(model, layer).experts; }
  ParallelPlan plan;
  plan.data = 8;
  plan.expert = 4;
  plan.gradient_bytes = 2;
  plan.sharding = Sharding::parameters;
  CHECK(
      near(states(memory_of(model, plan, all_of(model))), 16 * ((parameters(model) - experts) / 8 + experts / 4 / 2)));
}

TEST_CASE("precisions of states: fp32 has no copies, fp8 two narrow ones of each matrix of a layer") {
  const Transformer model = llama(1, 256, 4);
  const double n = parameters(model);
  const double ends = embedding_parameters(model) + output_parameters(model);
  ParallelPlan plan;
  CHECK(near(states(memory_of(model, plan, all_of(model))), (2 + 4 + 12) * n));
  plan.precision = Precision::fp32;
  CHECK(near(states(memory_of(model, plan, all_of(model))), (4 + 4 + 8) * n));
  plan.precision = Precision::fp8;
  CHECK(near(states(memory_of(model, plan, all_of(model))), (2 + 4 + 12) * n + 2 * (n - ends)));
  plan.fp8_parameters = true;  // the two alone
  CHECK(near(states(memory_of(model, plan, all_of(model))), (2 + 4 + 12) * n));
  CHECK(near(memory_of(model, plan, all_of(model)).parameters, 2 * n));
  plan.precision = Precision::fp4;  // has no parameters of its own
  CHECK(near(states(memory_of(model, plan, all_of(model))), (2 + 4 + 12) * n + 1 * (n - ends)));
}

TEST_CASE("an optimizer keeps its copy and its moments in the bytes that it is told") {
  const Transformer model = llama(1, 256, 4);
  const double n = parameters(model);
  ParallelPlan plan;
  const auto bytes = [&](std::uint32_t master, std::uint32_t moment) {
    plan.master_bytes = master;
    plan.moment_bytes = moment;
    return memory_of(model, plan, all_of(model)).optimizer;
  };
  CHECK(near(bytes(4, 4), 12 * n));
  CHECK(near(bytes(2, 4), 10 * n));
  CHECK(near(bytes(4, 2), 8 * n));
  CHECK(near(bytes(0, 2), 4 * n));
  CHECK(near(bytes(4, 1), 6 * n));
  plan.precision = Precision::fp32;  // parameters are the master copy
  CHECK(near(bytes(0, 4), 8 * n));
}

TEST_CASE("a layer of GPT keeps sbh (10 + 24 / t + 5 a s / h t), with sequence parallelism sbh / t (34 + 5 a s / h)") {
  // Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022, table 2.
  for (const std::uint32_t tensor : {1U, 2U, 8U}) {
    for (const std::uint32_t sequence : {128U, 2048U}) {
      CAPTURE(tensor);
      CAPTURE(sequence);
      const Transformer model = gpt(1, 1024, 16);
      const double t = tensor;
      const double s = sequence;
      const double whole = s * 3 * 1024;  // of three sequences
      const double scores = 5 * 16 * s / 1024;
      const auto bytes = [&](bool sequence_parallel, Recompute recompute) {
        ParallelPlan plan = of_2022(tensor, sequence_parallel, recompute);
        plan.sequence = sequence;
        plan.micro_batch = 3;
        return layer_activations(model, plan, 0);
      };
      CHECK(near(bytes(false, Recompute::none), whole * (10 + 24 / t + scores / t)));
      CHECK(near(bytes(true, Recompute::none), whole / t * (34 + scores)));
      CHECK(near(bytes(false, Recompute::selective), whole * (10 + 24 / t)));
      CHECK(near(bytes(true, Recompute::selective), whole / t * 34));
      CHECK(near(bytes(false, Recompute::full), whole * 2));
    }
  }
}

TEST_CASE("the shares of activations that are kept are those of figure 7 of Korthikanti et al.") {
  struct Row {
    std::uint32_t hidden, heads;
    double sequence, selective, both, full;  // percent of what plain tensor parallelism keeps
  };
  for (const Row& row : {Row{6144, 64, 66.84, 49.42, 16.18, 7.64}, Row{12288, 96, 62.04, 56.53, 18.49, 8.71},
                         Row{20480, 128, 58.31, 62.04, 20.27, 9.42}, Row{25600, 160, 58.31, 62.04, 20.27, 9.42}}) {
    CAPTURE(row.hidden);
    const Transformer model = gpt(1, row.hidden, row.heads);
    const double all = layer_activations(model, of_2022(8, false, Recompute::none), 0);
    const auto percent = [&](bool sequence_parallel, Recompute recompute) {
      return 100 * layer_activations(model, of_2022(8, sequence_parallel, recompute), 0) / all;
    };
    // As read from bars: within 0.15 of a hundredth of all.
    CHECK(std::abs(percent(true, Recompute::none) - row.sequence) < 0.15);
    CHECK(std::abs(percent(false, Recompute::selective) - row.selective) < 0.15);
    CHECK(std::abs(percent(true, Recompute::selective) - row.both) < 0.15);
    CHECK(std::abs(percent(false, Recompute::full) - row.full) < 0.15);
  }
}

TEST_CASE("fused attention keeps sums of softmax in place of scores, and context ranks share all") {
  const Transformer model = llama(1, 1024, 16);
  ParallelPlan plan;
  const double all = layer_activations(model, plan, 0);
  const double tokens = 2048;
  // Two norms and two inputs of blocks, queries, keys, values and outputs, 3 x 3 h of the gated MLP: in 2 bytes each.
  CHECK(all == tokens * 1024 * 2 * (2 + 2 + 4 + 9) + 4 * tokens * 16);
  plan.context = 4;
  CHECK(near(layer_activations(model, plan, 0), all / 4));
}

TEST_CASE("inputs of products are kept in fp8 where they are multiplied in it") {
  const Transformer model = llama(1, 1024, 16);
  ParallelPlan plan;
  plan.precision = Precision::fp8;
  const double tokens = 2048;
  CHECK(layer_activations(model, plan, 0) ==
        tokens * 1024 * (2 * 2 + 1 + 3 * 2 + 1 + 1 + 6 * 2 + 3 * 1) + 4 * tokens * 16);
}

TEST_CASE("activations grow with micro-batches in flight, and the loss has one of them") {
  const Transformer model = llama(4, 512, 8);
  const ParallelPlan plan;
  StageLoad load = all_of(model);
  load.output = false;
  const double once = memory_of(model, plan, load).activations;
  CHECK(near(once, 4 * layer_activations(model, plan, 0)));
  load.in_flight = 3.5;
  CHECK(near(memory_of(model, plan, load).activations, 3.5 * once));
  load.output = true;
  const double tokens = 2048;
  CHECK(near(memory_of(model, plan, load).activations, 3.5 * once + tokens * (2 * 512 * 2 + 4 * 51200)));
}

TEST_CASE("recomputing some of the layers keeps the others whole, and makes one of them anew") {
  const Transformer model = llama(6, 512, 8);
  ParallelPlan plan;
  const double whole = layer_activations(model, plan, 0);
  plan.recompute = Recompute::full;
  plan.recompute_layers = 2;
  const double input = layer_activations(model, plan, 0);
  CHECK(input == 2048.0 * 512 * 2);
  StageLoad load = all_of(model);
  load.output = false;
  const MemoryUse use = memory_of(model, plan, load);
  CHECK(near(use.activations, 2 * input + 4 * whole));
  CHECK(near(use.buffers, whole - input));
}

TEST_CASE("no more gradients wait to be scattered than there are") {
  const Transformer model = llama(2, 64, 4);
  ParallelPlan plan;
  plan.data = 8;
  plan.global_batch = 8;
  plan.sharding = Sharding::gradients;
  StageLoad all;
  all.layers = {0, 1};
  const double gradients = 2 * layer_share(model, plan, 0).total() * plan.gradient_bytes;
  plan.bucket = Bytes{40'000'000};
  const double whole = memory_of(model, plan, all).buffers;
  plan.bucket = Bytes{1000};
  CHECK(whole - memory_of(model, plan, all).buffers == doctest::Approx(gradients - 1000));
}

TEST_CASE("sharded parameters are gathered by layers: the one that computes and those ahead, with its gradients") {
  const Transformer model = llama(3, 512, 8);
  ParallelPlan plan;
  plan.data = 8;
  plan.sharding = Sharding::parameters;
  for (const std::uint32_t ahead : {0U, 1U, 2U, 1000U}) {
    plan.prefetch = ahead;
    CHECK(near(memory_of(model, plan, all_of(model)).buffers,
               layer_parameters(model, 0).total() * (2.0 * std::min(1 + ahead, model.layers) + 4)));
  }
}

TEST_CASE("calls for parts of a layer hold a part of it, unless layers are gathered ahead") {
  const Transformer model = llama(3, 512, 8);
  ParallelPlan plan;
  plan.data = 8;
  plan.sharding = Sharding::parameters;
  plan.shard_calls = 4;
  plan.prefetch = 0;
  const double layer = layer_parameters(model, 0).total();
  CHECK(near(memory_of(model, plan, all_of(model)).buffers, layer * (2 + 4) / 4));
  plan.prefetch = 1;
  CHECK(near(memory_of(model, plan, all_of(model)).buffers, layer * (2.0 * 2 + 4.0 / 4)));
}

TEST_CASE("chunks whose gradients are added up hold them until they are reduced") {
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::interleaved, 4, 3, 8);
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    CAPTURE(stage);
    CHECK(near(most_summing(schedule, stage, 1), 1.0 / 3));  // what is just complete
    CHECK(near(most_summing(schedule, stage, 4), 1.0 / 3));  // micro-batches that follow each other in a chunk
    CHECK(near(most_summing(schedule, stage, 8), 1));        // all chunks wait for the second group
    CHECK(near(most_summing(schedule, stage, 100), 1));
  }
  CHECK(near(most_summing(pipeline_schedule(PipelineKind::zb_h1, 4, 1, 8), 0, 4), 1));
  const Transformer model = llama(12, 512, 8);
  ParallelPlan plan;
  plan.pipeline = 4;
  plan.virtual_stages = 3;
  plan.schedule = PipelineKind::interleaved;
  plan.data = 2;
  plan.global_batch = 16;
  plan.sharding = Sharding::gradients;
  const std::vector<std::uint32_t> layers(12, 1);
  const double sharded = fullest_stage(model, plan, layers).use.gradients;
  plan.reduce_every = 4;
  const StageMemory fullest = fullest_stage(model, plan, layers);
  CHECK(near(fullest.use.gradients, sharded * (1 + 2.0 / 3)));
}

TEST_CASE("the first stage of 1F1B keeps most micro-batches, and the last one the logits") {
  const Transformer model = llama(8, 512, 8);
  ParallelPlan plan;
  plan.pipeline = 4;
  plan.global_batch = 16;
  const StageMemory fullest = fullest_stage(model, plan, {2, 2, 2, 2});
  StageLoad first{.layers = {0, 1},
                  .embedding = true,
                  .output = false,
                  .in_flight = 4,
                  .replicas = 1,
                  .summing = 1,
                  .in_chunk = {}};
  StageLoad last{.layers = {6, 7},
                 .embedding = false,
                 .output = true,
                 .in_flight = 1,
                 .replicas = 1,
                 .summing = 1,
                 .in_chunk = {}};
  const double most = std::max(memory_of(model, plan, first).total(), memory_of(model, plan, last).total());
  CHECK(near(fullest.use.total(), most));
  plan.pipeline = 1;
  CHECK(near(fullest_stage(model, plan, {8}).use.total(), memory_of(model, plan, all_of(model)).total()));
}

TEST_CASE("a stage holds the layers that its places are given") {
  const Transformer model = llama(8, 512, 8);
  ParallelPlan plan;
  plan.pipeline = 2;
  plan.global_batch = 2;
  const StageLoad second{.layers = {1, 2, 3, 4, 5, 6, 7},
                         .embedding = false,
                         .output = true,
                         .in_flight = 1,
                         .replicas = 1,
                         .summing = 1,
                         .in_chunk = {}};
  const StageMemory fullest = fullest_stage(model, plan, {1, 7});
  CHECK(fullest.stage == 1);
  CHECK(near(fullest.use.total(), memory_of(model, plan, second).total()));
  CHECK(fullest_stage(model, plan, {7, 1}).stage == 0);
}

TEST_CASE("stages of published runs hold what was measured, within 8 %") {
  // Qi et al., Zero Bubble Pipeline Parallelism, table 4: GB on 8 to 32 A100; the second stage has most of 1F1B, since
  // the first has a layer less; ZB-2p keeps 2 p - 1 micro-batches.
  struct Row {
    std::uint32_t layers, hidden, heads, stages, micro_batch;
    double one_f_one_b, zb_2p;
  };
  for (const Row& row : {Row{22, 2304, 24, 8, 6, 30, 59}, Row{30, 4096, 32, 8, 3, 39, 70},
                         Row{46, 5120, 40, 16, 1, 32, 51}, Row{62, 6144, 48, 32, 1, 43, 74}}) {
    CAPTURE(row.hidden);
    const Transformer model = gpt(row.layers, row.hidden, row.heads);
    ParallelPlan plan = of_2022(1, false, Recompute::none);
    plan.sequence = 1024;
    plan.micro_batch = row.micro_batch;
    plan.precision = Precision::fp16;
    StageLoad load;
    load.layers.assign((row.layers + 2) / row.stages, 0);
    load.in_flight = row.stages - 1;
    CHECK(memory_of(model, plan, load).total() * 1e-9 == doctest::Approx(row.one_f_one_b).epsilon(0.08));
    load.in_flight = 2 * row.stages - 1;
    CHECK(memory_of(model, plan, load).total() * 1e-9 == doctest::Approx(row.zb_2p).epsilon(0.08));
  }
}

TEST_CASE("advice is evaluated anew, is for as many GPUs, and fits where anything does") {
  const Transformer model = llama(16, 2048, 16);
  ParallelPlan plan;
  plan.data = 8;
  plan.micro_batch = 4;
  plan.global_batch = 64;
  const double before = fullest_stage(model, plan, {16}).use.total();
  for (const double bytes : {0.1 * before, 0.5 * before, 0.9 * before}) {
    const std::vector<MemoryAdvice> advice = memory_advice(model, plan, {16}, bytes);
    REQUIRE_FALSE(advice.empty());
    const bool fits = advice.front().use.total() <= bytes;
    double least = 0;
    for (const MemoryAdvice& change : advice) {
      CAPTURE(change.change);
      CHECK(change.plan.ranks() == plan.ranks());
      CHECK(change.use.total() ==
            fullest_stage(model, change.plan, layers_of_places(16, change.plan.pipeline)).use.total());
      CHECK(change.use.total() <= (fits ? bytes : 0.9 * before));
      CHECK(change.use.total() >= least);
      least = change.use.total();
    }
  }
}

TEST_CASE("plain layers keep what they say, and their states are those of any parameters") {
  TrainedModel model;
  model.layers.assign(
      3, PlainLayer{
             .name = "", .parameters = 1000, .forward_flops = 1, .backward_flops = 0, .activations = 50, .output = 20});
  ParallelPlan plan;
  plan.micro_batch = 32;
  plan.precision = Precision::fp32;
  const MemoryUse use = memory_of_layers(model, plan);
  CHECK(use.activations == 3 * 50 * 32 * 4);
  CHECK(states(use) == 3000 * 16);
}
