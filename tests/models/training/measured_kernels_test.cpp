#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/training/compute_profile.hpp"
#include "models/training/layer_work.hpp"
#include "sim/file.hpp"
#include "sim/percentile.hpp"
#include "tests/test_files.hpp"
#include "topologies/scenario/presets.hpp"

using namespace athanor;

// The forms of compute profiles beside single kernels that GPUs took (tools/scripts/measure_kernels): two figures of
// all products of a precision, one of all attention, found on an H100, and held against an H200.

namespace {

struct MeasuredKernel {
  std::string kernel, precision;
  double m = 0, n = 0, k = 0, flops = 0, bytes = 0, seconds = 0;
};

/// Those that are longer than their launches, by far.
std::vector<MeasuredKernel> measured(const std::string& gpu, const std::string& kernel, const std::string& precision) {
  std::ifstream file(std::string(ATHANOR_TEST_SCENARIOS) + "/measurements/kernels_" + gpu + ".csv");
  REQUIRE(file);
  std::vector<MeasuredKernel> kernels;
  for (std::string line; std::getline(file, line);) {
    std::array<std::string, 8> fields;
    std::istringstream text(line);
    for (std::string& each : fields) { std::getline(text, each, ','); }
    if (fields[0].rfind(kernel, 0) != 0 || fields[1] != precision) { continue; }
    MeasuredKernel found{fields[0], fields[1]};
    double* const numbers[]{&found.m, &found.n, &found.k, &found.flops, &found.bytes, &found.seconds};
    for (std::size_t i = 0; i < 6; ++i) { *numbers[i] = std::stod(fields[i + 2]); }
    constexpr double kLaunched = 40e-6;
    if (found.seconds > kLaunched) { kernels.push_back(found); }
  }
  return kernels;
}

ComputeProfile found_on_h100(double share, double depth) {
  ComputeProfile profile;
  profile.gemm = {.share = share, .depth = depth};
  profile.waves = 0;
  profile.attention = 0.6;
  profile.attention_by_shape = true;
  profile.memory = 0.8;
  profile.overhead = Time{2'000'000};
  return profile;
}

GpuRates rates_of(const std::string& gpu) {
  const FileReader presets = FileReader().in(std::string(ATHANOR_TEST_SCENARIOS) + "/presets");
  const std::string preset = gpu == "h100" ? "H100-SXM-80GB" : "H200-SXM-141GB";
  return gpu_rates(preset, load_presets(presets)->gpus.at(preset));
}

struct Errors {
  double median = 0, p90 = 0;
};

Errors errors_of(const std::string& on, const std::vector<MeasuredKernel>& kernels,
                 const std::function<Kernel(const MeasuredKernel&)>& as, const ComputeProfile& profile) {
  const GpuRates gpu = rates_of(on);
  std::vector<double> errors;
  for (const MeasuredKernel& each : kernels) {
    errors.push_back(std::abs(seconds(time_of(as(each), gpu, profile)) / each.seconds - 1));
  }
  std::sort(errors.begin(), errors.end());
  return {percentile(errors, 50), percentile(errors, 90)};
}

Kernel product(const MeasuredKernel& measured, Precision precision) {
  Kernel kernel{.kind = Kernel::Kind::gemm, .label = "", .precision = precision};
  kernel.m = measured.m;
  kernel.n = measured.n;
  kernel.k = measured.k;
  kernel.flops = measured.flops;
  kernel.bytes = measured.bytes;
  return kernel;
}

/// As a layer has it, of one micro-batch.
Kernel attention(const MeasuredKernel& measured) {
  Transformer model;
  model.hidden = 4096;
  model.attention.heads = static_cast<std::uint32_t>(measured.n);
  model.attention.kv_heads = measured.k == 128 ? 8 : model.attention.heads;
  model.attention.head_size = model.attention.value_size = static_cast<std::uint32_t>(measured.k);
  ParallelPlan plan;
  plan.sequence = static_cast<std::uint32_t>(measured.m);
  plan.micro_batch = static_cast<std::uint32_t>(32768 / measured.m);
  const PhasedKernels work = layer_work(model, plan, 0).attention;
  const bool backward = measured.kernel == "attention backward";
  for (const Kernel& each : backward ? work.backward_input : work.forward) {
    if (each.kind == Kernel::Kind::attention) { return each; }
  }
  FAIL("a layer without attention");
  return {};
}

}  // namespace

TEST_CASE("two figures tell all products of a precision") {
  for (const std::string gpu : {"h100", "h200"}) {
    CAPTURE(gpu);
    const auto wide = measured(gpu, "product", "bf16");
    const auto narrow = measured(gpu, "product", "fp8");
    CHECK(wide.size() > 60);
    CHECK(narrow.size() > 50);
    const Errors of_wide = errors_of(
        gpu, wide, [](const MeasuredKernel& each) { return product(each, Precision::bf16); }, found_on_h100(0.7, 120));
    CHECK(of_wide.median < 0.03);
    CHECK(of_wide.p90 < 0.11);
    const Errors of_narrow = errors_of(
        gpu, narrow, [](const MeasuredKernel& each) { return product(each, Precision::fp8); }, found_on_h100(0.7, 270));
    CHECK(of_narrow.median < 0.045);
    CHECK(of_narrow.p90 < 0.14);
  }
}

TEST_CASE("one figure tells attention over sequences, forward and backward, with long and short heads") {
  for (const std::string gpu : {"h100", "h200"}) {
    CAPTURE(gpu);
    const auto all = measured(gpu, "attention", "bf16");
    CHECK(all.size() == 20);
    const Errors errors = errors_of(gpu, all, &attention, found_on_h100(0.7, 120));
    CHECK(errors.median < 0.04);
    CHECK(errors.p90 < 0.12);
  }
}
