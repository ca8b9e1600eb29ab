#include "models/layouts/layout_plan.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/models/layouts/small_graphs.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

constexpr double kFast = 1e6;  ///< operations in a picosecond: collectives are all that counts

const DeviceMesh kDataTensor{{{"data", 2}, {"tensor", 4}}};

struct Counted {
  std::int64_t forward = 0;
  std::int64_t backward = 0;   ///< gradients of activations
  std::int64_t gradients = 0;  ///< of parameters
  std::int64_t parameters = 0;
};

Counted count(const LayoutPlan& plan, LayoutStepKind kind) {
  Counted sum;
  for (const InsertedConversion& each : plan.inserted) {
    for (const LayoutStep& step : each.conversion.steps) {
      if (step.kind != kind) { continue; }
      if (each.parameter) {
        (each.gradient ? sum.gradients : sum.parameters) += each.count;
      } else {
        (each.gradient ? sum.backward : sum.forward) += each.count;
      }
    }
  }
  return sum;
}

std::size_t steps(const LayoutPlan& plan) {
  std::size_t sum = 0;
  for (const InsertedConversion& each : plan.inserted) {
    for (const LayoutStep& step : each.conversion.steps) { sum += step.kind == LayoutStepKind::slice ? 0 : each.count; }
  }
  return sum;
}

}  // namespace

TEST_CASE("Megatron's layouts of a layer take two all-reduces in forward, and two in backward") {
  constexpr std::uint32_t kLayers = 3;
  LayoutTask task = task_of(transformer_layers(kLayers, 4, 8, 4, 2), kDataTensor, megatron_layouts(0, 1));
  const LayoutPlan forward = plan_layouts(task, ring_prices(kDataTensor, kFast));
  CHECK(count(forward, LayoutStepKind::all_reduce).forward == 2 * kLayers);
  CHECK(steps(forward) == 2 * kLayers);
  // each is of b/2 x s x h elements of 2 bytes over four devices
  const std::int64_t size = 4 / 2 * 8 * 8 * 2;
  CHECK(forward.communication() == Time{2 * kLayers * (2 * size * 3 / 4)});
  task.training = true;
  const LayoutPlan both = plan_layouts(task, ring_prices(kDataTensor, kFast));
  const Counted reduced = count(both, LayoutStepKind::all_reduce);
  CHECK(reduced.forward == 2 * kLayers);
  CHECK(reduced.backward == 2 * kLayers);
  CHECK(reduced.gradients == 6 * kLayers);  // of each matrix, over data
  CHECK(steps(both) == (2 + 2 + 6) * kLayers);
}

TEST_CASE("gradients of what is replicated over data are summed over it, and take what their bytes take") {
  LayoutTask task = task_of(two_layer_perceptron(4, 8, 8, 16), kDataTensor,
                            {{"x", {{{0}, {}, {}}}}, {"w1", {{{}, {1}}}}, {"w2", {{{1}, {}}}}});
  task.training = true;
  const LayoutPlan plan = plan_layouts(task, ring_prices(kDataTensor, kFast));
  const std::int64_t weights = 2 * (8 * 16 / 4 * 2);  // bytes of both on a device
  const std::int64_t activation = 4 / 2 * 8 * 8 * 2;
  CHECK(plan.communication() == Time{weights /* 2 (n - 1) / n of n = 2 */ + 2 * activation * 3 / 4});
}

TEST_CASE("parameters that are sharded over data are gathered twice, and their gradients reduced and scattered") {
  const DeviceMesh mesh{{{"data", 4}}};
  LayoutTask task = task_of(two_layer_perceptron(4, 8, 8, 16), mesh,
                            {{"x", {{{0}, {}, {}}}}, {"w1", {{{0}, {}}}}, {"w2", {{{0}, {}}}}});
  task.training = true;
  const LayoutPlan plan = plan_layouts(task, ring_prices(mesh, kFast));
  CHECK(count(plan, LayoutStepKind::all_gather).parameters == 4);
  CHECK(count(plan, LayoutStepKind::reduce_scatter).gradients == 2);
  CHECK(steps(plan) == 6);
  const std::int64_t both = 2 * 8 * 16 * 2;
  CHECK(plan.communication() == Time{3 * both * 3 / 4});
  CHECK(plan.memory.parameters == 2 * 8 * 16 / 4 * (2 + 2 + 12));
  task.keep_gathered = true;
  const LayoutPlan kept = plan_layouts(task, ring_prices(mesh, kFast));
  CHECK(kept.communication() == Time{2 * both * 3 / 4});
  CHECK(kept.memory.activations == plan.memory.activations + both);
}

TEST_CASE("sequence parallelism takes reduce-scatters and all-gathers in place of all-reduces, and as long") {
  GivenLayouts given = megatron_layouts(0, 1);
  for (const char* name : {"x", "r", "y"}) { given[name].dimensions[1] = {1}; }
  for (const char* name : {"q", "k", "v"}) { given[name] = {{{0}, {}, {1}, {}}}; }
  given["u"] = {{{0}, {}, {1}}};
  const LayoutPlan sequence =
      plan_layouts(task_of(transformer_layers(2, 4, 8, 4, 2), kDataTensor, given), ring_prices(kDataTensor, kFast));
  CHECK(count(sequence, LayoutStepKind::all_reduce).forward == 0);
  CHECK(count(sequence, LayoutStepKind::reduce_scatter).forward == 4);
  CHECK(count(sequence, LayoutStepKind::all_gather).forward == 4);
  const LayoutPlan whole = plan_layouts(task_of(transformer_layers(2, 4, 8, 4, 2), kDataTensor, megatron_layouts(0, 1)),
                                        ring_prices(kDataTensor, kFast));
  CHECK(sequence.communication() == whole.communication());
}

TEST_CASE(
    "the search shards large weights by their inner side, as Megatron does, and the batch where weights are small") {
  const DeviceMesh mesh{{{"tensor", 4}}};
  const auto searched = [&](std::int64_t b, std::int64_t h, std::int64_t f, const GivenLayouts& given) {
    LayoutTask task = task_of(two_layer_perceptron(b, 1, h, f), mesh, given);
    task.search = true;
    task.training = true;
    return plan_layouts(task, ring_prices(mesh, 1e-3));  // computing alone is dear: all share it
  };
  const TensorLayout whole = replicated(3);
  const LayoutPlan large = searched(4, 64, 256, {{"x", whole}, {"y", whole}});
  CHECK(count(large, LayoutStepKind::all_reduce).forward == 1);
  CHECK(steps(large) == 1);
  const LayoutPlan small = searched(4096, 4, 4, {});
  CHECK(count(small, LayoutStepKind::all_reduce).gradients == 2);
  CHECK(count(small, LayoutStepKind::all_reduce).forward == 0);
}

TEST_CASE("the search finds what trying all strategies finds") {
  const DeviceMesh mesh{{{"a", 2}, {"b", 2}}};
  const LayoutPrices prices = ring_prices(mesh, 50);
  const TensorLayout whole = replicated(3);
  LayoutTask task = task_of(two_layer_perceptron(4, 2, 4, 8), mesh, {{"x", whole}});
  task.search = true;
  const LayoutPlan best = plan_layouts(task, prices);
  CHECK(best.bound == best.time());
  Time least = Time::max();
  for (const auto& w1 : strategies_of(source_of("w1", {4, 8}), mesh, false)) {
    for (const auto& w2 : strategies_of(source_of("w2", {8, 4}), mesh, false)) {
      for (const auto& u : strategies_of(source_of("u", {4, 2, 8}), mesh, false)) {
        LayoutTask given = task_of(two_layer_perceptron(4, 2, 4, 8), mesh,
                                   {{"x", whole}, {"w1", {w1.labels}}, {"w2", {w2.labels}}, {"u", {u.labels}}});
        least = std::min(least, plan_layouts(given, prices).time());
      }
    }
  }
  CHECK(best.time() <= least);
}

TEST_CASE("under a limit of memory parameters are sharded though it takes longer") {
  const DeviceMesh mesh{{{"data", 4}}};
  LayoutTask task = task_of(two_layer_perceptron(1024, 1, 64, 64), mesh, {{"x", {{{0}, {}, {}}}}});
  task.search = true;
  task.training = true;
  const LayoutPlan free = plan_layouts(task, ring_prices(mesh, 1));
  CHECK(free.memory.parameters == 2 * 64 * 64 * (2 + 2 + 12));
  task.most_memory = Bytes{free.memory.activations + free.memory.parameters / 2};
  const LayoutPlan tight = plan_layouts(task, ring_prices(mesh, 1));
  CHECK(tight.memory.parameters + tight.memory.activations <= task.most_memory->count());
  CHECK(tight.time() > free.time());
  CHECK(tight.bound <= tight.time());
  task.most_memory = Bytes{1024};
  CHECK_THROWS_AS(plan_layouts(task, ring_prices(mesh, 1)), LayoutModelError);
}

TEST_CASE("layers that repeat are chosen once: ten take ten times as long as one that hands on its layout") {
  const auto time = [&](std::uint32_t layers) {
    return plan_layouts(task_of(transformer_layers(layers, 4, 8, 4, 2), kDataTensor, megatron_layouts(0, 1)),
                        ring_prices(kDataTensor, kFast))
        .time();
  };
  CHECK(time(10) == time(1) * 10);
}
