#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "models/training/parameter_share.hpp"
#include "models/training/step/step_pieces.hpp"
#include "models/training/step/step_workload.hpp"
#include "tests/models/training/small_models.hpp"
#include "tests/models/training/step/told_times.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// 1 TFLOP/s, 1 TB/s, and 1 GB/s to its host.
GpuRates small_gpu() {
  GpuRates gpu;
  gpu.flops = {{Precision::bf16, 1e12}, {Precision::fp32, 1e12}};
  gpu.memory_bandwidth = 1e12;
  gpu.host_bandwidth = 1e9;
  return gpu;
}

ComputeProfile exact() {
  ComputeProfile profile;
  profile.gemm = {.share = 1, .depth = 0};
  profile.memory = 1;
  return profile;
}

ParallelPlan of_four(bool single_process) {
  ParallelPlan plan;
  plan.data = 4;
  plan.micro_batch = 2;
  plan.global_batch = 16;  // two micro-batches
  plan.sequence = 128;
  plan.single_process = single_process;
  return plan;
}

StepPieces pieces_of(const TrainedModel& model, const ParallelPlan& plan, const GpuRates& gpu = small_gpu()) {
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, plan.micro_batches());
  return step_pieces(model, plan, {layers_of(model)}, schedule, gpu, exact());
}

Workload workload_of(const TrainedModel& model, const ParallelPlan& plan, const GpuRates& gpu = small_gpu()) {
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, plan.micro_batches());
  return step_workload(plan, schedule, pieces_of(model, plan, gpu));
}

/// With calls of 5 us each, where one process has all GPUs; else with free ones.
Time step_of(const TrainedModel& model, const ParallelPlan& plan, const GpuRates& gpu = small_gpu()) {
  const Time call = plan.single_process ? 5_us : Time::zero();
  return run_with(workload_of(model, plan, gpu), [&](const Workload::Call&) { return call; }).time;
}

TrainedModel transformer(std::uint32_t next_token_layers) {
  TrainedModel model{.name = "", .transformer = llama(2, 256, 4), .layers = {}};
  model.transformer->next_token_layers = next_token_layers;
  return model;
}

TrainedModel two_layers(double input) {
  TrainedModel model;
  model.layers.assign(2, {.name = "layer", .parameters = 1e6, .forward_flops = 1e8, .activations = 50, .output = 300});
  model.input = input;
  return model;
}

/// Sums of products of a few kernels are rounded to a picosecond each.
bool within(Time a, Time b, std::int64_t picoseconds) { return std::abs(a.count() - b.count()) <= picoseconds; }

}  // namespace

TEST_CASE("the first GPU of a process computes the loss of all, between what it gathers and what it scatters") {
  // Of a logit, fused kernels read 2 bytes and move 20 of fp32 forward, 4 and 2 backward; at 1 TB/s. Ids of 256 tokens
  // come over 1 GB/s. Four calls of 5 us, before and behind two micro-batches.
  const double logits = 256.0 * 51200;
  const Time loss{std::llround(28 * logits)};  // a byte takes 1 ps
  const Time ids = Time{8 * 256 * 1000};       // ... here 1 ns
  const Time more = (loss * 3 + ids + 5_us * 4) * 2;
  const Time each = step_of(transformer(0), of_four(false));
  CHECK(within(step_of(transformer(0), of_four(true)), each + more, 8));
}

TEST_CASE("of layers that predict further tokens logits are gathered, too, and their loss is the first GPU's") {
  const Time loss{std::llround(28 * 256.0 * 51200)};
  const Time more = (loss * 6 + Time{8 * 256 * 1000} + 5_us * 4) * 2;
  CHECK(within(step_of(transformer(1), of_four(true)), step_of(transformer(1), of_four(false)) + more, 16));
  CHECK(pieces_of(transformer(1), of_four(true)).places.back().output == Bytes{2 * 256 * 51200 * 2});
}

TEST_CASE("the step of plain layers has their inputs, of which somebody says how large they are") {
  // Two samples of 1 MB at 1 GB/s; nobody says what a loss would take.
  const Time each = step_of(two_layers(0), of_four(false));
  CHECK(step_of(two_layers(0), of_four(true)) == each + 5_us * 8);
  CHECK(step_of(two_layers(1e6), of_four(true)) == each + (2_ms + 5_us * 4) * 2);
  GpuRates far = small_gpu();
  far.host_bandwidth = 0;  // nothing is known of the way
  CHECK(step_of(two_layers(1e6), of_four(true), far) == each + 5_us * 8);
  CHECK(step_of(two_layers(1e6), of_four(false)) == each);
}

TEST_CASE("what a process sends: all parameters, those of experts among them, and outputs in their precision") {
  const auto sizes = [](const TrainedModel& model, ParallelPlan plan) {
    std::map<CollectiveKind, Bytes> sent;
    run_with(workload_of(model, plan), [&](const Workload::Call& call) {
      sent[call.kind] = call.size;
      return Time::zero();
    });
    return sent;
  };
  using Kind = CollectiveKind;
  TrainedModel model = transformer(0);
  model.transformer = with_experts(*model.transformer, 8, 2, 128, 0);
  const auto all = static_cast<std::int64_t>(parameters(*model.transformer));
  auto sent = sizes(model, of_four(true));
  CHECK(sent[Kind::broadcast] == Bytes{2 * all});
  CHECK(sent[Kind::reduce] == Bytes{4 * all});
  CHECK(sent[Kind::gather] == Bytes{4 * 256 * 51200 * 2});
  CHECK(sent[Kind::scatter] == sent[Kind::gather]);
  ParallelPlan wide = of_four(true);
  wide.precision = Precision::fp32;
  sent = sizes(model, wide);
  CHECK(sent[Kind::broadcast] == Bytes{4 * all});
  CHECK(sent[Kind::gather] == Bytes{4 * 256 * 51200 * 4});
}
