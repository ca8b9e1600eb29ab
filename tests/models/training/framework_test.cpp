#include "models/training/framework.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace athanor;

namespace {

FrameworkRule rule(PlanCondition where, PlanDefaults set) { return {where, std::move(set), "", ""}; }

/// Shards among copies, and overlaps pipelines that are interleaved.
FrameworkUse sharder() {
  Framework framework{.name = "sharder", .summary = "", .beyond = {}, .rules = {}};
  framework.rules.push_back(rule(PlanCondition::always, {.overlap_pipeline = false, .sharding = Sharding::optimizer}));
  framework.rules.push_back(rule(PlanCondition::interleaved, {.overlap_pipeline = true}));
  return {std::make_shared<const Framework>(std::move(framework)), {}};
}

FrameworkUse with_bucket(const BucketDefault& bucket) {
  Framework framework{.name = "bucket", .summary = "", .beyond = {}, .rules = {}};
  framework.rules.push_back(rule(PlanCondition::always, {.bucket = bucket}));
  framework.rules.push_back(rule(PlanCondition::always, {.gradient_bytes = 4}));
  framework.rules.push_back(rule(PlanCondition::fp16, {.gradient_bytes = 2}));
  return {std::make_shared<const Framework>(std::move(framework)), {}};
}

}  // namespace

TEST_CASE("a framework sets what nobody said, and nothing else") {
  ParallelPlan plan;
  plan.recompute = Recompute::full;
  FrameworkUse use = sharder();
  settle(use, plan);
  CHECK(plan.sharding == Sharding::optimizer);
  CHECK_FALSE(plan.overlap_pipeline);
  CHECK(plan.recompute == Recompute::full);

  use.told = {"sharding"};
  plan.sharding = Sharding::parameters;
  settle(use, plan);
  CHECK(plan.sharding == Sharding::parameters);
}

TEST_CASE("without a framework a plan stays as it is") {
  ParallelPlan plan;
  settle({}, plan);
  CHECK(plan.sharding == Sharding::none);
  CHECK(plan.bucket == Bytes{40'000'000});
}

TEST_CASE("a rule holds in its plans, and settling again follows the plan") {
  ParallelPlan plan;
  const FrameworkUse use = sharder();
  for (const std::uint32_t chunks : {1U, 2U, 1U, 3U}) {
    plan.virtual_stages = chunks;
    settle(use, plan);
    CHECK(plan.overlap_pipeline == (chunks > 1));
  }
  plan = {};
  CHECK_FALSE(holds(PlanCondition::pipelined, plan));
  plan.pipeline = 2;
  CHECK(holds(PlanCondition::pipelined, plan));
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8, Precision::fp4}) {
    plan.precision = precision;
    CHECK(holds(PlanCondition::fp16, plan) == (precision == Precision::fp16));
    CHECK(holds(PlanCondition::narrow, plan) == (bytes_of(precision) < 2));
  }
}

TEST_CASE("a bucket of parameters has their gradients, and grows with the copies") {
  constexpr std::int64_t kParameters = 40'000'000;
  constexpr std::int64_t kPerCopy = 1'000'000;
  const FrameworkUse use = with_bucket({Bytes{}, kParameters, kPerCopy});
  ParallelPlan plan;
  for (const std::uint32_t copies : {1U, 8U, 40U, 41U, 1000U}) {
    for (const Precision precision : {Precision::fp16, Precision::bf16}) {
      plan.data = copies;
      plan.precision = precision;
      settle(use, plan);
      const std::int64_t bytes = precision == Precision::fp16 ? 2 : 4;
      CHECK(plan.gradient_bytes == bytes);
      CHECK(plan.bucket == Bytes{std::max(kParameters, kPerCopy * copies) * bytes});
    }
  }
  settle(with_bucket({Bytes{25'000'000}, 0, 0}), plan);
  CHECK(plan.bucket == Bytes{25'000'000});
}

TEST_CASE("gradients of numbers of 4 bytes have 4, whatever a framework sends else") {
  Framework framework{.name = "half", .summary = "", .beyond = {}, .rules = {}};
  framework.rules.push_back(rule(PlanCondition::always, {.gradient_bytes = 2}));
  const FrameworkUse use{std::make_shared<const Framework>(std::move(framework)), {}};
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    ParallelPlan plan;
    plan.precision = precision;
    settle(use, plan);
    CHECK(plan.gradient_bytes == bytes_of(precision));
  }
}
