#include <doctest/doctest.h>

#include "models/experts/exchange.hpp"
#include "models/training/expert_ranks.hpp"
#include "models/training/layer_work.hpp"
#include "models/training/step/layer_pieces.hpp"
#include "models/training/step/step_workload.hpp"
#include "tests/models/training/small_models.hpp"
#include "tests/models/training/step/told_times.hpp"

using namespace athanor;
using namespace athanor::literals;
using doctest::Approx;

namespace {

WorkPiece compute(Time time) {
  WorkPiece piece;
  piece.label = "compute";
  piece.time = time;
  return piece;
}

WorkPiece exchange() {
  WorkPiece piece;
  piece.computes = false;
  piece.label = "dispatch";
  piece.use = Parallelism::expert;
  piece.kind = CollectiveKind::all_to_all;
  piece.size = 1_MiB;
  return piece;
}

ParallelPlan plan_of(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches, bool overlap) {
  ParallelPlan plan;
  plan.pipeline = stages;
  plan.virtual_stages = chunks;
  plan.schedule = chunks > 1 ? PipelineKind::interleaved : PipelineKind::one_f_one_b;
  plan.data = plan.expert = 2;
  plan.global_batch = 2 * micro_batches;
  plan.overlap_experts = overlap;
  return plan;
}

/// Both ways a layer computes, exchanges tokens, computes and exchanges them again.
Time step(const ParallelPlan& plan, std::uint32_t layers, Time compute_time, Time exchange_time) {
  const PipelineSchedule schedule = schedule_of(plan);
  StepPieces pieces;
  for (std::uint32_t place = 0; place < schedule.places(); ++place) {
    ChunkPieces& chunk = pieces.places.emplace_back();
    for (std::uint32_t i = 0; i < layers; ++i) {
      LayerPieces& layer = chunk.layers.emplace_back();
      layer.forward = {compute(compute_time), exchange(), compute(compute_time), exchange()};
      layer.backward = layer.forward;
    }
  }
  pieces.boundaries.assign(schedule.places() - 1, 1000_B);
  pieces.optimizer.resize(schedule.stages);
  const auto told = [&](const Workload::Call& call) { return call.size == 1_MiB ? exchange_time : Time::zero(); };
  return run_with(step_workload(plan, schedule, pieces), told).time;
}

/// 10 TFLOP/s of 100 multiprocessors.
GpuRates gpu_of_100() {
  GpuRates gpu;
  gpu.flops = {{Precision::bf16, 1e13}, {Precision::fp32, 1e13}};
  gpu.memory_bandwidth = 1e15;
  gpu.multiprocessors = 100;
  return gpu;
}

ComputeProfile exact() {
  ComputeProfile profile;
  profile.gemm = {.share = 1, .depth = 0};
  profile.memory = 1;
  profile.waves = 0;
  return profile;
}

LayerPieces layer_of(const Transformer& model, const ParallelPlan& plan) {
  const GpuRates gpu = gpu_of_100();
  const ComputeProfile profile = exact();
  return LayerAssembly(model, plan, gpu, profile).layer(layer_work(model, plan, 0), true, false, 0);
}

std::vector<const WorkPiece*> exchanges(const Pieces& pieces) {
  std::vector<const WorkPiece*> all;
  for (const WorkPiece& piece : pieces) {
    if (piece.use == Parallelism::expert && !piece.computes) { all.push_back(&piece); }
  }
  return all;
}

Transformer sixteen_experts() { return with_experts(llama(2, 256, 4), 16, 2, 512, 0); }

ParallelPlan with_kind(ExchangeKind kind) {
  ParallelPlan plan;
  plan.data = plan.expert = 8;
  plan.global_batch = 16;
  plan.sequence = 128;
  plan.experts.kind = kind;
  return plan;
}

}  // namespace

TEST_CASE("side by side, m micro-batches take the first forward, the last backward, and pairs that hide all but one") {
  constexpr Time c = 5_us;
  constexpr Time e = 3_us;
  for (const std::uint32_t m : {1U, 2U, 8U}) {
    for (const std::uint32_t layers : {1U, 3U}) {
      CAPTURE(m);
      CAPTURE(layers);
      const Time alone = (c + e) * 2 * layers;  // one way
      CHECK(step(plan_of(1, 1, m, false), layers, c, e) == alone * 2 * m);
      CHECK(step(plan_of(1, 1, m, true), layers, c, e) == alone * 2 + (c * 4 * layers + e) * (m - 1));
    }
  }
}

TEST_CASE("side by side every pipeline ends, and sooner than by turns where exchanges take long") {
  for (const std::uint32_t stages : {2U, 4U, 8U}) {
    for (const std::uint32_t chunks : {1U, 2U, 4U}) {
      for (const std::uint32_t m : {stages, 2 * stages, 4 * stages + 1}) {
        CAPTURE(stages);
        CAPTURE(chunks);
        CAPTURE(m);
        const Time together = step(plan_of(stages, chunks, m, true), 2, 5_us, 5_us);
        if (m >= 4 * stages) { CHECK(together < step(plan_of(stages, chunks, m, false), 2, 5_us, 5_us)); }
        CHECK(together >= 5_us * 8 * m * chunks);
      }
    }
  }
}

TEST_CASE(
    "a stage beside which pairs run warms up with 2 (p - 1 - stage) + 1 forwards and keeps as many and one more") {
  const PipelineSchedule schedule = schedule_of(plan_of(4, 1, 16, true));
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    const std::uint32_t warm_up = 2 * (3 - stage) + 1;
    CHECK(schedule.tasks[stage].size() == 16 + warm_up);
    CHECK(schedule.tasks[stage][warm_up].kind == PipelineTask::Kind::forward_backward);
    CHECK(schedule.tasks[stage][warm_up].micro_batch == schedule.tasks[stage][warm_up].other + warm_up);
    CHECK(peak_activations(schedule, stage).whole == warm_up + 1);
  }
}

TEST_CASE("tokens are dispatched and combined forward; backward their gradients are dispatched and combined, too") {
  const LayerPieces layer = layer_of(sixteen_experts(), with_kind(ExchangeKind::deep_ep));
  for (const Pieces* pieces : {&layer.forward, &layer.backward}) {
    const auto both = exchanges(*pieces);
    REQUIRE(both.size() == 2);
    CHECK(!both[0]->exchange->combines);
    CHECK(both[1]->exchange->combines);
    CHECK(both[0]->exchange->tokens == 128);
    CHECK(both[0]->exchange->token_bytes == 512);
  }
  const LayerPieces pairwise = layer_of(sixteen_experts(), with_kind(ExchangeKind::pairwise));
  for (const WorkPiece* piece : exchanges(pairwise.forward)) {
    CHECK(piece->exchange == nullptr);
    CHECK(piece->size.count() == 128 * 2 * 512);
  }
}

TEST_CASE("fp8 halves what is dispatched, but for scales, and nothing that is combined") {
  ParallelPlan plan = with_kind(ExchangeKind::pairwise);
  plan.experts.dispatch = DispatchPrecision::fp8;
  const LayerPieces layer = layer_of(sixteen_experts(), plan);
  CHECK(exchanges(layer.forward)[0]->size.count() == 128 * 2 * (256 + 8));
  CHECK(exchanges(layer.forward)[1]->size.count() == 128 * 2 * 512);
}

TEST_CASE("what computes beside an exchange has the multiprocessors that its kernels leave") {
  Transformer model = sixteen_experts();
  ParallelPlan plan = with_kind(ExchangeKind::deep_ep);
  plan.experts.multiprocessors = 20;
  const auto experts = [&] {
    for (const WorkPiece& piece : layer_of(model, plan).forward) {
      if (piece.label == "experts forward") { return seconds(piece.time); }
    }
    return 0.0;
  };
  const double alone = experts();
  plan.overlap_experts = true;
  CHECK(experts() == Approx(alone / 0.8).epsilon(1e-3));
  plan.experts = {.kind = ExchangeKind::low_latency};
  CHECK(experts() == Approx(alone).epsilon(1e-3));
}

TEST_CASE("uneven experts make the busiest rank's share what it computes, and capacity drops what is beyond") {
  const Transformer model = sixteen_experts();
  ParallelPlan plan = with_kind(ExchangeKind::pairwise);
  plan.experts.loads = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  set_expert_loads(model, plan);
  CHECK(plan.expert_imbalance == Approx(6.0 / 20 * 8).epsilon(1e-6));
  CHECK(plan.expert_kept == 1);
  plan.experts.capacity_factor = 1;
  set_expert_loads(model, plan);
  CHECK(plan.expert_kept < 1);
  CHECK(plan.expert_imbalance < 6.0 / 20 * 8);
}

TEST_CASE("keys of experts that have no effect are refused, with what would do") {
  const Transformer model = sixteen_experts();
  const auto fault = [&](const ParallelPlan& plan) {
    const std::vector<std::string> faults = expert_faults(model, plan);
    return faults.empty() ? "" : faults.front();
  };
  const auto says = [&](const ParallelPlan& plan, const char* text) {
    return fault(plan).find(text) != std::string::npos;
  };
  CHECK(fault(with_kind(ExchangeKind::deep_ep)).empty());
  ParallelPlan plan = with_kind(ExchangeKind::low_latency);
  plan.experts.most_nodes = 4;
  CHECK(says(plan, "\"most_nodes\" has no effect with low_latency"));
  plan = with_kind(ExchangeKind::pairwise);
  plan.experts.multiprocessors = 8;
  CHECK(says(plan, "\"multiprocessors\" has no effect with pairwise"));
  plan = with_kind(ExchangeKind::pairwise);
  plan.experts.overhead = 1_us;
  CHECK(says(plan, "\"overhead\" has no effect with pairwise"));
  plan = with_kind(ExchangeKind::deep_ep);
  plan.experts.zipf = 1;
  plan.experts.loads.assign(16, 1.0);
  CHECK(says(plan, "leave out one of them"));
  plan.experts.zipf = 0;
  plan.experts.loads.assign(15, 1.0);
  CHECK(says(plan, "there are 16 experts"));
  plan = with_kind(ExchangeKind::deep_ep);
  plan.experts.redundant = 8;
  CHECK(says(plan, "expert_exchange"));
  plan = with_kind(ExchangeKind::deep_ep);
  plan.expert = 1;
  CHECK(says(plan, "with one expert rank they stay"));
}

TEST_CASE("overlap is refused where there is nothing to overlap or no order for it") {
  const Transformer model = sixteen_experts();
  const auto says = [&](const ParallelPlan& plan, const char* text) {
    const std::vector<std::string> faults = expert_faults(model, plan);
    return !faults.empty() && faults.front().find(text) != std::string::npos;
  };
  ParallelPlan plan = with_kind(ExchangeKind::pairwise);
  plan.overlap_experts = true;
  CHECK(expert_faults(model, plan).empty());
  plan.schedule = PipelineKind::dual_pipe;
  CHECK(says(plan, "dual_pipe does so in any case"));
  plan.schedule = PipelineKind::zb_v;
  CHECK(says(plan, "\"interleaved\" or \"dual_pipe\""));
  plan.schedule = PipelineKind::one_f_one_b;
  plan.sharding = Sharding::parameters;
  CHECK(says(plan, "\"sharding\": \"optimizer\""));
  plan.sharding = Sharding::none;
  plan.recompute = Recompute::full;
  CHECK(says(plan, "full recomputation"));
  plan.recompute = Recompute::none;
  plan.offload_layers = 1;
  CHECK(says(plan, "offload_layers"));
  plan.offload_layers = 0;
  plan.expert = 1;
  CHECK(says(plan, "with one expert rank nothing is exchanged"));
}
