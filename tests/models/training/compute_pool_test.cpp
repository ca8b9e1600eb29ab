#include "models/training/compute_pool.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/config/json_value.hpp"

using namespace athanor;

namespace {

PooledFigure& figure(ComputePool& pool, ComputeFigure which) {
  return pool.figures.at(static_cast<std::size_t>(which));
}

ComputePool typical_pool() {
  ComputePool pool;
  pool.name = "p";
  pool.description = "some steps";
  for (std::size_t i = 0; i < kComputeFigures; ++i) {
    pool.figures.at(i).typical = compute_figure_ranges().at(i).typical;
  }
  return pool;
}

}  // namespace

TEST_CASE("a pooled figure is typical x what its parts change it by") {
  ComputePool pool = typical_pool();
  figure(pool, ComputeFigure::share).parts = {{"gpu hopper", 0.9, 0.1}, {"experts", 0.8, 0.1}};
  figure(pool, ComputeFigure::narrow_share).parts = {{"fp8", 0.9, 0.1}, {"hopper fp8", 1.1, 0.1}};
  const ComputeProfile dense = pooled_compute(pool, {"hopper", Precision::bf16, false});
  CHECK(dense.gemm.share == doctest::Approx(0.7 * 0.9));
  CHECK(dense.narrow.empty());
  CHECK(dense.pooled);
  const ComputeProfile narrow = pooled_compute(pool, {"hopper", Precision::fp8, true});
  CHECK(narrow.gemm.share == doctest::Approx(0.7 * 0.9 * 0.8));
  CHECK(narrow.products(Precision::fp8).share == doctest::Approx(0.7 * 0.9 * 0.8 * 0.85 * 0.9 * 1.1));
  CHECK(narrow.description == "what some steps tell of hopper, fp8, with experts");
}

TEST_CASE("of GPUs whose steps nobody measured a pool knows nothing, and takes what is typical") {
  ComputePool pool = typical_pool();
  figure(pool, ComputeFigure::share).parts = {{"gpu hopper", 0.9, 0.1}};
  figure(pool, ComputeFigure::narrow_share).parts = {{"fp8", 0.9, 0.1}, {"hopper fp8", 1.1, 0.1}};
  CHECK(pool.knows({"hopper", Precision::bf16, false}));
  CHECK(pool.knows({"hopper", Precision::fp8, false}));
  CHECK_FALSE(pool.knows({"hopper", Precision::fp4, false}));
  CHECK_FALSE(pool.knows({"cdna3", Precision::bf16, false}));
  CHECK_FALSE(pool.knows({"", Precision::bf16, false}));
  CHECK(pooled_compute(pool, {"cdna3", Precision::bf16, false}).gemm.share == doctest::Approx(0.7));
}

TEST_CASE("figures keep the bounds of plausible GPUs, and none reaches more than its peak") {
  ComputePool pool = typical_pool();
  figure(pool, ComputeFigure::share).typical = 3;
  figure(pool, ComputeFigure::narrow_share).typical = 1.2;
  const ComputeProfile profile = pooled_compute(pool, {"hopper", Precision::fp8, false});
  CHECK(profile.gemm.share == 1);
  CHECK(profile.products(Precision::fp8).share == 1);
}

TEST_CASE("a pool of steps reads back as it was written") {
  ComputePool pool = typical_pool();
  figure(pool, ComputeFigure::memory).parts = {{"gpu ampere", 1.0625, 0.125}};
  pool.errors = {{StepKnowledge::one_step, 0.875, 1.25, 0.5, 7}};
  const JsonValue json = json_of(pool);
  ComputePool read;
  Problems problems;
  read_document(Document::parse(text_of(json), "pool.json"), problems, [&](Fields& fields) { visit(fields, read); });
  CHECK(problems.empty());
  CHECK(json_of(read) == json);
  REQUIRE(read.error_of(StepKnowledge::one_step) != nullptr);
  CHECK(read.error_of(StepKnowledge::one_step)->high == 1.25);
  CHECK(read.error_of(StepKnowledge::nothing) == nullptr);
}
