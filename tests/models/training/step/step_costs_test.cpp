#include <doctest/doctest.h>

#include "models/training/step/simulate_step.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// Two seconds, of which three quarters are computed.
StepResult two_seconds(std::uint32_t ranks) {
  StepResult step;
  step.time = 1_s * 2;
  step.kinds = {{ranks, 0.75}};
  return step;
}

}  // namespace

TEST_CASE("GPUs draw their most while they compute, and what an idle one draws else") {
  const StepCosts costs = costs_of(two_seconds(16), {.gpus = {{.w = 700, .idle_w = 100}}}, {.nodes = 2, .switches = 3});
  CHECK(*costs.gpu_j == doctest::Approx(16 * 2 * (0.75 * 700 + 0.25 * 100)));
  CHECK(*costs.energy_j == *costs.gpu_j);
  CHECK_FALSE(costs.node_j);
  CHECK_FALSE(costs.electricity_usd);
  CHECK_FALSE(costs.rent_usd);
}

TEST_CASE("nodes, switches and the site come on top, and are paid for") {
  const StepCosts costs =
      costs_of(two_seconds(16),
               {.gpus = {{.w = 400, .idle_w = 400}}, .node_w = 2000, .switch_w = 500, .pue = 1.5, .usd_per_kwh = 0.1},
               {.nodes = 2, .switches = 3});
  CHECK(*costs.gpu_j == doctest::Approx(12'800));  // as publications count: GPU-hours times the most
  CHECK(*costs.node_j == doctest::Approx(8'000));
  CHECK(*costs.switch_j == doctest::Approx(3'000));
  CHECK(*costs.energy_j == doctest::Approx(1.5 * 23'800));
  CHECK(*costs.electricity_usd == doctest::Approx(1.5 * 23'800 / 3.6e6 * 0.1));
}

TEST_CASE("rent is GPU-hours times the least and the most that one costs") {
  const StepCosts costs = costs_of(two_seconds(900), {.gpus = {{.usd_per_hour = UsdRange{2, 5}}}}, {});
  CHECK(costs.rent_usd->least == doctest::Approx(1));
  CHECK(costs.rent_usd->most == doctest::Approx(2.5));
  CHECK_FALSE(costs.energy_j);
}

TEST_CASE("without what an idle GPU draws no energy is told, whatever else is known") {
  const StepCosts costs = costs_of(two_seconds(8), {.gpus = {{.w = 700}}, .node_w = 2000}, {.nodes = 1});
  CHECK_FALSE(costs.gpu_j);
  CHECK_FALSE(costs.energy_j);
  CHECK(*costs.node_j == doctest::Approx(4'000));
}

TEST_CASE("unequal GPUs draw and cost each their own, and what no rank has counts for nothing") {
  StepResult step;
  step.time = 1_s * 3600;
  step.kinds = {{8, 0.25}, {0, 0}, {16, 1}};
  const CostFigures figures{.gpus = {{.w = 700, .idle_w = 100, .usd_per_hour = UsdRange{2, 3}},
                                     {},
                                     {.w = 400, .idle_w = 50, .usd_per_hour = UsdRange{1, 1}}}};
  const StepCosts costs = costs_of(step, figures, {});
  CHECK(*costs.gpu_j == doctest::Approx(3600 * (8 * 250 + 16 * 400)));
  CHECK(costs.rent_usd->least == doctest::Approx(8 * 2 + 16));
  CHECK(costs.rent_usd->most == doctest::Approx(8 * 3 + 16));
}
