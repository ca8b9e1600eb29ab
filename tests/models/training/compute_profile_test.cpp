#include "models/training/compute_profile.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "models/training/layer_work.hpp"
#include "sim/error.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// 1 TFLOP/s of bf16, twice that of fp8, 1 TB/s.
GpuRates small_gpu() {
  GpuRates gpu;
  gpu.name = "small";
  gpu.flops = {{Precision::bf16, 1e12}, {Precision::fp8, 2e12}, {Precision::fp32, 1e11}};
  gpu.memory_bandwidth = 1e12;
  return gpu;
}

ComputeProfile exact() {
  ComputeProfile profile;
  profile.gemm = {.share = 1, .depth = 0};
  profile.attention = 1;
  profile.memory = 1;
  return profile;
}

Kernel product(double m, double n, double k, Precision precision = Precision::bf16) {
  Kernel kernel{.kind = Kernel::Kind::gemm, .label = "", .precision = precision};
  kernel.m = m;
  kernel.n = n;
  kernel.k = k;
  kernel.flops = 2 * m * n * k;
  return kernel;
}

Time picoseconds(double seconds) { return Time{std::llround(seconds * 1e12)}; }

}  // namespace

TEST_CASE("a product takes its operations over the peak, and loses half where its inner side is as short as depth") {
  ComputeProfile profile = exact();
  for (const double side : {64.0, 300.0, 4096.0}) {
    const Kernel kernel = product(side, 2 * side, 3 * side);
    CHECK(time_of(kernel, small_gpu(), profile) == picoseconds(kernel.flops / 1e12));
    profile.gemm.share = 0.5;
    CHECK(time_of(kernel, small_gpu(), profile) == picoseconds(2 * kernel.flops / 1e12));
    profile.gemm.depth = 3 * side;
    CHECK(microseconds(time_of(kernel, small_gpu(), profile)) == doctest::Approx(4 * kernel.flops / 1e6).epsilon(1e-9));
    profile = exact();
  }
}

TEST_CASE("half of the last wave of tiles is lost, as far as waves are, and products side by side share them") {
  GpuRates gpu = small_gpu();
  gpu.multiprocessors = 132;
  ComputeProfile profile = exact();
  const auto longer = [&](Kernel kernel, double count) {
    kernel.count = count;
    kernel.flops *= count;
    return microseconds(time_of(kernel, gpu, profile)) / (kernel.flops / 1e6);
  };
  const Kernel waves = product(128 * 11, 256 * 12, 4096);  // 132 tiles: one wave
  CHECK(longer(waves, 1) == doctest::Approx(1.5));
  CHECK(longer(waves, 5) == doctest::Approx(1.1));
  CHECK(longer(product(64, 64, 4096), 1) == doctest::Approx(1 + 132 / 2.0));  // one tile at least
  profile.waves = 0.25;
  CHECK(longer(waves, 1) == doctest::Approx(1.125));
  profile.waves = 1;
  gpu.multiprocessors = 0;
  CHECK(longer(waves, 1) == doctest::Approx(1));
}

TEST_CASE("rows that are no whole 16 bytes are multiplied at a fifth of the rate") {
  Kernel kernel = product(1000, 1001, 1000);
  kernel.unaligned = true;
  CHECK(time_of(kernel, small_gpu(), exact()) == picoseconds(5 * kernel.flops / 1e12));
}

TEST_CASE("narrow products have a peak and an efficiency of their own") {
  ComputeProfile profile = exact();
  const Kernel kernel = product(1000, 1000, 1000, Precision::fp8);
  CHECK(time_of(kernel, small_gpu(), profile) == 1_ms);
  profile.narrow[Precision::fp8] = {.share = 0.25, .depth = 0};
  CHECK(time_of(kernel, small_gpu(), profile) == 4_ms);
  CHECK(time_of(product(1000, 1000, 1000), small_gpu(), profile) == 2_ms);
}

TEST_CASE("no kernel is faster than its bytes, and each has its overhead") {
  ComputeProfile profile = exact();
  profile.memory = 0.5;
  profile.overhead = 3_us;
  Kernel kernel = product(100, 100, 100);  // 2 us
  kernel.bytes = 10e6;                     // 20 us
  CHECK(time_of(kernel, small_gpu(), profile) == 23_us);
  kernel.bytes = 0.5e6;
  CHECK(time_of(kernel, small_gpu(), profile) == 5_us);
  Kernel memory;
  memory.bytes = 1e6;
  CHECK(time_of(memory, small_gpu(), profile) == 5_us);
  CHECK(time_of(Kernels{kernel, memory, memory}, small_gpu(), profile) == 15_us);
  CHECK(time_of(Kernels{}, small_gpu(), profile) == 0_us);
}

TEST_CASE("attention reaches its share of the peak of what it is computed in") {
  ComputeProfile profile = exact();
  profile.attention = 0.25;
  Kernel kernel{.kind = Kernel::Kind::attention, .label = "", .precision = Precision::bf16};
  kernel.flops = 1e9;
  CHECK(time_of(kernel, small_gpu(), profile) == 4_ms);
}

TEST_CASE("attention loses what surrounds its loop, and exponentials cost a short head as much as a long one") {
  ComputeProfile profile = exact();
  Kernel kernel{.kind = Kernel::Kind::attention, .label = "", .precision = Precision::bf16};
  kernel.flops = 1e9;
  kernel.n = 1000;
  kernel.k = 128;
  kernel.filling = 500;
  CHECK(time_of(kernel, small_gpu(), profile) == 1_ms);
  profile.attention_by_shape = true;
  CHECK(time_of(kernel, small_gpu(), profile) == 1500_us);
  kernel.n = 5000;
  CHECK(time_of(kernel, small_gpu(), profile) == 1100_us);
  kernel.filling = 0;
  kernel.k = 64;
  CHECK(microseconds(time_of(kernel, small_gpu(), profile)) ==
        doctest::Approx(1000 * (1 + 48.0 / 64) / (1 + 48.0 / 128)));
}

TEST_CASE("a product whose shape is not known loses nothing to it") {
  ComputeProfile profile = exact();
  profile.gemm.depth = 1000;
  Kernel kernel{.kind = Kernel::Kind::gemm, .label = ""};
  kernel.flops = 1e9;
  CHECK(time_of(kernel, small_gpu(), profile) == 1_ms);
}

TEST_CASE("fp16 is as fast as bf16 where only that is known, and what a GPU has not is refused") {
  GpuRates gpu = small_gpu();
  CHECK(peak_of(gpu, Precision::fp16) == 1e12);
  CHECK(peak_of(gpu, Precision::tf32) == 1e11);
  CHECK_THROWS_AS(peak_of(gpu, Precision::fp4), SimulationError);
  gpu.flops = {{Precision::fp16, 125e12}};
  CHECK_THROWS_WITH(peak_of(gpu, Precision::bf16), "GPU small does not multiply in bf16: it has fp16");
}

TEST_CASE("larger tensor groups waste more of products, since their sides are shorter") {
  const Transformer model = llama(1, 4096, 32);
  ComputeProfile profile = exact();
  profile.gemm.depth = 300;
  Time before;
  for (const std::uint32_t tensor : {1U, 2U, 4U, 8U}) {
    ParallelPlan plan;
    plan.tensor = tensor;
    const Time time = time_of(layer_work(model, plan, 0).mlp.forward, small_gpu(), profile) * tensor;
    CHECK(time > before);
    before = time;
  }
}
