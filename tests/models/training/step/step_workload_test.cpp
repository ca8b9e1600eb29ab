#include "models/training/step/step_workload.hpp"

#include <map>

#include <doctest/doctest.h>

#include "tests/models/training/step/told_times.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr auto kData = static_cast<std::size_t>(Parallelism::data);

WorkPiece computes(Time time) {
  WorkPiece piece;
  piece.label = "work";
  piece.time = time;
  return piece;
}

/// Every place has `layers` layers, of so much forward, and backward of inputs and weights.
StepPieces even_pieces(const PipelineSchedule& schedule, std::size_t layers, Time forward, Time input, Time weight,
                       double parameters = 0) {
  LayerPieces layer;
  layer.forward = {computes(forward)};
  layer.backward_input = {computes(input)};
  layer.backward_weight = {computes(weight)};
  layer.backward = {computes(input), computes(weight)};
  layer.dense_parameters = parameters;
  StepPieces pieces;
  pieces.places.assign(schedule.places(), {std::vector<LayerPieces>(layers, layer)});
  pieces.boundaries.assign(schedule.places() - 1, 1000_B);
  pieces.optimizer.resize(schedule.stages);
  return pieces;
}

Time step(PipelineKind kind, std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches, Time forward,
          Time input, Time weight, Time pass_overhead = Time::zero()) {
  ParallelPlan plan;
  plan.pipeline = stages;
  const PipelineSchedule schedule = pipeline_schedule(kind, stages, chunks, micro_batches);
  StepPieces pieces = even_pieces(schedule, 1, forward, input, weight);
  pieces.pass_overhead = pass_overhead;
  const Workload workload = step_workload(plan, schedule, pieces);
  return run_with(workload, [](const Workload::Call&) { return Time::zero(); }).time;
}

}  // namespace

TEST_CASE("with free communication a step takes m (F + B) and the bubble of its schedule") {
  constexpr Time f = 2_us;
  constexpr Time b = 2_us;
  constexpr Time w = 2_us;
  for (const std::uint32_t p : {1U, 2U, 4U, 8U}) {
    for (const std::uint32_t m : {8U, 16U, 32U}) {
      CAPTURE(p);
      CAPTURE(m);
      const Time work = (f + b + w) * m;
      CHECK(step(PipelineKind::gpipe, p, 1, m, f, b, w) == work + (f + b + w) * (p - 1));
      CHECK(step(PipelineKind::one_f_one_b, p, 1, m, f, b, w) == work + (f + b + w) * (p - 1));
      if (p == 1) { continue; }
      for (const std::uint32_t v : {2U, 4U}) {  // of chunks that take as long as a whole stage above
        CHECK(step(PipelineKind::interleaved, p, v, m, f, b, w) == work * v + (f + b + w) * (p - 1));
      }
      CHECK(step(PipelineKind::zb_h1, p, 1, m, f, b, w) == work + (f + b - w) * (p - 1));
    }
  }
}

TEST_CASE("what the host takes before a pass makes it longer, but not that of the gradients of weights") {
  for (const PipelineKind kind : {PipelineKind::gpipe, PipelineKind::one_f_one_b, PipelineKind::interleaved,
                                  PipelineKind::zb_h1, PipelineKind::zb_h2}) {
    const std::uint32_t chunks = kind == PipelineKind::interleaved ? 2 : 1;
    CHECK(step(kind, 4, chunks, 16, 5_us, 6_us, 4_us, 1_us) == step(kind, 4, chunks, 16, 6_us, 7_us, 4_us));
  }
}

namespace {

/// Of one GPU and micro-batch, with `layers` layers whose two kernels take so long each way, and their dispatch.
Time step_behind_host(std::size_t layers, Time compute, Time launch) {
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::one_f_one_b, 1, 1, 1);
  StepPieces pieces = even_pieces(schedule, layers, compute, compute, compute);
  for (LayerPieces& layer : pieces.places.front().layers) {
    for (Pieces* phase : {&layer.forward, &layer.backward}) {
      for (WorkPiece& piece : *phase) { piece.launch = launch; }
    }
  }
  const Workload workload = step_workload({}, schedule, pieces);
  return run_with(workload, [](const Workload::Call&) { return Time::zero(); }).time;
}

}  // namespace

TEST_CASE("a step takes what the GPU computes or what the host dispatches, whichever is longer") {
  for (const std::size_t layers : {1U, 2U, 10U}) {
    CAPTURE(layers);
    const auto kernels = static_cast<std::int64_t>(3 * layers);  // forward, and backward of inputs and of weights
    for (const Time launch : {0_us, 1_us, 5_us}) { CHECK(step_behind_host(layers, 5_us, launch) == 5_us * kernels); }
    // What was dispatched last is computed behind that.
    CHECK(step_behind_host(layers, 5_us, 20_us) == 20_us * kernels + 5_us);
  }
}

TEST_CASE("the host runs ahead of long kernels, so that short ones behind them do not wait") {
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::one_f_one_b, 1, 1, 1);
  StepPieces pieces = even_pieces(schedule, 2, 100_us, 1_us, 1_us);
  for (LayerPieces& layer : pieces.places.front().layers) {
    layer.forward.front().launch = 10_us;
    for (WorkPiece& piece : layer.backward) { piece.launch = 10_us; }
  }
  const Workload workload = step_workload({}, schedule, pieces);
  const Time time = run_with(workload, [](const Workload::Call&) { return Time::zero(); }).time;
  CHECK(time == 10_us + (100_us + 1_us + 1_us) * 2);  // the first kernel waits for its own dispatch
}

TEST_CASE("two directions of a pipeline end together") {
  const Time time = step(PipelineKind::dual_pipe, 4, 1, 16, 2_us, 2_us, 2_us);
  CHECK(time >= (2_us + 2_us + 2_us) * 16);
  CHECK(time < (2_us + 2_us + 2_us) * (16 + 3));
}

namespace {

/// Bytes that one rank sends for data parallelism in a step of one micro-batch, by the usual volume of a ring: of
/// all-gather and reduce-scatter (d - 1) / d of the whole, of all-reduce twice that.
double data_volume(Sharding sharding, std::uint32_t ranks, double parameters) {
  ParallelPlan plan;
  plan.data = ranks;
  plan.sharding = sharding;
  plan.gradient_bytes = 2;
  plan.overlap_gradients = true;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
  const Workload workload = step_workload(plan, schedule, even_pieces(schedule, 4, 1_us, 1_us, 1_us, parameters / 4));
  double volume = 0;
  for (const Workload::Operation& operation : workload.workers[0].operations) {
    if (operation.kind != Workload::Kind::call) { continue; }
    const Workload::Call& call = workload.calls[operation.subject];
    const double rounds = call.kind == CollectiveKind::all_reduce ? 2 : 1;
    volume += rounds * static_cast<double>(call.size.count()) * (ranks - 1) / ranks;
  }
  return volume;
}

}  // namespace

// Rajbhandari et al. 2020 (ZeRO), section 7: 2 P numbers for data parallelism and stages 1 and 2, 3 P for stage 3.
TEST_CASE("ZeRO moves twice the parameters, and three times with sharded parameters") {
  constexpr double kParameters = 4e6;
  constexpr double kPart = 2 * kParameters * 7 / 8;  // bytes of 8 ranks' all-gather in bf16
  CHECK(data_volume(Sharding::none, 8, kParameters) == doctest::Approx(2 * kPart));
  CHECK(data_volume(Sharding::optimizer, 8, kParameters) == doctest::Approx(2 * kPart));
  CHECK(data_volume(Sharding::gradients, 8, kParameters) == doctest::Approx(2 * kPart));
  CHECK(data_volume(Sharding::parameters, 8, kParameters) == doctest::Approx(3 * kPart));
}

TEST_CASE("ZeRO-2 gathers once a step, SHARD_GRAD_OP for each micro-batch, ZeRO-3 for each use; all reduce for each") {
  constexpr std::uint32_t kBatches = 3;
  constexpr std::uint32_t kLayers = 4;
  const auto calls = [](Sharding sharding, bool again, CollectiveKind kind) {
    ParallelPlan plan;
    plan.data = 8;
    plan.sharding = sharding;
    plan.gather_again = again;
    const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, kBatches);
    const Workload workload = step_workload(plan, schedule, even_pieces(schedule, kLayers, 1_us, 1_us, 1_us, 1e6));
    std::uint32_t count = 0;
    for (const Workload::Operation& operation : workload.workers[0].operations) {
      const bool is_call = operation.kind == Workload::Kind::call;
      if (is_call && workload.calls[operation.subject].kind == kind) { ++count; }
    }
    return count;
  };
  const CollectiveKind gather = CollectiveKind::all_gather;
  CHECK(calls(Sharding::gradients, false, gather) == kLayers);
  CHECK(calls(Sharding::gradients, true, gather) == kLayers * kBatches);
  CHECK(calls(Sharding::parameters, false, gather) == 2 * kLayers * kBatches);
  for (const Sharding sharding : {Sharding::gradients, Sharding::parameters}) {
    CHECK(calls(sharding, false, CollectiveKind::reduce_scatter) == kLayers * kBatches);
  }
}

TEST_CASE("gradients of several micro-batches are reduced together, those of the last in any case") {
  constexpr std::uint32_t kBatches = 5;
  for (const std::uint32_t every : {1U, 2U, 3U, 5U, 8U}) {
    CAPTURE(every);
    ParallelPlan plan;
    plan.data = 8;
    plan.sharding = Sharding::gradients;
    plan.reduce_every = every;
    const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, kBatches);
    const Workload workload = step_workload(plan, schedule, even_pieces(schedule, 1, 1_us, 1_us, 1_us, 1e6));
    std::uint32_t reductions = 0;
    for (const Workload::Operation& operation : workload.workers[0].operations) {
      const bool is_call = operation.kind == Workload::Kind::call;
      if (is_call && workload.calls[operation.subject].kind == CollectiveKind::reduce_scatter) { ++reductions; }
    }
    CHECK(reductions == (kBatches + every - 1) / every);
  }
}

TEST_CASE("parameters that are gathered once a step set out at its beginning, where they are gathered beside forward") {
  for (const bool overlap : {false, true}) {
    CAPTURE(overlap);
    ParallelPlan plan;
    plan.data = 8;
    plan.sharding = Sharding::gradients;
    plan.prefetch = 0;
    plan.overlap_parameters = overlap;
    const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 2);
    const Workload workload = step_workload(plan, schedule, even_pieces(schedule, 3, 1_us, 1_us, 1_us, 1e6));
    std::uint32_t gathers = 0;
    std::uint32_t at_once = 0;
    for (const Workload::Operation& operation : workload.workers[0].operations) {
      const bool is_call = operation.kind == Workload::Kind::call;
      if (!is_call || workload.calls[operation.subject].kind != CollectiveKind::all_gather) { continue; }
      ++gathers;
      if (operation.dependencies == 0) { ++at_once; }
    }
    CHECK(gathers == 3);
    CHECK(at_once == (overlap ? 3 : 1));  // the first one has nothing to wait for in any case
  }
}

// Four layers of 10 us forward and 20 us backward each; the first one's or two's activations go to the host.
TEST_CASE("activations on their way to the host and back take no time until computing has to wait for them") {
  const auto time = [](Time copy, std::vector<std::size_t> windows) {
    const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
    StepPieces pieces = even_pieces(schedule, 4, 10_us, 10_us, 10_us);
    for (std::size_t layer = 0; layer < windows.size(); ++layer) {
      pieces.places[0].layers[layer].offload = copy;
      pieces.places[0].layers[layer].offload_window = windows[layer];
    }
    const Workload workload = step_workload({}, schedule, pieces);
    return run_with(workload, [](const Workload::Call&) { return Time::zero(); }).time;
  };
  const Time computing = 30_us * 4;
  CHECK(time(Time::zero(), {}) == computing);
  CHECK(time(10_us, {1, 3}) == computing);
  CHECK(time(20_us, {1, 3}) ==
        computing + 10_us);                     // the first one is gone at 30, when the third would have begun at 20
  CHECK(time(10_us, {1}) == computing);         // gone when the second layer ends
  CHECK(time(11_us, {1}) == computing + 1_us);  // the third waits for it; on its way back the second hides it
  CHECK(time(25_us, {1}) == computing + 15_us + 5_us);
  CHECK(time(30_us, {3}) == computing);          // nothing comes behind its window; three layers hide its way back
  CHECK(time(70_us, {3}) == computing + 50_us);  // away at 80, back at 150, where 100 would have done
}

// Two layers of 1 us forward and 2 us backward each; a gradient's reduction takes 5 us. The last layer's begins at
// 2 + 2, the first one's at 6 and waits until 9: 14 in all, of which 8 are exposed.
TEST_CASE("what DDP exposes of two layers is what one works out by hand") {
  ParallelPlan plan;
  plan.data = 2;
  plan.overlap_gradients = true;
  plan.bucket = 1_B;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
  const Workload workload = step_workload(plan, schedule, even_pieces(schedule, 2, 1_us, 1_us, 1_us, 1000));
  const auto five = [](const Workload::Call&) { return 5_us; };
  const WorkloadResult result = run_with(workload, five);
  CHECK(result.time == 14_us);
  CHECK(result.workers[0].exposed[kData] == 8_us);
  CHECK(result.workers[0].computing == 6_us);

  plan.bucket = 1_GiB;  // one reduction at the end
  const Workload late = step_workload(plan, schedule, even_pieces(schedule, 2, 1_us, 1_us, 1_us, 1000));
  CHECK(run_with(late, five).time == 11_us);
}

// Of each layer 400 of 1000 gradients are there after 1 of its 2 us; 800 B take 1 us. The last layer's first part is
// reduced from 3 to 5, its second to 8, then those of the first layer to 10 and 13. Whole layers: from 4 to 9 and 14.
TEST_CASE("gradients of an MLP are reduced beside the backward pass of its attention") {
  ParallelPlan plan;
  plan.data = 2;
  plan.overlap_gradients = true;
  plan.bucket = 1_B;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
  StepPieces pieces = even_pieces(schedule, 2, 1_us, 1_us, 1_us, 1000);
  const auto by_size = [](const Workload::Call& call) { return Time{call.size.count() * 1'000'000 / 800}; };
  CHECK(run_with(step_workload(plan, schedule, pieces), by_size).time == 14_us);
  for (LayerPieces& layer : pieces.places.front().layers) { layer.backward.front().gradients = 400; }
  CHECK(run_with(step_workload(plan, schedule, pieces), by_size).time == 13_us);
  plan.bucket = 1_GiB;
  CHECK(run_with(step_workload(plan, schedule, pieces), by_size).time == 16_us);
}

// Of PyTorch's DataParallel: the parameters go out, outputs come in, their gradients go out, the gradients of the
// parameters come in, 5 us each, and nothing is computed meanwhile. Twice, where two micro-batches are accumulated.
TEST_CASE("one process for all GPUs exposes all that it sends") {
  ParallelPlan plan;
  plan.data = 4;
  plan.single_process = true;
  plan.global_batch = 8;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 2);
  StepPieces pieces = even_pieces(schedule, 2, 1_us, 1_us, 1_us, 1000);
  pieces.places.back().output = 300_B;
  const Workload workload = step_workload(plan, schedule, pieces);
  std::vector<std::pair<CollectiveKind, Bytes>> calls;
  const WorkloadResult result = run_with(workload, [&](const Workload::Call& call) {
    calls.emplace_back(call.kind, call.size);
    return 5_us;
  });
  using Kind = CollectiveKind;
  // Whole buffers: what the root sends or receives of all four.
  CHECK(calls ==
        std::vector<std::pair<Kind, Bytes>>{
            {Kind::broadcast, 4000_B}, {Kind::gather, 1200_B}, {Kind::scatter, 1200_B}, {Kind::reduce, 8000_B}});
  CHECK(result.time == 52_us);  // 4 x 5 and 6 of computing, twice
  CHECK(result.workers[0].exposed[kData] == 40_us);
}

// Layer l + 1 is gathered while layer l computes: of three layers of 3 us and gathers of 2 us, the first is exposed.
TEST_CASE("sharded parameters are gathered one layer ahead") {
  ParallelPlan plan;
  plan.data = 2;
  plan.sharding = Sharding::parameters;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
  const Workload workload = step_workload(plan, schedule, even_pieces(schedule, 3, 3_us, 2_us, 2_us, 1000));
  const auto gathers = [](const Workload::Call& call) {
    return call.kind == CollectiveKind::all_gather ? 2_us : Time::zero();
  };
  // Forward 2 + 9; the last layer is gathered again before its backward, 2 + 12.
  CHECK(run_with(workload, gathers).time == 25_us);
}

// Two calls for each layer, of 2 us each, before which the host makes lists for 2 us (2 ranks): 8 us before each of
// forward, recomputing and backward. Two layers of 3 us forward: 22; the last one backward 8 + 3 + 8 + 4. The lists of
// its two reductions come first on the host, 4 us, before the first layer's 8 + 3 + 8 + 4; its own reductions have 4
// more.
TEST_CASE("calls for parts of a layer wait for the host, and for what was computed") {
  ParallelPlan plan;
  plan.data = 2;
  plan.sharding = Sharding::parameters;
  plan.prefetch = 0;
  plan.shard_calls = 2;
  plan.gather_again = true;
  plan.host_per_rank = 1_us;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
  StepPieces pieces = even_pieces(schedule, 2, 3_us, 2_us, 2_us, 1000);
  for (LayerPieces& layer : pieces.places.front().layers) { layer.recompute = {computes(3_us)}; }
  const Workload workload = step_workload(plan, schedule, pieces);
  const auto gathers = [](const Workload::Call& call) {
    return call.kind == CollectiveKind::all_gather ? 2_us : Time::zero();
  };
  const WorkloadResult result = run_with(workload, gathers);
  CHECK(result.time == 22_us + 23_us + 4_us + 23_us + 4_us);
  CHECK(result.workers[0].computing == 20_us);
}

TEST_CASE("gradients that nobody shares out are added up over all copies, whatever the shards") {
  ParallelPlan plan;
  plan.data = 8;
  plan.shard_group = 4;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
  const Workload workload = step_workload(plan, schedule, even_pieces(schedule, 1, 1_us, 1_us, 1_us, 1000));
  REQUIRE(workload.calls.size() == 1);
  CHECK(workload.calls[0].kind == CollectiveKind::all_reduce);
  CHECK(*workload.communicators[workload.calls[0].communicator].groups == EndpointGroups{{0, 1, 2, 3, 4, 5, 6, 7}});
}

TEST_CASE("copies of sharded parameters are added up behind their shards") {
  ParallelPlan plan;
  plan.data = 8;
  plan.sharding = Sharding::parameters;
  plan.shard_group = 4;
  const PipelineSchedule schedule = pipeline_schedule(PipelineKind::gpipe, 1, 1, 1);
  const Workload workload = step_workload(plan, schedule, even_pieces(schedule, 1, 1_us, 1_us, 1_us, 1000));
  std::map<CollectiveKind, Bytes> sizes;
  for (const Workload::Call& call : workload.calls) {
    sizes[call.kind] = call.size;
    const bool copies = call.kind == CollectiveKind::all_reduce;
    const EndpointGroups& groups = *workload.communicators[call.communicator].groups;
    CHECK(groups ==
          (copies ? EndpointGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}} : EndpointGroups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  }
  CHECK(sizes.at(CollectiveKind::reduce_scatter) == 4000_B);
  CHECK(sizes.at(CollectiveKind::all_reduce) == 1000_B);
}
